// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/**
 * Forking while RDMA is used. A JVM starts programs in a way that does no harm; this is for native code that forks and
 * goes on using memory, on kernels before 5.12. Safe for use by several threads.
 */
public final class ForkSupport {
    private static final NativeFunction FORK_INIT = NativeFunction.of("ibv_fork_init");
    private static final NativeFunction IS_FORK_INITIALIZED = NativeFunction.of("ibv_is_fork_initialized");

    private ForkSupport() {
    }

    /**
     * Keeps registered memory out of forked children ({@code ibv_fork_init}, ibv_fork_init(3)). Does nothing where the
     * kernel needs no help. Must come before the first memory region; calling it again does no harm.
     *
     * @throws RdmaException EINVAL when memory was registered before; ENOSYS when the kernel cannot do it
     */
    @CFunction("ibv_fork_init")
    public static void initialize() throws RdmaException {
        int error = FORK_INIT.callInt();
        // C says that it is too late also where it need not be done at all
        if (error != Rdma.EINVAL() || status() != ForkStatus.UNNEEDED) {
            Check.returned(FORK_INIT, error);
        }
    }

    /** Whether it was done, or is not needed ({@code ibv_is_fork_initialized}, ibv_is_fork_initialized(3)). */
    @CFunction("ibv_is_fork_initialized")
    public static ForkStatus status() throws RdmaException {
        return ForkStatus.of(IS_FORK_INITIALIZED.callInt());
    }
}
