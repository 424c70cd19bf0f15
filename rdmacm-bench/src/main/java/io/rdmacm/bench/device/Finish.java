// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** What a handler reaches or fails to reach, and what a thread waits for. */
final class Finish {
    private final CompletableFuture<Void> future = new CompletableFuture<>();

    void reached() {
        future.complete(null);
    }

    /** Notes a failure, unless the end was reached. */
    void failed(Exception reason) {
        future.completeExceptionally(reason);
    }

    void await() throws IOException, InterruptedException {
        try {
            future.get(ConnectionTask.LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        } catch (TimeoutException e) {
            throw new IOException("not finished within " + ConnectionTask.LIMIT.toSeconds() + " s", e);
        }
    }
}
