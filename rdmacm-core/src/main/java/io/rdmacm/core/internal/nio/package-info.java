// SPDX-License-Identifier: Apache-2.0

/**
 * What channels of {@link java.nio.channels} over RDMA have in common with those that are only sometimes: selectors
 * that take both, and the views as sockets.
 *
 * <h2>What lives here</h2>
 * <ul>
 * <li>{@link io.rdmacm.core.internal.nio.RdmaSelector}, its keys, and {@link io.rdmacm.core.internal.nio.Selectable}: a
 * channel as its selectors see it.
 * <li>{@link io.rdmacm.core.internal.nio.SocketView} and {@link io.rdmacm.core.internal.nio.ServerSocketView}, over
 * {@link io.rdmacm.core.internal.nio.TimedSocketChannel} and
 * {@link io.rdmacm.core.internal.nio.TimedServerSocketChannel}.
 * </ul>
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.core.internal.nio.RdmaSelector}: how a selection finds what is ready, and how nothing is lost when
 * other threads use the channels meanwhile.
 *
 * <h2>What it stands on</h2>
 * {@code EventFile} of {@code io.rdmacm.verbs.internal.wait}; nothing of RDMA.
 */
package io.rdmacm.core.internal.nio;
