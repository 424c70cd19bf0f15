// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import io.rdmacm.core.CmId;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import org.jspecify.annotations.Nullable;

/** The queue pair of a connection, and what it shares with the others of its loop, or has of its own without one. */
final class ConnectionQueues {
    private final @Nullable ConnectionLoop loop;
    private final Progress progress;
    private final CompletionQueue queue;
    private final QueuePair pair;
    private final int number;
    private final int completions;
    private final ReceiveBuffers receives;
    private final SendRing ring;

    private ConnectionQueues(DeviceResources device, ConnectionSettings settings, @Nullable ConnectionLoop loop,
            Progress progress, CompletionQueue queue, QueuePair pair, ReceiveBuffers receives) {
        this.loop = loop;
        this.progress = progress;
        this.queue = queue;
        this.pair = pair;
        this.number = pair.number();
        this.completions = completions(settings, loop);
        this.receives = receives;
        this.ring = new SendRing(pair, device, settings);
    }

    /**
     * Creates the queues and posts the receives.
     *
     * @param loop the loop of the connection, null if it has none
     */
    static ConnectionQueues create(DeviceResources device, CmId id, ConnectionSettings settings,
            @Nullable ConnectionLoop loop)
            throws RdmaException {
        int count = completions(settings, loop);
        Progress progress = loop == null ? new Progress(device, true) : loop.progressState();
        CompletionQueue queue = null;
        QueuePair pair = null;
        ReceiveBuffers receives;
        boolean made = false;
        try {
            queue = progress.reserve(count, loop == null ? count : loop.expectedCompletions());
            QueuePairInitAttributes.Builder attributes = QueuePairInitAttributes.builder().completionQueue(queue)
                    .maxSendRequests(settings.sendBuffers() + settings.operations());
            ReceiveBuffers shared = loop == null ? null : loop.sharedReceives();
            if (loop != null && shared != null) {
                pair = id.createQueuePair(device.domain(),
                        attributes.sharedReceiveQueue(loop.sharedReceiveQueue()).build());
                receives = shared;
            } else {
                pair = id.createQueuePair(device.domain(),
                        attributes.maxReceiveRequests(settings.receiveBuffers()).build());
                receives = new ReceiveBuffers(device, settings.messageSize(), settings.receiveBuffers(), false,
                        pair::postReceive);
            }
            made = true;
            return new ConnectionQueues(device, settings, loop, progress, queue, pair, receives);
        } finally {
            if (!made) {
                if (pair != null) {
                    pair.close();
                }
                release(loop, progress, queue, count);
            }
        }
    }

    private static boolean hasSharedReceives(@Nullable ConnectionLoop loop) {
        return loop != null && loop.sharedReceives() != null;
    }

    private static int completions(ConnectionSettings settings, @Nullable ConnectionLoop loop) {
        int sends = settings.sendBuffers() + settings.operations();
        return hasSharedReceives(loop) ? sends : sends + settings.receiveBuffers();
    }

    private static void release(@Nullable ConnectionLoop loop, Progress progress, @Nullable CompletionQueue queue,
            int count)
            throws RdmaException {
        if (loop == null) {
            progress.close();
        } else if (queue != null) {
            progress.release(queue, count);
        }
    }

    boolean isInLoop() {
        return loop != null;
    }

    Progress progress() {
        return progress;
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
        progress.add(number, connection);
    }

    /** Destroys the queue pair of a connection and frees everything; what was in flight fails. */
    void close(Connection connection) throws RdmaException {
        pair.close();
        try {
            // The device may have given the number to another connection already.
            progress.remove(number, connection);
        } catch (IllegalStateException e) {
            // the program has closed the completion queue
        }
        progress.lock.lock();
        try {
            ring.abandon(new RdmaClosedException("ibv_post_send", connection.toString()));
            ring.close();
            if (!hasSharedReceives(loop)) {
                receives.close();
            }
        } finally {
            progress.lock.unlock();
        }
        release(loop, progress, queue, completions);
    }
}
