// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import io.rdmacm.verbs.error.RdmaException;

/** The connection has ended: the peer has disconnected or died, or this side has disconnected. */
public class DisconnectedException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param waitedFor what the program was waiting for or trying to do; the message starts with it
     */
    public DisconnectedException(String waitedFor) {
        this(waitedFor, "the connection has ended");
    }

    DisconnectedException(String waitedFor, CmId id) {
        this(waitedFor, id.hasDisconnected() ? "this side has disconnected" : "the peer has disconnected or died");
    }

    private DisconnectedException(String waitedFor, String end) {
        super("rdma_get_cm_event", waitedFor + ": " + end);
    }
}
