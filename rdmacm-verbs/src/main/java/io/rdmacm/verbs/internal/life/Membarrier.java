// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.life;

import java.lang.invoke.VarHandle;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Libc;

/**
 * An asymmetric memory barrier: the rare side (a close) executes a barrier on all running threads of this process, so
 * that the frequent side (a post or a poll) needs none. If the kernel does not support membarrier(2), both sides
 * execute a fence.
 */
final class Membarrier {
    /** Whether the frequent side can do without a fence. */
    static final boolean ASYMMETRIC;

    private static final int PRIVATE_EXPEDITED = 1 << 3;
    private static final int REGISTER_PRIVATE_EXPEDITED = 1 << 4;

    static {
        boolean registered = false;
        try {
            registered = Libc.membarrier(REGISTER_PRIVATE_EXPEDITED) == 0;
        } catch (RdmaException | IllegalCallerException e) {
            // Both sides execute a fence then.
        }
        ASYMMETRIC = registered;
    }

    private Membarrier() {
    }

    /** Executes the fence of the frequent side: nothing if {@link #ASYMMETRIC}. */
    static void light() {
        if (!ASYMMETRIC) {
            VarHandle.fullFence();
        }
    }

    /** Executes the barrier of the rare side. */
    static void heavy() {
        Lifetime.eachStep.run();
        VarHandle.fullFence();
        if (ASYMMETRIC) {
            try {
                if (Libc.membarrier(PRIVATE_EXPEDITED) != 0) {
                    throw new IllegalStateException("membarrier(2) failed although it was registered");
                }
            } catch (RdmaException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
