// SPDX-License-Identifier: Apache-2.0

/**
 * The example programs of libibverbs, and one for EFA. Those with a counterpart in C have its name, its options and its
 * output, and the ping-pongs work with theirs over the wire.
 *
 * <p>The ping-pongs exchange the addresses of their queue pairs over TCP
 * ({@link io.rdmacm.examples.verbs.TcpPeer TcpPeer}) and move them to RTS themselves, without a connection manager.
 * Read {@link io.rdmacm.examples.verbs.PingPongProgram} first, which has their steps; what a transport does differently
 * is in its program. {@link io.rdmacm.examples.verbs.PingPong} is the loop that all five share.
 */
package io.rdmacm.examples.verbs;
