// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Connected ends in one process, which has both of each connection. Those that accept send back what they receive.
 *
 * @param <T> an end that has connected
 */
abstract class OpenEnds<T> implements AutoCloseable {
    /** The bytes that are sent over each connection when it is open, and back. */
    static final int MESSAGE = 64;
    static final int LIMIT_SECONDS = 120;
    /** How many connects are under way at the same time. */
    static final int AT_ONCE = 64;

    /** The bytes that came back. */
    final Semaphore answered = new Semaphore(0);
    private final List<T> connected = new ArrayList<>();

    /** Starts to connect; returns what waits for that and then sends a message. */
    abstract Callable<T> connect() throws IOException;

    /** Starts to close. */
    abstract void close(T end) throws IOException;

    /** Opens so many more connections, and sends a message over each and back. */
    final void open(int count) throws Exception {
        for (int left = count; left > 0; left -= AT_ONCE) {
            List<Callable<T>> connects = new ArrayList<>();
            for (int i = Math.min(left, AT_ONCE); i > 0; i--) {
                connects.add(connect());
            }
            for (Callable<T> connect : connects) {
                connected.add(connect.call());
            }
            if (!answered.tryAcquire(connects.size() * MESSAGE, LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("not all of " + connects.size() + " were answered");
            }
        }
    }

    /** Closes all but the first ones; the ends that accepted close some time after. */
    final void closeAllBut(int first) throws IOException {
        List<T> closing = connected.subList(first, connected.size());
        for (T end : closing) {
            close(end);
        }
        closing.clear();
    }

    /** Ends what drives them. */
    @Override
    public abstract void close() throws IOException;
}
