// SPDX-License-Identifier: Apache-2.0

/**
 * Streams of bytes over RDMA, with the protocol of rsockets (rsocket(7)): for programs that know TCP, and for peers
 * that use the C library or preload {@code librspreload.so}.
 *
 * <h2>What lives here</h2>
 * <ul>
 * <li>{@link io.rdmacm.core.stream.RdmaStream} is the counterpart of a connected socket,
 * {@link io.rdmacm.core.stream.RdmaStreamServer} of a listening one. Both work with threads that wait and with event
 * loops.
 * <li>{@link io.rdmacm.core.stream.StreamSettings} fix the sizes of buffers and queues.
 * <li>{@link io.rdmacm.core.stream.StreamMapping} is memory that the peer writes to directly.
 * <li>{@link io.rdmacm.core.stream.StreamProtocolException} ends a stream whose peer breaks the rules.
 * </ul>
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.core.stream.RdmaStream} for reading, writing and how a stream ends;
 * {@link io.rdmacm.core.stream.StreamSettings} for what a stream costs in memory.
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.core} for ids and their events, {@link io.rdmacm.verbs} for queues and registered memory, and
 * {@link io.rdmacm.core.connection.WaitPolicy} of the package beside it.
 */
package io.rdmacm.core.stream;
