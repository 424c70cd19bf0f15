// SPDX-License-Identifier: Apache-2.0

/**
 * The test programs of librdmacm. Each has the name, the options and the output of its counterpart in C and works with
 * it over the wire. Where the C program waits forever, these have the option {@code --timeout}.
 *
 * <table>
 * <caption>The programs, and the class to read first</caption>
 * <tr><th>command</th><th>C source</th><th>what it does</th><th>read first</th></tr>
 * <tr><td>rdma_client, rdma_server</td><td>rdma_client.c, rdma_server.c</td><td>one message each way with the
 * synchronous calls</td><td>{@link io.rdmacm.examples.cm.RdmaClient}</td></tr>
 * <tr><td>rdma_xclient, rdma_xserver</td><td>rdma_xclient.c, rdma_xserver.c</td><td>one message through a shared
 * receive queue</td><td>{@link io.rdmacm.examples.cm.RdmaXserver}</td></tr>
 * <tr><td>ucmatose</td><td>cmatose.c</td><td>messages over many reliable connections</td>
 * <td>{@link io.rdmacm.examples.cm.TransferProgram}</td></tr>
 * <tr><td>udaddy</td><td>udaddy.c</td><td>datagrams, sent and answered</td>
 * <td>{@link io.rdmacm.examples.cm.Udaddy}</td></tr>
 * <tr><td>mckey</td><td>mckey.c</td><td>datagrams to a multicast group</td>
 * <td>{@link io.rdmacm.examples.cm.Mckey}</td></tr>
 * <tr><td>cmtime</td><td>cmtime.c</td><td>the time of each step of connecting</td>
 * <td>{@link io.rdmacm.examples.cm.CmTimeClient}</td></tr>
 * </table>
 *
 * <p>Start with {@link io.rdmacm.examples.cm.RdmaClient}: it is the shortest, from connect to disconnect.
 */
package io.rdmacm.examples.cm;
