// SPDX-License-Identifier: Apache-2.0

/**
 * The example programs of libibverbs, one for EFA, and the first one of the <cite>RDMA Aware Networks Programming User
 * Manual</cite>. Those with a counterpart in C have its name, its options and its output; the ping-pongs work with
 * theirs over the wire.
 *
 * <table>
 * <caption>The programs</caption>
 * <tr><th>command</th><th>C source</th><th>what it does</th></tr>
 * <tr><td>ibv_devices</td><td>device_list.c</td><td>lists the devices</td></tr>
 * <tr><td>ibv_devinfo</td><td>devinfo.c</td><td>prints the attributes of devices and ports</td></tr>
 * <tr><td>ibv_asyncwatch</td><td>asyncwatch.c</td><td>prints asynchronous events</td></tr>
 * <tr><td>ibv_rc_pingpong</td><td>rc_pingpong.c</td><td>messages over a reliable connection</td></tr>
 * <tr><td>ibv_uc_pingpong</td><td>uc_pingpong.c</td><td>messages over an unreliable connection</td></tr>
 * <tr><td>ibv_ud_pingpong</td><td>ud_pingpong.c</td><td>datagrams</td></tr>
 * <tr><td>ibv_srq_pingpong</td><td>srq_pingpong.c</td><td>reliable connections that share a receive queue</td></tr>
 * <tr><td>efa_pingpong</td><td>none</td><td>messages over SRD, the transport of EFA</td></tr>
 * <tr><td>rc_example</td><td>RDMA_RC_example.c, of the manual</td><td>a send, a read and a write over a reliable
 * connection</td></tr>
 * </table>
 *
 * <p>These programs exchange the addresses of their queue pairs over TCP
 * ({@link io.rdmacm.examples.verbs.TcpPeer TcpPeer}) and move them to RTS themselves, without a connection manager.
 * Read {@link io.rdmacm.examples.verbs.RcExample} first: it has all steps one after the other.
 * {@link io.rdmacm.examples.verbs.PingPongProgram} has the steps of the ping-pongs; what a transport does differently
 * is in its program. {@link io.rdmacm.examples.verbs.PingPong} is the loop that all five share.
 */
package io.rdmacm.examples.verbs;
