// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.life;

import java.util.Objects;

import io.rdmacm.verbs.error.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * What something consists of, while it is being made: undone, the last part first, unless it is completed.
 *
 * <pre>{@code
 * try (Parts parts = new Parts()) {
 *     CompletionChannel channel = parts.add(context.createCompletionChannel(), CompletionChannel::close);
 *     CompletionQueue queue = parts.add(context.createCompletionQueue(64, channel), CompletionQueue::close);
 *     return parts.complete(new Completions(channel, queue));
 * }
 * }</pre>
 */
public final class Parts implements AutoCloseable {
    private static final int MOST = 8;

    // allocated before any part, for there may be no memory afterwards
    private final Object[] parts = new Object[MOST];
    private final Undo<?>[] undos = new Undo<?>[MOST];
    private final Lifetime[] lives = new Lifetime[MOST];
    private int count;

    /**
     * Undoes the making of a part.
     *
     * @param <T> its class
     */
    @FunctionalInterface
    public interface Undo<T> {
        /** Closes the part. */
        void undo(T part) throws RdmaException;
    }

    /** Adds a part that was just made, and returns it. */
    public <T> T add(T part, Undo<? super T> undo) {
        return add(part, undo, null);
    }

    /** Like the other one; if the part cannot be undone, the close of a parent of its lifetime tries again. */
    public <T> T add(T part, Undo<? super T> undo, @Nullable Lifetime life) {
        parts[count] = part;
        undos[count] = undo;
        lives[count] = life;
        count++;
        Lifetime.eachStep.run();
        return part;
    }

    /** Keeps all parts, and returns what consists of them. */
    public <T> T complete(T whole) {
        count = 0;
        return whole;
    }

    /** Undoes all parts unless they were completed. */
    @Override
    public void close() throws RdmaException {
        if (count > 0) {
            count--;
            Lifetime life = lives[count];
            boolean undone = false;
            try {
                undo(parts[count], undos[count]);
                undone = true;
            } finally {
                if (!undone && life != null) {
                    life.undoLater(parts[count], undos[count]);
                }
                close();
            }
        }
    }

    @SuppressWarnings("unchecked") // added together
    static <T> void undo(Object part, Undo<T> undo) throws RdmaException {
        Objects.requireNonNull(undo).undo((T) part);
    }
}
