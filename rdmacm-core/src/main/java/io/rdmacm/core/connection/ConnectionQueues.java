// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import io.rdmacm.core.CmId;
import io.rdmacm.core.internal.engine.DeviceResources;
import io.rdmacm.core.internal.engine.Loop;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import org.jspecify.annotations.Nullable;

/** The queue pair of a connection, and what it shares with the others of its loop, or has of its own without one. */
final class ConnectionQueues {
    private final @Nullable ConnectionLoop shared;
    private final Loop loop;
    private final CompletionQueue queue;
    private final QueuePair pair;
    private final int number;
    private final int completions;
    private final ReceiveBuffers receives;
    private final SendRing ring;
    // guarded by the connection, which only one thread at a time closes
    private boolean released;

    private ConnectionQueues(DeviceResources device, ConnectionSettings settings, @Nullable ConnectionLoop shared,
            Loop loop, CompletionQueue queue, QueuePair pair, ReceiveBuffers receives) {
        this.shared = shared;
        this.loop = loop;
        this.queue = queue;
        this.pair = pair;
        this.number = pair.number();
        this.completions = completions(settings, shared);
        this.receives = receives;
        this.ring = new SendRing(pair, device, settings);
    }

    /**
     * Creates the queues and posts the receives.
     *
     * @param shared the loop of the connection, null if it has none
     */
    static ConnectionQueues create(DeviceResources device, CmId id, ConnectionSettings settings,
            @Nullable ConnectionLoop shared)
            throws RdmaException {
        int count = completions(settings, shared);
        Loop loop = shared == null ? new Loop(device.context(), device.maxCompletions(), true) : shared.loop();
        CompletionQueue queue = null;
        QueuePair pair = null;
        ReceiveBuffers receives = null;
        boolean made = false;
        try {
            queue = loop.reserve(count, shared == null ? count : shared.expectedCompletions());
            QueuePairInitAttributes.Builder attributes = QueuePairInitAttributes.builder().completionQueue(queue)
                    .maxSendRequests(settings.sendBuffers() + settings.operations());
            ReceiveBuffers sharedReceives = shared == null ? null : shared.sharedReceives();
            if (shared != null && sharedReceives != null) {
                pair = id.createQueuePair(device.domain(),
                        attributes.sharedReceiveQueue(shared.sharedReceiveQueue()).build());
                receives = sharedReceives;
            } else {
                pair = id.createQueuePair(device.domain(),
                        attributes.maxReceiveRequests(settings.receiveBuffers()).build());
                receives = new ReceiveBuffers(device, settings.messageSize(), settings.receiveBuffers(), false,
                        pair::postReceive);
            }
            ConnectionQueues queues = new ConnectionQueues(device, settings, shared, loop, queue, pair, receives);
            made = true;
            return queues;
        } finally {
            if (!made) {
                if (pair != null) {
                    pair.close();
                }
                if (receives != null && !hasSharedReceives(shared)) {
                    receives.close();
                }
                release(shared, loop, queue, count);
            }
        }
    }

    private static boolean hasSharedReceives(@Nullable ConnectionLoop shared) {
        return shared != null && shared.sharedReceives() != null;
    }

    private static int completions(ConnectionSettings settings, @Nullable ConnectionLoop shared) {
        int sends = settings.sendBuffers() + settings.operations();
        return hasSharedReceives(shared) ? sends : sends + settings.receiveBuffers();
    }

    private static void release(@Nullable ConnectionLoop shared, Loop loop, @Nullable CompletionQueue queue,
            int count)
            throws RdmaException {
        if (shared == null) {
            loop.close();
        } else if (queue != null) {
            loop.release(queue, count);
        }
    }

    boolean isInLoop() {
        return shared != null;
    }

    Loop loop() {
        return loop;
    }

    QueuePair pair() {
        return pair;
    }

    SendRing ring() {
        return ring;
    }

    ReceiveBuffers receives() {
        return receives;
    }

    /** Hands the completions of the queue pair to a connection from now on. */
    void attach(Connection connection) {
        loop.add(number, connection.member());
    }

    /** Destroys the queue pair of a connection and frees everything; what was in flight fails. */
    void close(Connection connection) throws RdmaException {
        pair.close();
        try {
            // The device may have given the number to another connection already.
            loop.remove(number, connection.member());
        } catch (IllegalStateException e) {
            // the program has closed the completion queue
        }
        free(connection.toString());
    }

    /** Frees everything, after the end of what the loop calls, or before its beginning. */
    void free(String owner) throws RdmaException {
        pair.close();
        try (var _ = loop.lock.hold()) {
            ring.abandon(new RdmaClosedException("ibv_post_send", owner));
            ring.close();
            if (!hasSharedReceives(shared)) {
                receives.close();
            }
        }
        if (!released) {
            release(shared, loop, queue, completions);
            released = true;
        }
    }
}
