// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.rping;

import java.io.IOException;
import java.time.Duration;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.examples.support.Console;
import io.rdmacm.verbs.QueuePair;

/**
 * A thread that waits for the peer to disconnect, which only the event channel reports. It then disconnects this side
 * too: this flushes all posted requests, so that a thread that waits for a completion wakes up.
 */
final class DisconnectWatch implements AutoCloseable {
    private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final CmId id;
    private final QueuePair pair;
    private final String role;
    private final Console console;
    private final Thread thread;

    private DisconnectWatch(CmId id, QueuePair pair, String role, Console console) {
        this.id = id;
        this.pair = pair;
        this.role = role;
        this.console = console;
        this.thread = Thread.ofPlatform().name("rping-disconnect-watch").unstarted(this::watch);
    }

    /** Starts the watch of an established connection. */
    static DisconnectWatch start(CmId id, QueuePair pair, String role, Console console) {
        DisconnectWatch watch = new DisconnectWatch(id, pair, role, console);
        watch.thread.start();
        return watch;
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
        try (CmEvent event = id.channel().await(id, CmEventType.DISCONNECTED, FOREVER)) {
            console.report(role + " DISCONNECT EVENT...");
            console.debug("%s", event);
            disconnect();
        } catch (IOException e) {
            console.report("rping: " + Console.describe(e));
        } catch (InterruptedException e) {
            console.debug("stopped waiting for the disconnect");
        }
    }

    private void disconnect() throws IOException {
        // The connection manager does this by itself only for queue pairs that it created.
        pair.modifyToError();
        id.disconnect();
    }

    private void join() {
        boolean interrupted = false;
        try {
            if (!thread.join(TIMEOUT)) {
                thread.interrupt();
            }
        } catch (InterruptedException e) {
            interrupted = true;
            thread.interrupt();
        }
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
