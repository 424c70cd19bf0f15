// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.EventChannel;

/**
 * Answers the DISCONNECTED events of connections. Disconnecting this side flushes all posted requests, so that a thread
 * that waits for messages of a peer that has gone wakes up.
 */
final class DisconnectHandler implements AutoCloseable {
    private final CountDownLatch connections;
    private EventThread thread;

    /** Starts a thread for all established connections of a channel. */
    DisconnectHandler(EventChannel channel, int connections) {
        this.connections = new CountDownLatch(connections);
        this.thread = new EventThread(channel, this::handle);
    }

    /** Moves the ids to another channel, and handles their events there. */
    void migrate(List<CmId> ids, EventChannel target) throws IOException {
        // An id cannot migrate while one of its events is open, so the thread has to stop first.
        thread.close();
        thread.check();
        for (CmId id : ids) {
            id.migrate(target);
        }
        thread = new EventThread(target, this::handle);
    }

    /** Waits until all connections have ended. */
    void await(Duration timeout) throws IOException, InterruptedException {
        if (!connections.await(timeout.toSeconds(), TimeUnit.SECONDS)) {
            thread.check();
            throw new IOException(connections.getCount() + " of the connections were not disconnected within "
                    + timeout.toSeconds() + " seconds");
        }
    }

    @Override
    public void close() {
        thread.close();
    }

    private void handle(CmEvent event) throws IOException {
        if (event.type() == CmEventType.DISCONNECTED) {
            event.id().disconnect();
            connections.countDown();
        }
    }
}
