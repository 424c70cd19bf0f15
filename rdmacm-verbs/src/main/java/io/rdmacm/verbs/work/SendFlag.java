// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import java.util.Set;

import io.rdmacm.bindings.Rdma;

/** How a send work request is done ({@code enum ibv_send_flags}, ibv_post_send(3)). */
public enum SendFlag {
    /** It begins only when the reads and atomics before it are done. */
    FENCE(Rdma.IBV_SEND_FENCE()),
    /** A completion comes when it is done; one always comes for an error. */
    SIGNALED(Rdma.IBV_SEND_SIGNALED()),
    /** The peer gets an event if it asked for solicited ones only. */
    SOLICITED(Rdma.IBV_SEND_SOLICITED()),
    /** The post takes the data with it: the memory is free again when it returns. */
    INLINE(Rdma.IBV_SEND_INLINE()),
    /** The device computes the checksums of IP and of TCP or UDP; for datagrams and raw packets. */
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

    /** The bits of a set, without an iterator: for the data path. */
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
