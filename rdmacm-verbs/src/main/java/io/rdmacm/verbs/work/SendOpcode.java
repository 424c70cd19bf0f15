// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.bindings.Rdma;

/** What a send work request does ({@code enum ibv_wr_opcode}, ibv_post_send(3)). */
public enum SendOpcode {
    /** Writes to the peer's memory. */
    RDMA_WRITE(Rdma.IBV_WR_RDMA_WRITE()),
    /** Writes to the peer's memory, and uses up one of its receives to tell it so. */
    RDMA_WRITE_WITH_IMM(Rdma.IBV_WR_RDMA_WRITE_WITH_IMM()),
    /** Sends a message into one of the peer's receives. */
    SEND(Rdma.IBV_WR_SEND()),
    /** Sends a message with an immediate value. */
    SEND_WITH_IMM(Rdma.IBV_WR_SEND_WITH_IMM()),
    /** Reads from the peer's memory. */
    RDMA_READ(Rdma.IBV_WR_RDMA_READ()),
    /** Compares 8 bytes of the peer's memory and swaps them when equal. */
    ATOMIC_CMP_AND_SWP(Rdma.IBV_WR_ATOMIC_CMP_AND_SWP()),
    /** Adds to 8 bytes of the peer's memory. */
    ATOMIC_FETCH_AND_ADD(Rdma.IBV_WR_ATOMIC_FETCH_AND_ADD()),
    /** Binds a memory window of type 2. */
    BIND_MW(Rdma.IBV_WR_BIND_MW()),
    /** Invalidates a key of this side. */
    LOCAL_INV(Rdma.IBV_WR_LOCAL_INV()),
    /** Sends a message and invalidates a key of the peer. */
    SEND_WITH_INV(Rdma.IBV_WR_SEND_WITH_INV()),
    /** Sends a TCP stream that the device cuts into packets. */
    TSO(Rdma.IBV_WR_TSO());

    private final int value;

    SendOpcode(int value) {
        this.value = value;
    }

    /** {@return the C constant} */
    public int value() {
        return value;
    }
}
