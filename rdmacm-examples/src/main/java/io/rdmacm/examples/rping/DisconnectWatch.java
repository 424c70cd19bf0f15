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
 * Ends what waits for completions when the peer leaves: only the event channel tells that it has, so a thread waits
 * there. Disconnecting this side too then flushes what is posted.
 */
final class DisconnectWatch implements AutoCloseable {
    private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);
    private static final Duration PATIENCE = Duration.ofSeconds(20);

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

    /** Begins, for a connection that is established. */
    static DisconnectWatch start(CmId id, QueuePair pair, String role, Console console) {
        DisconnectWatch watch = new DisconnectWatch(id, pair, role, console);
        watch.thread.start();
        return watch;
    }

    /** Ends the connection if the peer has not, and waits a while for the peer to take note. */
    @Override
    public void close() throws IOException {
        try {
            disconnect();
        } finally {
            join();
        }
    }

    private void watch() {
        try (CmEvent event = id.channel().await(id, CmEventType.DISCONNECTED, FOR_EVER)) {
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
        // The connection manager does this for the queue pairs that it has made.
        pair.modifyToError();
        id.disconnect();
    }

    private void join() {
        boolean interrupted = false;
        try {
            if (!thread.join(PATIENCE)) {
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
