// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.EventChannel;
import io.rdmacm.examples.support.Patience;

/** Takes the events of a channel as they come, while other threads do something else. */
final class EventThread implements AutoCloseable {
    private final EventChannel channel;
    private final Handler handler;
    private final Thread thread;
    private volatile Exception failure;

    private EventThread(EventChannel channel, Handler handler) {
        this.channel = channel;
        this.handler = handler;
        this.thread = Thread.ofPlatform().daemon().name("cm-events").unstarted(this::run);
    }

    /** What is done with an event, which is closed after that. */
    @FunctionalInterface
    interface Handler {
        void handle(CmEvent event) throws IOException;
    }

    static EventThread start(EventChannel channel, Handler handler) {
        EventThread events = new EventThread(channel, handler);
        events.thread.start();
        return events;
    }

    /** Throws what has ended the thread, if something has. */
    void check() throws IOException {
        if (failure != null) {
            throw new IOException(failure.getMessage(), failure);
        }
    }

    /** Returns when no event is taken any more. The channel stays as it is. */
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
                try (CmEvent event = channel.getEvent(Patience.FOR_EVER)) {
                    handler.handle(event);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException | RuntimeException e) {
            failure = e;
        }
    }
}
