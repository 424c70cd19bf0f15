// SPDX-License-Identifier: Apache-2.0

/**
 * The objects of librdmacm: connection-manager ids, their events, and the channels that report the events.
 *
 * <h2>What lives here</h2>
 * The asynchronous side of librdmacm ({@link io.rdmacm.core.CmId}, {@link io.rdmacm.core.EventChannel},
 * {@link io.rdmacm.core.CmEvent}), its synchronous side ({@link io.rdmacm.core.Endpoint}), and the values and
 * exceptions that belong to both. Names are those of C in full words: {@code rdma_create_event_channel} is
 * {@link io.rdmacm.core.EventChannel#open}, {@code rdma_resolve_addr} is {@link io.rdmacm.core.CmId#resolveAddress
 * CmId.resolveAddress}.
 *
 * <p>A program can connect at three levels, and go down where it needs to, because the upper ones are built of the
 * objects of the lower ones:
 * <table>
 * <caption>Which layer do I take?</caption>
 * <tr><th></th><th>{@link io.rdmacm.core.connection.Connection}</th><th>{@link io.rdmacm.core.Endpoint}</th>
 * <th>{@link io.rdmacm.core.CmId}</th></tr>
 * <tr><th>C counterpart</th><td>none</td><td>{@code rdma_create_ep}, {@code rdma_verbs.h}</td>
 * <td>{@code rdma_cma.h}, {@code verbs.h}</td></tr>
 * <tr><th>a unit of work</th><td>a message, a remote read or write</td><td>a work request</td>
 * <td>a work request, or a chain of them</td></tr>
 * <tr><th>connecting</th><td>one call</td><td>one call per step, which waits</td>
 * <td>one call per step, and an event that ends it</td></tr>
 * <tr><th>queues and buffers</th><td>created for you</td><td>queues created for you</td><td>yours</td></tr>
 * <tr><th>waiting</th><td>blocking, with a timeout</td><td>blocking, with a timeout</td>
 * <td>blocking, polling, or in your event loop</td></tr>
 * <tr><th>transports</th><td>reliable connections</td><td>reliable connections, datagrams</td><td>all, and
 * multicast</td></tr>
 * <tr><th>take it for</th><td>services that exchange messages</td><td>ports of C programs that use
 * {@code rdma_verbs.h}; tools; tests</td><td>data paths in which each microsecond counts; event loops; everything
 * else</td></tr>
 * </table>
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.core.CmId} for the states of an id and the calls that are legal in each;
 * {@link io.rdmacm.core.EventChannel} for the ways to wait for events; {@link io.rdmacm.core.Endpoint} for the same
 * work without events. {@link io.rdmacm.verbs.NativeObject} has the rules that all objects share: who closes what, and
 * when.
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.verbs} for queue pairs, memory and completions, and the values and exceptions below it.
 * {@link io.rdmacm.core.connection} stands on top of it.
 */
package io.rdmacm.core;
