// SPDX-License-Identifier: Apache-2.0

/**
 * The classic event-driven server and its client: one thread handles the connection events of all clients, and each
 * connection has a thread that polls its completions. It has no counterpart in rdma-core; C tutorials of librdmacm
 * usually have this structure.
 *
 * <p>Read {@link io.rdmacm.examples.eventserver.EventServer} first, the event loop; then
 * {@link io.rdmacm.examples.eventserver.PeerConnection}, the resources and the completion thread of one connection;
 * then {@link io.rdmacm.examples.eventserver.ServerProtocol} and
 * {@link io.rdmacm.examples.eventserver.ClientProtocol}, what the two sides do.
 */
package io.rdmacm.examples.eventserver;
