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
import io.rdmacm.examples.support.EventThread;

/**
 * Takes the DISCONNECTED events of connections, and answers each: that flushes the work that is still posted, and so
 * ends the wait of whoever waits for messages of a peer that has gone.
 */
final class Farewells implements AutoCloseable {
    private final CountDownLatch connections;
    private EventThread thread;

    /** Begins, for connections that are established, all those of the channel. */
    Farewells(EventChannel channel, int connections) {
        this.connections = new CountDownLatch(connections);
        this.thread = EventThread.start(channel, this::happened);
    }

    /** Moves the ids to another channel, where their events are taken from then on. */
    void migrate(List<CmId> ids, EventChannel target) throws IOException {
        // While its event is in somebody's hands an id stays where it is.
        thread.close();
        thread.check();
        for (CmId id : ids) {
            id.migrate(target);
        }
        thread = EventThread.start(target, this::happened);
    }

    /** Waits until all connections have ended. */
    void await(Duration patience) throws IOException, InterruptedException {
        if (!connections.await(patience.toSeconds(), TimeUnit.SECONDS)) {
            thread.check();
            throw new IOException(connections.getCount() + " of the connections were not ended within "
                    + patience.toSeconds() + " seconds");
        }
    }

    @Override
    public void close() {
        thread.close();
    }

    private void happened(CmEvent event) throws IOException {
        if (event.type() == CmEventType.DISCONNECTED) {
            event.id().disconnect();
            connections.countDown();
        }
    }
}
