// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.rping;

import java.io.IOException;
import java.time.Duration;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.examples.support.Threads;
import io.rdmacm.verbs.QueuePair;

/**
 * A thread that waits for the peer to disconnect, which only the event channel reports. It then disconnects this side
 * too: this flushes all posted requests, so that a thread that waits for a completion wakes up.
 */
final class DisconnectWatch implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final CmId id;
    private final QueuePair pair;
    private final String role;
    private final Rping options;
    private final Thread thread;

    /** Starts the watch of an established connection. */
    DisconnectWatch(CmId id, QueuePair pair, String role, Rping options) {
        this.id = id;
        this.pair = pair;
        this.role = role;
        this.options = options;
        this.thread = Thread.ofPlatform().name("rping-disconnect-watch").start(this::watch);
    }

    /** Disconnects if the peer has not done so, and waits up to 20 seconds for the event. */
    @Override
    public void close() throws IOException {
        try {
            disconnect();
        } finally {
            join();
        }
    }

    private void watch() {
        try (CmEvent event = id.channel().await(id, CmEventType.DISCONNECTED, Rping.FOREVER)) {
            options.report(role + " DISCONNECT EVENT...");
            options.debug("%s", event);
            disconnect();
        } catch (IOException e) {
            options.report(e);
        } catch (InterruptedException e) {
            options.debug("stopped waiting for the disconnect");
        }
    }

    private void disconnect() throws IOException {
        // The connection manager does this by itself only for queue pairs that it created.
        pair.modifyToError();
        id.disconnect();
    }

    private void join() {
        try {
            if (!thread.join(TIMEOUT)) {
                thread.interrupt();
            }
        } catch (InterruptedException e) {
            thread.interrupt();
            Thread.currentThread().interrupt();
        }
        Threads.join(thread);
    }
}
