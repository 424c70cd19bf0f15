// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A future that refuses to be waited for where nothing would complete it, and so do the futures that depend on it.
 *
 * @param <T> the type of the result
 */
public final class GuardedFuture<T> extends CompletableFuture<T> {
    private final Runnable guard;

    /** Creates a future; the guard throws an IllegalStateException where nobody must wait for it. */
    public GuardedFuture(Runnable guard) {
        this.guard = guard;
    }

    @Override
    public <U> CompletableFuture<U> newIncompleteFuture() {
        return new GuardedFuture<>(guard);
    }

    @Override
    public T get() throws InterruptedException, ExecutionException {
        requireMayWait();
        return super.get();
    }

    @Override
    public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
        requireMayWait();
        return super.get(timeout, unit);
    }

    @Override
    public T join() {
        requireMayWait();
        return super.join();
    }

    private void requireMayWait() {
        if (!isDone()) {
            guard.run();
        }
    }
}
