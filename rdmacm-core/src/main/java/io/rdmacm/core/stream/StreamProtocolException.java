// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import io.rdmacm.verbs.error.RdmaException;

/** The peer does not keep to the protocol of rsockets. The stream has been disconnected, or was never established. */
public class StreamProtocolException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param violation what the peer did
     */
    public StreamProtocolException(String violation) {
        super("rsocket", "the peer does not keep to the protocol of rsockets: " + violation);
    }
}
