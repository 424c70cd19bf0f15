// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;

import io.rdmacm.verbs.NativeObject;

/**
 * The objects that a program has opened, closed in reverse order. For programs that have too many objects for
 * try-with-resources, or a number that is only known at run time.
 */
public final class Resources implements Closeable {
    private final Deque<Closeable> open = new ArrayDeque<>();

    /** Creates an empty collection. */
    public Resources() {
    }

    /**
     * Adds an object, which will be closed before all that were added earlier.
     *
     * @param object the object
     * @param <T> its type
     * @return the object
     */
    public <T extends NativeObject> T add(T object) {
        open.push(object::close);
        return object;
    }

    /**
     * Adds an action, which will run before all that was added earlier is closed.
     *
     * @param closer the action
     */
    public void onClose(Closeable closer) {
        open.push(closer);
    }

    /**
     * Closes everything, even if some of it fails.
     *
     * @throws IOException if something cannot be closed. The first failure is thrown, checked or not; the others are
     *     added to it as suppressed exceptions
     */
    @Override
    public void close() throws IOException {
        Exception failure = null;
        while (!open.isEmpty()) {
            try {
                open.pop().close();
            } catch (IOException | RuntimeException e) {
                if (failure == null) {
                    failure = e;
                } else if (failure != e) {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure instanceof IOException e) {
            throw e;
        }
        if (failure instanceof RuntimeException e) {
            throw e;
        }
    }
}
