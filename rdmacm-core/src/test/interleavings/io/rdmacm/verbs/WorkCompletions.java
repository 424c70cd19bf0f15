// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.Queue;

import io.rdmacm.verbs.work.WorkCompletionOpcode;
import org.jspecify.annotations.Nullable;

/** Stands in for the class of this name, in plain Java. */
public final class WorkCompletions {
    private final Completion[] completions;
    private int count;
    private int next;

    private WorkCompletions(int capacity) {
        completions = new Completion[capacity];
    }

    /**
     * A completion.
     *
     * @param queuePairNumber whose it is
     * @param received what has arrived; null if it is not that of a receive
     * @param immediate the immediate value of what has arrived; null if it has none
     * @param completed called when it is taken; null if nobody needs to know
     */
    public record Completion(int queuePairNumber, byte @Nullable [] received, @Nullable Integer immediate,
            @Nullable Runnable completed) {
    }

    /** Creates a buffer. */
    public static WorkCompletions allocate(int capacity) {
        return new WorkCompletions(capacity);
    }

    int fill(Queue<Completion> from) {
        count = 0;
        next = 0;
        while (count < completions.length && !from.isEmpty()) {
            completions[count] = from.remove();
            count++;
        }
        return count;
    }

    /** Goes to the next completion. */
    public boolean next() {
        return next++ < count;
    }

    /** Returns the completion. */
    public Completion completion() {
        return completions[next - 1];
    }

    /** Returns the number of its queue pair. */
    public int queuePairNumber() {
        return completion().queuePairNumber();
    }

    /** Returns whether it has an immediate value. */
    public boolean hasImmediate() {
        return completion().immediate() != null;
    }

    /** Returns the immediate value. */
    public int immediate() {
        return completion().immediate();
    }

    /** Returns that of a receive, or of anything else. */
    public WorkCompletionOpcode opcode() {
        return completion().received() == null ? WorkCompletionOpcode.SEND : WorkCompletionOpcode.RECV;
    }
}
