// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.life;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.Callable;

import io.rdmacm.verbs.testing.Background;

/** Lets the making of objects fail at each of its steps, for want of memory or of stack. */
public final class FailingSteps {
    private FailingSteps() {
    }

    /** Makes an object. */
    @FunctionalInterface
    public interface Factory {
        /** Calls the factory. */
        AutoCloseable make() throws Exception;
    }

    /**
     * Lets a factory fail at each step, and looks whether it has left anything.
     *
     * @param factory makes the same whenever it is called
     * @param left what there is
     * @return how many steps there are
     */
    public static int failAtEach(Factory factory, Callable<Object> left) throws Exception {
        int steps = 0;
        for (Error error : List.of(new OutOfMemoryError("for a test"), new StackOverflowError("for a test"))) {
            steps = 0;
            while (failsAt(steps, 1, error, factory, left)) {
                steps++;
            }
        }
        return steps;
    }

    /** Lets a factory fail at each step, and at the next one, which may be that of undoing the others. */
    public static void failTwiceAtEach(Factory factory) throws Exception {
        int step = 0;
        while (failsAt(step, 2, new OutOfMemoryError("for a test"), factory, () -> "whatever")) {
            step++;
        }
    }

    /** Lets the next step of this thread fail, at which it makes an object or takes the use of a queue away. */
    public static void failNext(Error error, Background.Action action) throws Exception {
        Thread thread = Thread.currentThread();
        Lifetime.eachStep = () -> {
            if (Thread.currentThread() == thread) {
                Lifetime.eachStep = () -> { };
                throw error;
            }
        };
        try {
            action.run();
        } finally {
            Lifetime.eachStep = () -> { };
        }
    }

    private static boolean failsAt(int step, int times, Error error, Factory factory, Callable<Object> left)
            throws Exception {
        Object before = left.call();
        Thread thread = Thread.currentThread();
        int[] count = new int[1];
        Lifetime.eachStep = () -> {
            if (Thread.currentThread() == thread) {
                int now = count[0]++;
                if (now == step) {
                    throw error;
                }
                if (now > step && now < step + times) {
                    throw new OutOfMemoryError("for a test, once more");
                }
            }
        };
        AutoCloseable made = null;
        Throwable thrown = null;
        try {
            made = factory.make();
        } catch (Throwable t) {
            thrown = t;
        } finally {
            Lifetime.eachStep = () -> { };
        }
        boolean reached = count[0] > step;
        assertThat(thrown).as("thrown at step %d", step).isSameAs(reached ? error : null);
        if (made != null) {
            made.close();
        }
        assertThat(left.call()).as("left behind by %s at step %d", error, step).isEqualTo(before);
        return reached;
    }
}
