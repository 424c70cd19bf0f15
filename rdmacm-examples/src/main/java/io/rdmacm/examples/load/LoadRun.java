// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.load;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.Resources;

/** Runs a load. */
public final class LoadRun {
    private LoadRun() {
    }

    /** Connects a client. */
    @FunctionalInterface
    public interface Connector {
        /**
         * Connects a client, which the load closes.
         *
         * @return the client
         * @throws IOException if it failed
         * @throws InterruptedException if the thread was interrupted
         */
        LoadClient connect() throws IOException, InterruptedException;
    }

    /**
     * Runs all clients in parallel; the first failure ends the run.
     *
     * @param connector connects each of the clients
     * @param plan the settings
     * @param progress counts the operations, {@link #steps} in all
     * @return what was measured
     * @throws IOException if a client failed, or got a wrong value
     * @throws InterruptedException if the thread was interrupted
     */
    public static LoadResult run(Connector connector, LoadPlan plan, Progress progress)
            throws IOException, InterruptedException {
        try (Resources connections = new Resources()) {
            List<LoadWorker> workers = new ArrayList<>();
            CyclicBarrier barrier = new CyclicBarrier(plan.clients());
            for (int i = 0; i < plan.clients(); i++) {
                LoadClient client = connector.connect();
                connections.onClose(client::close);
                workers.add(new LoadWorker(client, plan, i, barrier, progress));
            }
            return runAll(workers);
        }
    }

    /**
     * {@return the number of operations of a run, including those before the measurement}
     *
     * @param plan the settings
     */
    public static long steps(LoadPlan plan) {
        return plan.operations() + 2L * plan.keys();
    }

    private static LoadResult runAll(List<LoadWorker> workers) throws IOException, InterruptedException {
        LoadResult sum = new LoadResult();
        try (ExecutorService threads = Executors.newFixedThreadPool(workers.size())) {
            ExecutorCompletionService<LoadResult> finished = new ExecutorCompletionService<>(threads);
            workers.forEach(finished::submit);
            try {
                for (int i = 0; i < workers.size(); i++) {
                    sum.add(finished.take().get());
                }
            } catch (ExecutionException e) {
                throw failure(e.getCause());
            } finally {
                threads.shutdownNow();
            }
        }
        return sum;
    }

    private static IOException failure(Throwable cause) {
        return cause instanceof IOException known ? known : new IOException(Console.describe(cause), cause);
    }
}
