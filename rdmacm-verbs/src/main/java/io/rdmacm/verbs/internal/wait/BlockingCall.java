// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Errno;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/**
 * The result of a C function that may block for long. A virtual thread has it called by a platform thread, because it
 * would keep its carrier inside C. The call cannot be interrupted in either case.
 *
 * @param value the result of the function
 * @param errno the error number after the call
 */
public record BlockingCall(int value, int errno) {
    private static final String THREAD_NAME = "rdmacm-blocking-call";

    /** A call of a C function. */
    @FunctionalInterface
    public interface Call {
        /** Calls the function and returns its result. */
        int run() throws RdmaException;
    }

    /** Calls a function. */
    public static BlockingCall of(Call call) throws RdmaException {
        if (!Thread.currentThread().isVirtual()) {
            return here(call);
        }
        FutureTask<BlockingCall> task = new FutureTask<>(() -> here(call));
        Thread.ofPlatform().daemon().name(THREAD_NAME).inheritInheritableThreadLocals(false).start(task);
        return result(task);
    }

    private static BlockingCall here(Call call) throws RdmaException {
        int value = call.run();
        return new BlockingCall(value, Errno.last());
    }

    /** Waits until the call has ended, even if this thread is interrupted: C is using the memory of the caller. */
    private static BlockingCall result(FutureTask<BlockingCall> task) throws RdmaException {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return task.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                } catch (ExecutionException e) {
                    if (e.getCause() instanceof RdmaException failure) {
                        throw failure;
                    }
                    throw NativeFunction.unexpected(e.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
