// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/** The operation of a send work request ({@code enum ibv_wr_opcode}, ibv_post_send(3)). */
public enum SendOpcode {
    /** Writes to the peer's memory. */
    RDMA_WRITE(Rdma.IBV_WR_RDMA_WRITE()),
    /** Writes to the peer's memory and notifies the peer with an immediate value, which consumes a receive. */
    RDMA_WRITE_WITH_IMM(Rdma.IBV_WR_RDMA_WRITE_WITH_IMM()),
    /** Sends a message, which consumes a receive of the peer. */
    SEND(Rdma.IBV_WR_SEND()),
    /** Sends a message with an immediate value. */
    SEND_WITH_IMM(Rdma.IBV_WR_SEND_WITH_IMM()),
    /** Reads from the peer's memory. */
    RDMA_READ(Rdma.IBV_WR_RDMA_READ()),
    /** Compares 8 bytes of the peer's memory with a value, and replaces them if they are equal. */
    ATOMIC_CMP_AND_SWP(Rdma.IBV_WR_ATOMIC_CMP_AND_SWP()),
    /** Adds a value to 8 bytes of the peer's memory. */
    ATOMIC_FETCH_AND_ADD(Rdma.IBV_WR_ATOMIC_FETCH_AND_ADD()),
    /** Binds a memory window of type 2. */
    BIND_MW(Rdma.IBV_WR_BIND_MW()),
    /** Invalidates a local memory key. */
    LOCAL_INV(Rdma.IBV_WR_LOCAL_INV()),
    /** Sends a message and invalidates a remote key of the peer. */
    SEND_WITH_INV(Rdma.IBV_WR_SEND_WITH_INV()),
    /** Sends a large TCP segment that the device splits into packets (TCP segmentation offload). */
    TSO(Rdma.IBV_WR_TSO()),
    /** Flushes the peer's memory; only in a {@link io.rdmacm.verbs.SendBatch SendBatch}. */
    FLUSH(Rdma.IBV_WR_FLUSH()),
    /** Atomically writes 8 bytes of the peer's memory; only in a {@link io.rdmacm.verbs.SendBatch SendBatch}. */
    ATOMIC_WRITE(Rdma.IBV_WR_ATOMIC_WRITE());

    private static final NativeFunction WR_OPCODE_STR = NativeFunction.of("ibv_wr_opcode_str");

    private final int value;

    SendOpcode(int value) {
        this.value = value;
    }

    /** {@return the C constant} */
    public int value() {
        return value;
    }

    /**
     * Returns the description of the operation by the C library ({@code ibv_wr_opcode_str}; since rdma-core 49).
     *
     * @return a word in English
     * @throws NativeLibraryException if the installed library is older than rdma-core 49
     */
    @CFunction("ibv_wr_opcode_str")
    public String text() throws NativeLibraryException {
        return Memory.string(WR_OPCODE_STR.callLong(value));
    }
}
