// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import java.util.Set;

import io.rdmacm.bindings.Rdma;

/** Options of a send work request ({@code enum ibv_send_flags}, ibv_post_send(3)). */
public enum SendFlag {
    /** The request starts only after all earlier RDMA reads and atomics of the queue pair have completed. */
    FENCE(Rdma.IBV_SEND_FENCE()),
    /** Success generates a completion. An error always does. */
    SIGNALED(Rdma.IBV_SEND_SIGNALED()),
    /** The message raises a completion event at a peer that waits for solicited completions only. */
    SOLICITED(Rdma.IBV_SEND_SOLICITED()),
    /** The data is copied by the post: the memory can be reused as soon as the post returns. */
    INLINE(Rdma.IBV_SEND_INLINE()),
    /** The device computes the IPv4 header checksum and the TCP or UDP checksum; for datagrams and raw packets. */
    IP_CSUM(Rdma.IBV_SEND_IP_CSUM());

    private static final SendFlag[] VALUES = values();

    private final int bit;

    SendFlag(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }

    /**
     * Returns the bits of a set of flags. Allocates nothing, not even an iterator, for use on the data path.
     *
     * @param flags the flags
     * @return bits of {@code enum ibv_send_flags}
     */
    public static int mask(Set<SendFlag> flags) {
        int mask = 0;
        for (SendFlag flag : VALUES) {
            if (flags.contains(flag)) {
                mask |= flag.bit;
            }
        }
        return mask;
    }
}
