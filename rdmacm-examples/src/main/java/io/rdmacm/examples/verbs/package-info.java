// SPDX-License-Identifier: Apache-2.0

/**
 * The example programs of libibverbs, and one for EFA. Each has the name, the options and the output of its counterpart
 * in C; the ping-pongs work with theirs over the wire.
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
 * </table>
 *
 * <p>The ping-pongs exchange the addresses of their queue pairs over TCP
 * ({@link io.rdmacm.examples.verbs.Exchange Exchange}) and move them to RTS themselves, without a connection manager.
 * Read {@link io.rdmacm.examples.verbs.IbvUcPingpong} first: it has all steps in one method.
 * {@link io.rdmacm.examples.verbs.PingPong} is the loop that all five share.
 */
package io.rdmacm.examples.verbs;
