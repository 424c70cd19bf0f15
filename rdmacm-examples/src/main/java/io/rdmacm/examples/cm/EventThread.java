// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.EventChannel;
import io.rdmacm.examples.support.ExampleProgram;
import io.rdmacm.examples.support.Threads;

/** A thread that reads the events of a channel and passes each to a handler, while other threads do something else. */
final class EventThread implements AutoCloseable {
    private final EventChannel channel;
    private final Handler handler;
    private final Thread thread;
    private volatile Exception failure;

    /** Starts the thread, which has to be closed before the channel. */
    EventThread(EventChannel channel, Handler handler) {
        this.channel = channel;
        this.handler = handler;
        this.thread = Thread.ofPlatform().daemon().name("cm-events").start(this::run);
    }

    /** Handles an event, which the thread closes afterwards. A failure ends the thread. */
    @FunctionalInterface
    interface Handler {
        void handle(CmEvent event) throws IOException;
    }

    /** Throws the exception that ended the thread, if there is one. */
    void check() throws IOException {
        if (failure != null) {
            throw new IOException(failure.getMessage(), failure);
        }
    }

    /** Stops the thread, and waits for its end. The channel stays open. */
    @Override
    public void close() {
        thread.interrupt();
        Threads.join(thread);
    }

    private void run() {
        try {
            while (true) {
                try (CmEvent event = channel.getEvent(ExampleProgram.FOREVER)) {
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
