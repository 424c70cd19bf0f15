// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;

import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;

/** What one end does with a connection. */
interface ConnectionWork extends AutoCloseable {
    /** {@return what handles messages in the thread of a loop; null if this side receives them itself} */
    default ConnectionHandler handler() {
        return this instanceof ConnectionHandler handler ? handler : null;
    }

    /** {@return whether a loop drives the connection} */
    default boolean loop() {
        return handler() != null;
    }

    /** Prepares what needs a connection. */
    default void connected(Connection connection) throws IOException, InterruptedException {
    }

    /** {@return what this end has measured; null for nothing} */
    Outcome run(Connection connection) throws IOException, InterruptedException;

    /** Frees what was made with the connection. */
    @Override
    default void close() throws IOException {
    }
}
