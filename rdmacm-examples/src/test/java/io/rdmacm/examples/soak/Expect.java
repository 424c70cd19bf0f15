// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.List;

/** Checks that a fault is reported by the exception that the library documents for it. */
final class Expect {
    private Expect() {
    }

    /** Runs a task that must fail with a given exception, and returns the exception. */
    static <E extends Exception> E failure(Class<E> expected, Worker.Task task) throws LossException {
        return expected.cast(failureOf(task, expected));
    }

    /** Runs a task that must fail with one of the given exceptions, and returns the one thrown. */
    @SafeVarargs
    @SuppressWarnings("varargs") // List.of copies it
    static Exception failureOf(Worker.Task task, Class<? extends Exception>... expected) throws LossException {
        return failureOf(task, List.of(expected));
    }

    /** Runs a task that must fail with one of the given exceptions, and returns the one thrown. */
    static Exception failureOf(Worker.Task task, List<Class<? extends Exception>> expected) throws LossException {
        try {
            task.run();
        } catch (Exception e) {
            for (Class<? extends Exception> type : expected) {
                if (type.isInstance(e)) {
                    return e;
                }
            }
            throw new LossException("a fault was reported as something else", e);
        }
        throw new LossException("a fault was not reported");
    }
}
