// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;

/**
 * Runs a scenario of several threads in many interleavings: here in a hundred that random pauses make, and with
 * {@code scripts/lib/interleavings} in thousands that Fray chooses. There, only one thread runs at a time, each use of
 * a lock, a condition, an atomic or volatile variable is a choice, and time passes only when nobody can run, so a
 * thread that waits for ever is found at once.
 */
public final class Interleavings {
    private static final int RUNS = 100;
    private static final int LONGEST_PAUSE = 400;
    // to end a test that hangs
    private static final long HANGS_AFTER_MILLIS = 240_000;

    private static Consumer<Callable<?>> control;

    private final List<Thread> threads = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();

    private Interleavings() {
    }

    /** What happens, from its start to its end, with objects of its own. */
    @FunctionalInterface
    public interface Scenario {
        /** Runs it. */
        void run(Interleavings threads) throws Exception;
    }

    /** What one thread does. */
    @FunctionalInterface
    public interface Action {
        /** Does it. */
        void run() throws Exception;
    }

    /** Runs a scenario in many interleavings, and fails if one of them does. */
    public static void explore(Scenario scenario) throws Exception {
        Callable<Void> once = () -> {
            Interleavings threads = new Interleavings();
            scenario.run(threads);
            threads.join();
            return null;
        };
        if (control != null) {
            control.accept(once);
            return;
        }
        for (int i = 0; i < RUNS; i++) {
            once.call();
        }
    }

    /** Lets something else choose the interleavings from now on. */
    public static void control(Consumer<Callable<?>> chooser) {
        control = chooser;
    }

    /** Returns whether something else chooses them, so that time passes only when no thread can run. */
    public static boolean isControlled() {
        return control != null;
    }

    /** A point where another thread may get ahead of this one. Stand-ins call it where the real thing takes time. */
    public static void point() {
        if (control != null) {
            return;
        }
        ThreadLocalRandom random = ThreadLocalRandom.current();
        if (random.nextInt(4) == 0) {
            Thread.yield();
        }
        for (int i = random.nextInt(LONGEST_PAUSE); i > 0; i--) {
            Thread.onSpinWait();
        }
    }

    /** Starts a thread. */
    public Thread start(String name, Action action) {
        return start(Thread.ofPlatform().daemon().name(name), action);
    }

    /** Starts a virtual thread. Fray does not know any: there, the name of a platform thread says that it is one. */
    public Thread startVirtual(String name, Action action) {
        String virtual = "virtual " + name;
        return control != null ? start(virtual, action) : start(Thread.ofVirtual().name(virtual), action);
    }

    private Thread start(Thread.Builder builder, Action action) {
        Thread thread = builder.unstarted(() -> {
            point();
            try {
                action.run();
            } catch (Throwable e) {
                synchronized (failures) {
                    failures.add(e);
                }
            }
        });
        threads.add(thread);
        thread.start();
        return thread;
    }

    /** Waits until the threads that were started have ended; fails if one of them has. */
    public void join() throws InterruptedException {
        for (Thread thread : List.copyOf(threads)) {
            join(thread);
        }
    }

    /** Waits until a thread has ended; fails if a thread has. */
    public void join(Thread thread) throws InterruptedException {
        if (control != null) {
            thread.join();
        } else {
            thread.join(HANGS_AFTER_MILLIS);
            if (thread.isAlive()) {
                throw hanging();
            }
        }
        synchronized (failures) {
            if (!failures.isEmpty()) {
                AssertionError failed = new AssertionError("in " + thread.getName() + " or before",
                        failures.getFirst());
                failures.stream().skip(1).forEach(failed::addSuppressed);
                throw failed;
            }
        }
    }

    private AssertionError hanging() {
        AssertionError hanging = new AssertionError("some of the threads wait for ever");
        threads.stream().filter(Thread::isAlive).forEach(thread -> {
            Exception where = new Exception(thread.getName());
            where.setStackTrace(thread.getStackTrace());
            hanging.addSuppressed(where);
        });
        return hanging;
    }
}
