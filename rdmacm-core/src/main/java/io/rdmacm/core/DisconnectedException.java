// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.Optional;

import io.rdmacm.verbs.error.RdmaException;
import org.jspecify.annotations.Nullable;

/** The connection has ended: the peer has disconnected or died, or this side has disconnected first. */
public class DisconnectedException extends RdmaException {
    private static final long serialVersionUID = 3L;

    private final Reason reason;
    private final @Nullable InetSocketAddress peer;

    /** Who has ended a connection, and how. */
    public enum Reason {
        /** The peer has disconnected or died, which looks the same: the peer's kernel disconnects for its process. */
        PEER_DISCONNECTED(true, "has disconnected or died"),
        /** The peer has given up before the handshake was complete. */
        PEER_GAVE_UP(true, "has given up the handshake"),
        /** The peer has closed its stream, and reads no more. */
        PEER_CLOSED(true, "has closed the stream"),
        /** This side has disconnected. */
        DISCONNECTED_HERE(false, "this side has disconnected from ");

        private final boolean byPeer;
        private final String text;

        Reason(boolean byPeer, String text) {
            this.byPeer = byPeer;
            this.text = text;
        }

        /** {@return whether the peer has ended the connection, and not this side} */
        public boolean byPeer() {
            return byPeer;
        }

        private String of(@Nullable InetSocketAddress peer) {
            String who = peer == null ? "the peer" : "the peer " + peer;
            return byPeer ? who + " " + text : text + (peer == null ? "the peer" : peer);
        }
    }

    /**
     * Creates an exception.
     *
     * @param waitedFor what the program was waiting for or trying to do; the message starts with it
     * @param reason who has ended the connection, and how
     * @param peer the address of the peer; null if it is not known
     */
    public DisconnectedException(String waitedFor, Reason reason, @Nullable InetSocketAddress peer) {
        super("rdma_get_cm_event", waitedFor + ": " + reason.of(peer));
        this.reason = Objects.requireNonNull(reason, "reason");
        this.peer = peer;
    }

    /** {@return who has ended the connection, and how} */
    public Reason reason() {
        return reason;
    }

    /** {@return whether the peer has ended the connection, and not this side} */
    public boolean byPeer() {
        return reason.byPeer();
    }

    /** {@return the address of the peer, if it is known} */
    public Optional<InetSocketAddress> peer() {
        return Optional.ofNullable(peer);
    }
}
