// SPDX-License-Identifier: Apache-2.0

/**
 * Connections that carry messages, for programs that want RDMA without handling events, queue pairs and buffers
 * themselves.
 *
 * <h2>What lives here</h2>
 * A {@link io.rdmacm.core.connection.ConnectionManager} creates {@link io.rdmacm.core.connection.Listener}s and
 * {@link io.rdmacm.core.connection.Connection}s. A listener accepts a connection at once, or hands out a
 * {@link io.rdmacm.core.connection.ConnectionRequest} to be inspected first. {@link
 * io.rdmacm.core.connection.ConnectionSettings} set the sizes, and {@link io.rdmacm.core.connection.Message} is what
 * arrives. A server that sends back each message:
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
 * fail; {@link io.rdmacm.core.connection.ConnectionManager} for the threads that work behind them;
 * {@link io.rdmacm.core.connection.ConnectionSettings} for what a connection costs in memory.
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.core} for ids and their events, {@link io.rdmacm.verbs} for queues and memory. Where messages are
 * not enough, {@link io.rdmacm.core.connection.Connection#queuePair()} and
 * {@link io.rdmacm.core.connection.Connection#protectionDomain()} lead down to these.
 */
package io.rdmacm.core.connection;
