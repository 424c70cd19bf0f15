// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;

import io.rdmacm.verbs.NativeObject;

/**
 * What a program has opened: closed at its end, the last first. For programs whose objects are too many for
 * try-with-resources, or are known only as they run.
 */
public final class Resources implements AutoCloseable {
    private final Deque<Closer> open = new ArrayDeque<>();

    /** Closes something. */
    @FunctionalInterface
    public interface Closer {
        /** Closes it. */
        void close() throws IOException;
    }

    /** With nothing in it. */
    public Resources() {
    }

    /** An object that is to be closed, before all that were added earlier. */
    public <T extends NativeObject> T add(T object) {
        open.push(object::close);
        return object;
    }

    /** Something else to do at the end. */
    public void onClose(Closer closer) {
        open.push(closer);
    }

    /** Closes everything, even when some of it fails; the first failure is thrown. */
    @Override
    public void close() throws IOException {
        IOException failure = null;
        while (!open.isEmpty()) {
            try {
                open.pop().close();
            } catch (IOException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
