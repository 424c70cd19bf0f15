// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import io.rdmacm.verbs.RdmaException;

/** The connection ended while something else was waited for. */
public class DisconnectedException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /**
     * The end of a connection.
     *
     * @param waitedFor what was waited for, or tried
     */
    public DisconnectedException(String waitedFor) {
        super("rdma_get_cm_event", waitedFor + ": the connection was ended");
    }
}
