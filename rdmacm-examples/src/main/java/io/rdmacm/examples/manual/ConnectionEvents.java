// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import java.io.IOException;
import java.time.Duration;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.EventChannel;

/**
 * A thread that takes the events of a channel, beside the one that waits for completions. When it fails it interrupts
 * that one, which then asks {@link #throwFailure} why.
 */
final class ConnectionEvents implements AutoCloseable {
    private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);

    private final EventChannel channel;
    private final Handler handler;
    private final Thread owner = Thread.currentThread();
    private final Thread thread = Thread.ofPlatform().name("connection-events").unstarted(this::run);
    private volatile IOException failure;

    private ConnectionEvents(EventChannel channel, Handler handler) {
        this.channel = channel;
        this.handler = handler;
    }

    /** What is done with an event; it is closed afterwards. */
    @FunctionalInterface
    interface Handler {
        void handle(CmEvent event) throws IOException;
    }

    /** Begins; the caller is the one to interrupt. */
    static ConnectionEvents start(EventChannel channel, Handler handler) {
        ConnectionEvents events = new ConnectionEvents(channel, handler);
        events.thread.start();
        return events;
    }

    /** Throws what this thread failed with, if it did. */
    void throwFailure() throws IOException {
        if (failure != null) {
            throw failure;
        }
    }

    /** Returns when the thread has ended. */
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

    private void run() {
        try {
            while (true) {
                try (CmEvent event = channel.getEvent(FOR_EVER)) {
                    handler.handle(event);
                }
            }
        } catch (InterruptedException e) {
            // closed: nobody wants to hear of more
            return;
        } catch (IOException e) {
            failure = e;
            owner.interrupt();
        }
    }
}
