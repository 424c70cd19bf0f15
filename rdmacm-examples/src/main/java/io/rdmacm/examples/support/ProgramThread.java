// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import java.io.IOException;
import java.time.Duration;

/** A thread that a program has beside its main thread, such as one that waits for the peer to disconnect. */
public final class ProgramThread implements AutoCloseable {
    private final Thread thread;
    private volatile Exception failure;

    /** What the thread does, until it returns or is interrupted. */
    @FunctionalInterface
    public interface Body {
        /**
         * Does it.
         *
         * @throws IOException if it fails
         * @throws InterruptedException if the thread was interrupted
         */
        void run() throws IOException, InterruptedException;
    }

    /**
     * Starts the thread.
     *
     * @param name its name
     * @param body what it does
     */
    public ProgramThread(String name, Body body) {
        thread = Thread.ofPlatform().daemon().name(name).start(() -> {
            try {
                body.run();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (IOException | RuntimeException e) {
                failure = e;
            }
        });
    }

    /**
     * Waits for the end of the thread.
     *
     * @param timeout how long
     * @return whether it has ended
     * @throws IOException if the thread has failed
     * @throws InterruptedException if the calling thread was interrupted
     */
    public boolean await(Duration timeout) throws IOException, InterruptedException {
        boolean ended = thread.join(timeout);
        check();
        return ended;
    }

    /**
     * Throws what has ended the thread too early.
     *
     * @throws IOException if the thread has failed
     */
    public void check() throws IOException {
        if (failure != null) {
            throw failure instanceof IOException reason ? reason : new IOException(failure);
        }
    }

    /** Interrupts the thread, and waits for its end, also if the calling thread is interrupted. */
    @Override
    public void close() {
        thread.interrupt();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
