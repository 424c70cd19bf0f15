// SPDX-License-Identifier: Apache-2.0

/**
 * What the layers that look like sockets to a program have in common. Exported to {@code io.rdmacm.netty} only, because
 * programs see the exceptions, not the mapping.
 *
 * <h2>What lives here</h2>
 * <ul>
 * <li>{@link io.rdmacm.core.internal.sockets.SocketExceptions}: the exceptions of sockets for the failures of streams.
 * <li>{@link io.rdmacm.core.internal.sockets.SocketSettings}: the settings of streams as options of sockets.
 * </ul>
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.core.internal.sockets.SocketExceptions}.
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.core.stream}, and the exceptions of {@link io.rdmacm.core} and {@code io.rdmacm.verbs.error}.
 */
package io.rdmacm.core.internal.sockets;
