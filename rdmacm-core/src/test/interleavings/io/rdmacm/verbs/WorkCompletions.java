// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.Queue;

/** Stands in for the class of this name, in plain Java. */
public final class WorkCompletions {
    private final int[] numbers;
    private int count;
    private int next;

    private WorkCompletions(int capacity) {
        numbers = new int[capacity];
    }

    /** Creates a buffer. */
    public static WorkCompletions allocate(int capacity) {
        return new WorkCompletions(capacity);
    }

    int fill(Queue<Integer> completions) {
        count = 0;
        next = 0;
        while (count < numbers.length && !completions.isEmpty()) {
            numbers[count] = completions.remove();
            count++;
        }
        return count;
    }

    /** Goes to the next completion. */
    public boolean next() {
        return next++ < count;
    }

    /** Returns the number of its queue pair. */
    public int queuePairNumber() {
        return numbers[next - 1];
    }
}
