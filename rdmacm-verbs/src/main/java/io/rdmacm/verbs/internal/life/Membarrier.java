// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.life;

import java.lang.invoke.VarHandle;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Libc;

/**
 * A memory barrier on all running threads of this process, paid for by the rare side (a close) so that the frequent
 * side (a post, a poll) needs none. Where the kernel has no membarrier(2), both sides pay for a fence.
 */
final class Membarrier {
    /** Whether the frequent side may leave its fence out. */
    static final boolean ASYMMETRIC;

    private static final int PRIVATE_EXPEDITED = 1 << 3;
    private static final int REGISTER_PRIVATE_EXPEDITED = 1 << 4;

    static {
        boolean registered = false;
        try {
            registered = Libc.membarrier(REGISTER_PRIVATE_EXPEDITED) == 0;
        } catch (RdmaException | IllegalCallerException e) {
            // then both sides fence
        }
        ASYMMETRIC = registered;
    }

    private Membarrier() {
    }

    /** The frequent side's fence: nothing where {@link #ASYMMETRIC}. */
    static void light() {
        if (!ASYMMETRIC) {
            VarHandle.fullFence();
        }
    }

    /** The rare side's barrier. */
    static void heavy() {
        VarHandle.fullFence();
        if (ASYMMETRIC) {
            try {
                if (Libc.membarrier(PRIVATE_EXPEDITED) != 0) {
                    throw new IllegalStateException("membarrier(2) failed after it was registered");
                }
            } catch (RdmaException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
