// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import io.rdmacm.verbs.error.RdmaException;

/** The connection has ended: the peer has disconnected or died, or this side has disconnected first. */
public class DisconnectedException extends RdmaException {
    private static final long serialVersionUID = 2L;

    private final boolean byPeer;

    /**
     * Creates an exception.
     *
     * @param waitedFor what the program was waiting for or trying to do; the message starts with it
     * @param byPeer whether the peer has ended the connection, and not this side
     */
    public DisconnectedException(String waitedFor, boolean byPeer) {
        super("rdma_get_cm_event", waitedFor + ": "
                + (byPeer ? "the peer has disconnected or died" : "this side has disconnected"));
        this.byPeer = byPeer;
    }

    /** {@return whether the peer has ended the connection, and not this side} */
    public boolean byPeer() {
        return byPeer;
    }
}
