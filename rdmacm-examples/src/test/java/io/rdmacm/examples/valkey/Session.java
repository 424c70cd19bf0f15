// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import java.io.EOFException;
import java.io.IOException;

/**
 * What a server of the tests does with a connection.
 *
 * @param <S> the connection
 */
@FunctionalInterface
interface Session<S extends ByteStream> {
    /** Uses a connection. The server closes it when this returns, or throws an EOFException. */
    void serve(S stream) throws IOException, InterruptedException;

    /** Uses a connection, and closes it. */
    default void serveAndClose(S stream) throws IOException, InterruptedException {
        try (stream) {
            serve(stream);
        } catch (EOFException e) {
            // The client has left.
        }
    }
}
