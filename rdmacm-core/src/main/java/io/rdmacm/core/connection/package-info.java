// SPDX-License-Identifier: Apache-2.0

/**
 * Connections that carry messages, for programs that want RDMA without handling events, queue pairs and buffers
 * themselves.
 *
 * <h2>What lives here</h2>
 * <ul>
 * <li>Connecting: a {@link io.rdmacm.core.connection.ConnectionManager} creates
 * {@link io.rdmacm.core.connection.Listener}s and {@link io.rdmacm.core.connection.Connection}s. A listener accepts a
 * connection at once, or hands out a {@link io.rdmacm.core.connection.ConnectionRequest} to be inspected first.
 * {@link io.rdmacm.core.connection.ConnectionSettings} fix the sizes and say who is told and who waits how. A
 * {@link io.rdmacm.core.connection.Reconnector} connects again when a connection has ended.
 * <li>Messages: {@link io.rdmacm.core.connection.Message} is what arrives, in the buffer that it arrived in;
 * {@link io.rdmacm.core.connection.OutgoingMessage} is filled in where it is sent from.
 * <li>Operations, in three ways: those of the connection wait, those of
 * {@link io.rdmacm.core.connection.AsyncOperations} return a future, those of
 * {@link io.rdmacm.core.connection.OperationQueue} call an {@link io.rdmacm.core.connection.OperationHandler} and
 * allocate nothing.
 * <li>Who works: with a {@link io.rdmacm.core.connection.WaitPolicy}, the threads that wait poll and sleep themselves.
 * A {@link io.rdmacm.core.connection.ConnectionHandler} is called instead, by a
 * {@link io.rdmacm.core.connection.ConnectionLoop} if there is one. A
 * {@link io.rdmacm.core.connection.ConnectionLoopGroup} spreads connections over the threads of the library;
 * {@link io.rdmacm.core.connection.LoopSettings} let the connections of a loop share their receive buffers.
 * <li>{@link io.rdmacm.core.connection.ConnectionCounters} say what a connection has done.
 * </ul>
 * A server that sends back each message:
 *
 * <pre>{@code
 * try (ConnectionManager manager = ConnectionManager.open();
 *         Listener listener = manager.listen(new InetSocketAddress("192.168.99.1", 7471))) {
 *     while (true) {
 *         Connection connection = listener.accept(FOR_EVER);
 *         Thread.startVirtualThread(() -> echo(connection));
 *     }
 * }
 *
 * void echo(Connection connection) {
 *     try (connection) {
 *         while (true) {
 *             try (Message message = connection.receive(FOR_EVER)) {
 *                 connection.send(message.memory(), TIMEOUT);
 *             }
 *         }
 *     } catch (DisconnectedException e) {
 *         // the client has disconnected
 *     } catch (IOException | InterruptedException e) {
 *         log.warn("a connection ended", e);
 *     }
 * }
 * }</pre>
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.core.connection.Connection} for messages, remote reads and writes, and the ways in which they can
 * fail; {@link io.rdmacm.core.connection.ConnectionSettings} for what a connection costs in memory;
 * {@link io.rdmacm.core.connection.ConnectionHandler} for who calls handlers and what they must not do. Inside, who
 * polls, who sleeps and who is woken is the business of {@code io.rdmacm.core.internal.engine}.
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.core} for ids and their events, {@link io.rdmacm.verbs} for queues, {@link io.rdmacm.verbs.pool} for
 * the memory of messages. Where messages are not enough,
 * {@link io.rdmacm.core.connection.Connection#queuePair()} and
 * {@link io.rdmacm.core.connection.Connection#protectionDomain()} lead down to these.
 */
package io.rdmacm.core.connection;
