// SPDX-License-Identifier: Apache-2.0

/**
 * Any Java program over RDMA by one option, and over TCP where there is no RDMA.
 *
 * <h2>What lives here</h2>
 * <ul>
 * <li>{@link io.rdmacm.sockets.Agent} and {@code Start}: the agent; {@code Installation}: what this JVM does, and why.
 * <li>{@code Choice}: which way a connection or a server goes, by {@code Rule}s and {@code DeviceNetworks}.
 * <li>{@link io.rdmacm.sockets.SocketsProvider}, with {@code MixedSocketChannel} and {@code MixedServerSocketChannel};
 * {@code Race} and {@code Connector}: a connect over RDMA, and over TCP beside it.
 * <li>{@code PlainSocket} and {@code PlainServer}: {@code java.net.Socket} and {@code ServerSocket}.
 * <li>{@code Connections}: which way they went.
 * </ul>
 *
 * <h2>Read first</h2>
 * {@code Choice}, then {@code MixedSocketChannel}.
 *
 * <h2>What it stands on</h2>
 * {@code io.rdmacm.core.nio} and {@code io.rdmacm.core.internal.nio}, and what the JDK keeps to itself: no other module
 * knows of that.
 */
@NullMarked
package io.rdmacm.sockets;

import org.jspecify.annotations.NullMarked;
