// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import java.io.IOException;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.EventChannel;

/** Takes the events of a channel as they come, while other threads do something else. */
public final class EventThread implements AutoCloseable {
    private final EventChannel channel;
    private final Handler handler;
    private final Runnable whenItFails;
    private final Thread thread;
    private volatile Exception failure;

    private EventThread(EventChannel channel, Handler handler, Runnable whenItFails) {
        this.channel = channel;
        this.handler = handler;
        this.whenItFails = whenItFails;
        this.thread = Thread.ofPlatform().daemon().name("cm-events").unstarted(this::run);
    }

    /** What is done with an event, which is closed after that. */
    @FunctionalInterface
    public interface Handler {
        /** Does it. */
        void handle(CmEvent event) throws IOException;
    }

    /** Begins. Who goes on without it asks {@link #check} now and then. */
    public static EventThread start(EventChannel channel, Handler handler) {
        return start(channel, handler, () -> { });
    }

    /** Begins. When it fails the caller is interrupted, and then asks {@link #check} why. */
    public static EventThread startInterrupting(EventChannel channel, Handler handler) {
        return start(channel, handler, Thread.currentThread()::interrupt);
    }

    private static EventThread start(EventChannel channel, Handler handler, Runnable whenItFails) {
        EventThread events = new EventThread(channel, handler, whenItFails);
        events.thread.start();
        return events;
    }

    /** Throws what has ended the thread, if something has. */
    public void check() throws IOException {
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
            whenItFails.run();
        }
    }
}
