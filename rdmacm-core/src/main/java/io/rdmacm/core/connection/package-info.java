// SPDX-License-Identifier: Apache-2.0

/**
 * Connections that carry messages, for programs that want RDMA without handling events, queue pairs and buffers
 * themselves. Start with {@link io.rdmacm.core.connection.ConnectionManager}, which creates
 * {@link io.rdmacm.core.connection.Listener}s and {@link io.rdmacm.core.connection.Connection}s. The package is built
 * on the objects of {@link io.rdmacm.core} and {@link io.rdmacm.verbs}. A server:
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
 */
package io.rdmacm.core.connection;
