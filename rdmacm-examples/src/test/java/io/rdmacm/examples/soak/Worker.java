// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.random.RandomGenerator;

/**
 * What the scenarios of one worker thread share: its settings, its helper threads, and objects that are expensive to
 * create. Used by the worker's own thread and by its helpers.
 */
final class Worker implements Closeable {
    // Up to this power of two, each as likely: some steps take microseconds, and on slow machines others 100 ms.
    private static final int MAX_DELAY = 18;

    private final InetAddress address;
    private final Counters counters;
    private final Duration timeout;
    private final ExecutorService helpers = Executors.newCachedThreadPool(Thread.ofPlatform().name("helper-", 0)
            .factory());
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final LinkedHashMap<Object, Closeable> shared = new LinkedHashMap<>();

    /**
     * Creates a worker.
     *
     * @param address the IP address of the device
     * @param timeout how long to wait for something that must happen; shorter than the limit of the watchdog
     */
    Worker(InetAddress address, Counters counters, Duration timeout) {
        this.address = address;
        this.counters = counters;
        this.timeout = timeout;
    }

    /** Code that may throw any exception. */
    @FunctionalInterface
    interface Task {
        void run() throws Exception;
    }

    /** Returns the address of the device, with port 0. */
    InetSocketAddress anyPort() {
        return new InetSocketAddress(address, 0);
    }

    Counters counters() {
        return counters;
    }

    Duration timeout() {
        return timeout;
    }

    /** Returns the worker's object of a name, created on first use by the factory; closed with the worker. */
    @SuppressWarnings("unchecked")
    <T extends Closeable> T shared(Object name, Callable<T> factory) throws Exception {
        Closeable found = shared.get(name);
        if (found == null) {
            found = factory.call();
            shared.put(name, found);
        }
        return (T) found;
    }

    /** Notes what no thread of a server should have thrown. Called by any thread. */
    void failed(Throwable reason) {
        if (!failure.compareAndSet(null, reason)) {
            failure.get().addSuppressed(reason);
        }
    }

    /** Starts a task in a helper thread. */
    private <T> Future<T> submit(Callable<T> task) {
        return helpers.submit(task);
    }

    /** Runs one task in a helper thread and one in this thread; if the latter fails, the former is interrupted. */
    void runBoth(Task other, Task own) throws Exception {
        Future<Void> concurrent = submit(() -> {
            other.run();
            return null;
        });
        try {
            own.run();
        } catch (Exception e) {
            if (concurrent.state() == Future.State.FAILED) {
                e.addSuppressed(concurrent.exceptionNow());
            }
            concurrent.cancel(true);
            throw e;
        }
        join(concurrent);
    }

    /** Waits for a task to end, and returns its result or throws what it threw. */
    <T> T join(Future<T> task) throws Exception {
        try {
            return task.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof Exception exception) {
                throw exception;
            }
            throw new LossException("a helper thread failed", e.getCause());
        } catch (TimeoutException e) {
            throw new LossException("a helper thread does not end");
        }
    }

    /** Interrupts this thread within a short time. */
    Future<Void> interruptSoon(RandomGenerator random) {
        Thread self = Thread.currentThread();
        return runSoon(random, self::interrupt);
    }

    /** Runs a task in a helper thread within a short time: while this thread waits, or just before. */
    Future<Void> runSoon(RandomGenerator random, Task task) {
        long delay = random.nextLong(1L << random.nextInt(MAX_DELAY));
        return submit(() -> {
            TimeUnit.MICROSECONDS.sleep(delay);
            task.run();
            return null;
        });
    }

    /** Ends the helper threads and closes the shared objects. */
    @Override
    public void close() throws IOException {
        helpers.shutdownNow();
        helpers.close();
        for (Closeable object : shared.sequencedValues().reversed()) {
            object.close();
        }
        if (failure.get() != null) {
            throw new IOException("a server has failed", failure.get());
        }
    }
}
