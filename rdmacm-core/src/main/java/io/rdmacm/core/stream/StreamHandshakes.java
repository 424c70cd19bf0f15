// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;

import io.rdmacm.core.CmId;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.Deadline;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The streams that a server has accepted and whose peers have not confirmed that yet. Used by the server's thread. */
final class StreamHandshakes {
    private static final Logger LOG = LoggerFactory.getLogger(StreamHandshakes.class);

    private final StreamSettings settings;
    // in the order of their deadlines
    private final Map<CmId, Handshake> pending = new LinkedHashMap<>();

    StreamHandshakes(StreamSettings settings) {
        this.settings = settings;
    }

    private record Handshake(CmId id, StreamQueues queues, ConnectData peer, Deadline deadline) {
        void drop() {
            try {
                queues.close();
                id.close();
            } catch (RdmaException | IllegalStateException e) {
                LOG.warn("what was left of a handshake could not be closed", e);
            }
        }
    }

    int count() {
        return pending.size();
    }

    /**
     * Answers a connect request, whose event has been closed. A peer that does not speak the protocol is rejected.
     *
     * @throws RdmaException when this side has no resources for the stream; the peer was rejected
     */
    void begin(CmId id, byte[] privateData) throws RdmaException {
        Handshake handshake = null;
        boolean accepted = false;
        try {
            ConnectData peer = ConnectData.decode(privateData);
            handshake = new Handshake(id, StreamQueues.create(id, settings), peer,
                    Deadline.after(settings.handshakeTimeout()));
            id.accept(StreamLink.parameters(handshake.queues, settings));
            pending.put(id, handshake);
            accepted = true;
        } catch (StreamProtocolException e) {
            LOG.debug("{} is rejected", id, e);
        } finally {
            if (!accepted) {
                reject(id);
                if (handshake != null) {
                    handshake.queues.close();
                }
                id.close();
            }
        }
    }

    /** Rejects a request. */
    static void reject(CmId id) {
        try {
            id.reject();
        } catch (RdmaException | IllegalStateException e) {
            LOG.debug("the peer has given up", e);
        }
    }

    /** Returns the stream of a peer that has confirmed, null if there is none. The event has been closed. */
    @Nullable RdmaStream establish(CmId id) throws RdmaException {
        Handshake handshake = pending.remove(id);
        if (handshake == null) {
            return null;
        }
        boolean made = false;
        try {
            RdmaStream stream = RdmaStream.accepted(settings, id, handshake.queues, handshake.peer);
            made = true;
            return stream;
        } finally {
            if (!made) {
                handshake.drop();
            }
        }
    }

    /** Forgets a peer that has given up. The event has been closed. */
    void end(CmId id) {
        Handshake handshake = pending.remove(id);
        if (handshake != null) {
            handshake.drop();
        }
    }

    /** Returns the time until a peer takes too long. */
    Duration patience() {
        return pending.isEmpty() ? Deadline.FOREVER : first().deadline.remaining();
    }

    /** Forgets peers that take too long. */
    void endOverdue() {
        while (!pending.isEmpty() && first().deadline.hasPassed()) {
            end(first().id);
        }
    }

    private Handshake first() {
        return pending.values().iterator().next();
    }

    void close() {
        for (CmId id : new ArrayList<>(pending.keySet())) {
            end(id);
        }
    }
}
