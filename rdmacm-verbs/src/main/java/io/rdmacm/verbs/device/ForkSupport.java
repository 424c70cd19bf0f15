// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/**
 * Support for forking while RDMA is in use. Starting programs from Java does not need it; it is meant for native code
 * that forks while the parent goes on using registered memory, on kernels before 5.12. All methods are thread-safe.
 */
public final class ForkSupport {
    private static final NativeFunction FORK_INIT = NativeFunction.of("ibv_fork_init");
    private static final NativeFunction IS_FORK_INITIALIZED = NativeFunction.of("ibv_is_fork_initialized");

    private ForkSupport() {
    }

    /**
     * Keeps registered memory out of forked children ({@code ibv_fork_init}, ibv_fork_init(3)). Must be called before
     * the first memory region is registered. Calling it again, or where the kernel does not need it, has no effect.
     *
     * @throws RdmaException EINVAL if memory has been registered already; ENOSYS if the kernel does not support it
     */
    @CFunction("ibv_fork_init")
    public static void initialize() throws RdmaException {
        int error = FORK_INIT.callInt();
        // C reports that it is too late even where nothing has to be done
        if (error != Rdma.EINVAL() || status() != ForkStatus.UNNEEDED) {
            Check.returned(FORK_INIT, error);
        }
    }

    /**
     * Returns whether it is safe to fork ({@code ibv_is_fork_initialized}, ibv_is_fork_initialized(3)).
     *
     * @return the status
     * @throws RdmaException if libibverbs is not installed or lacks the function
     */
    @CFunction("ibv_is_fork_initialized")
    public static ForkStatus status() throws RdmaException {
        return ForkStatus.of(IS_FORK_INITIALIZED.callInt());
    }
}
