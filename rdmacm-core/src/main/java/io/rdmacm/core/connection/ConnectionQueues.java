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
import io.rdmacm.verbs.internal.life.Parts;
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
        try (Parts parts = new Parts()) {
            Loop loop = shared == null
                    ? parts.add(new Loop(device.context(), device.maxCompletions(), true), Loop::close)
                    : shared.loop();
            CompletionQueue queue = loop.reserve(count, shared == null ? count : shared.expectedCompletions());
            if (shared != null) {
                parts.add(queue, reserved -> loop.release(reserved, count));
            }
            QueuePairInitAttributes.Builder attributes = QueuePairInitAttributes.builder().completionQueue(queue)
                    .maxSendRequests(settings.sendBuffers() + settings.operations())
                    .maxSendScatterGather(settings.scatterGather()).maxInlineData(settings.inlineSize());
            ReceiveBuffers receives = shared == null ? null : shared.sharedReceives();
            if (shared == null || receives == null) {
                attributes.maxReceiveRequests(settings.receiveBuffers());
            } else {
                attributes.sharedReceiveQueue(shared.sharedReceiveQueue());
            }
            QueuePair pair = parts.add(id.createQueuePair(device.domain(), attributes.build()), QueuePair::close);
            if (receives == null) {
                receives = parts.add(new ReceiveBuffers(device, settings.messageSize(), settings.receiveBuffers(),
                        false, pair::postReceive), posted -> {
                            pair.close();
                            posted.close();
                        });
            }
            return parts.complete(new ConnectionQueues(device, settings, shared, loop, queue, pair, receives));
        }
    }

    private static boolean hasSharedReceives(@Nullable ConnectionLoop shared) {
        return shared != null && shared.sharedReceives() != null;
    }

    private static int completions(ConnectionSettings settings, @Nullable ConnectionLoop shared) {
        int sends = settings.sendBuffers() + settings.operations();
        return hasSharedReceives(shared) ? sends : sends + settings.receiveBuffers();
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
    void attach(Connection connection) throws RdmaException {
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
            if (shared == null) {
                loop.close();
            } else {
                loop.release(queue, completions);
            }
            released = true;
        }
    }
}
