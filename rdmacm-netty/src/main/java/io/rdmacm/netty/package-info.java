// SPDX-License-Identifier: Apache-2.0

/**
 * A transport for Netty 4.2 over RDMA: channels that behave as those over TCP do, on the streams of
 * {@link io.rdmacm.core.stream}.
 *
 * <pre>{@code
 * EventLoopGroup group = new MultiThreadIoEventLoopGroup(RdmaIoHandler.newFactory());
 * new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class) ...
 * }</pre>
 *
 * <h2>What lives here</h2>
 * <ul>
 * <li>{@link io.rdmacm.netty.RdmaStreamChannel} and {@link io.rdmacm.netty.RdmaServerStreamChannel} are the
 * counterparts of Netty's SocketChannel and ServerSocketChannel, and implement these interfaces.
 * <li>{@link io.rdmacm.netty.RdmaIoHandler} drives them: it polls for a while before it sleeps. The channels work with
 * Netty's EpollIoHandler as well, beside TCP channels.
 * <li>{@link io.rdmacm.netty.RdmaChannelOption} are the options that TCP does not have.
 * <li>{@link io.rdmacm.netty.RdmaByteBufAllocator} allocates buffers in registered memory, which are written without a
 * copy.
 * </ul>
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.netty.RdmaStreamChannel} for what is like TCP and what is not; inside, {@code LoopRegistration},
 * which registers a channel with an event loop.
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.core.stream} for the streams, and Netty's {@code netty-transport}.
 */
package io.rdmacm.netty;
