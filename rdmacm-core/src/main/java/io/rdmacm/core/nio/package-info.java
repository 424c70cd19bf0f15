// SPDX-License-Identifier: Apache-2.0

/**
 * Channels and selectors of {@link java.nio.channels} over RDMA, for programs that are written for NIO.
 *
 * <h2>What lives here</h2>
 * <ul>
 * <li>{@link io.rdmacm.core.nio.RdmaSelectorProvider} opens selectors and channels. They are used through the classes
 * of {@link java.nio.channels} only, and behave as the Javadoc of these says.
 * <li>{@link io.rdmacm.core.nio.RdmaSocketOptions} are the options that TCP does not have.
 * </ul>
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.core.nio.RdmaSelectorProvider}. Inside, {@code RdmaSelector} tells how a
 * selection finds what is ready, and how nothing is lost when other threads use the channels meanwhile.
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.core.stream}: a socket channel is an RdmaStream, a server socket channel an RdmaStreamServer. The
 * selector sleeps in epoll(7), over the files of the streams.
 */
package io.rdmacm.core.nio;
