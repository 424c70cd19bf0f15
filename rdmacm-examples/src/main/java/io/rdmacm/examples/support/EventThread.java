// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import java.io.IOException;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.EventChannel;

/** A thread that reads the events of a channel and passes each to a handler, while other threads do something else. */
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

    /** Handles the events of a channel. */
    @FunctionalInterface
    public interface Handler {
        /**
         * Handles an event. The thread closes it afterwards.
         *
         * @param event the event
         * @throws IOException if handling it fails, which ends the thread
         */
        void handle(CmEvent event) throws IOException;
    }

    /**
     * Starts a thread. Its failure is reported by {@link #check} only.
     *
     * @param channel whose events to read
     * @param handler called for each event
     * @return the thread, to be closed before the channel
     */
    public static EventThread start(EventChannel channel, Handler handler) {
        return start(channel, handler, () -> { });
    }

    /**
     * Starts a thread that interrupts the caller's thread when it fails; {@link #check} then throws the reason.
     *
     * @param channel whose events to read
     * @param handler called for each event
     * @return the thread, to be closed before the channel
     */
    public static EventThread startInterrupting(EventChannel channel, Handler handler) {
        return start(channel, handler, Thread.currentThread()::interrupt);
    }

    private static EventThread start(EventChannel channel, Handler handler, Runnable whenItFails) {
        EventThread events = new EventThread(channel, handler, whenItFails);
        events.thread.start();
        return events;
    }

    /**
     * Throws the exception that ended the thread, if there is one.
     *
     * @throws IOException if reading or handling an event has failed
     */
    public void check() throws IOException {
        if (failure != null) {
            throw new IOException(failure.getMessage(), failure);
        }
    }

    /** Stops the thread, and waits for its end. The channel stays open. */
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
                try (CmEvent event = channel.getEvent(PeerTimeout.FOREVER)) {
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
