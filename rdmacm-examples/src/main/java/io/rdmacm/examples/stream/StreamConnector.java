// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.IOException;

/** Makes the connections of the tests, one after the other: a client connects, a server accepts. */
interface StreamConnector extends AutoCloseable {
    /**
     * Makes a connection.
     *
     * @param inlineSize how many bytes may be sent inline, where that applies
     */
    StreamEnd next(int inlineSize) throws IOException, InterruptedException;

    @Override
    void close() throws IOException;
}
