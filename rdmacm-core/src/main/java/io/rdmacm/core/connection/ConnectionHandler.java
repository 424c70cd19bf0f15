// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import io.rdmacm.verbs.error.RdmaException;

/**
 * Is told what happens on connections, instead of threads that wait in {@link Connection#receive}. One handler may
 * serve any number of connections.
 *
 * <p>The methods for one connection are called one after the other, by the thread that drives it: that of its
 * {@link ConnectionLoop}, or one of the library if it has no loop. They must not wait: a call that would have to wait
 * throws an IllegalStateException. What they post is handed to the device when they return, by one call. An exception
 * that a method throws is logged and otherwise ignored; an Error, such as OutOfMemoryError, ends the connection and no
 * other.
 */
public interface ConnectionHandler {
    /**
     * Called when the connection is established, before all other methods.
     *
     * @param connection the connection
     * @throws Exception logged, and otherwise ignored
     */
    default void onConnect(Connection connection) throws Exception {
    }

    /**
     * Called for each message.
     *
     * @param connection the connection
     * @param message the message, which is closed when this method returns: using it later throws
     *        IllegalStateException; {@link Message#retain()} keeps its buffer
     * @throws Exception logged, and otherwise ignored
     */
    default void onMessage(Connection connection, Message message) throws Exception {
    }

    /**
     * Called when the peer has written to this side's memory with an immediate value
     * ({@code IBV_WR_RDMA_WRITE_WITH_IMM}). A message with an immediate value is passed to {@link #onMessage}.
     *
     * @param connection the connection
     * @param immediate the immediate value, in the byte order of this machine
     * @param length the number of bytes that were written
     * @throws Exception logged, and otherwise ignored
     */
    default void onImmediate(Connection connection, int immediate, int length) throws Exception {
    }

    /**
     * Called when there is room again, after a method of {@link Connection#queue()} has returned false. May be called
     * once more than needed.
     *
     * @param connection the connection
     * @throws Exception logged, and otherwise ignored
     */
    default void onWritable(Connection connection) throws Exception {
    }

    /**
     * Called once when the connection has ended, after all messages that arrived before. Close the connection here or
     * later.
     *
     * @param connection the connection
     * @param reason why, as {@link Connection#receive} would throw it:
     *        {@link io.rdmacm.core.DisconnectedException} when one side disconnected
     * @throws Exception logged, and otherwise ignored
     */
    default void onDisconnect(Connection connection, RdmaException reason) throws Exception {
    }
}
