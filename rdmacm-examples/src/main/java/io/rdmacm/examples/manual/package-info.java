// SPDX-License-Identifier: Apache-2.0

/**
 * The examples of chapters 7 and 8 of the <cite>RDMA Aware Networks Programming User Manual</cite>, written in Java,
 * and two for its appendices. Those of the chapters do what the C programs do, but not with the same options and wire
 * formats.
 *
 * <table>
 * <caption>The programs, and the class to read first</caption>
 * <tr><th>command</th><th>manual</th><th>what it shows</th><th>read first</th></tr>
 * <tr><td>rc_example</td><td>7.1, RDMA_RC_example.c</td><td>a reliable connection without the connection manager</td>
 * <td>{@link io.rdmacm.examples.manual.RcExample}, then {@link io.rdmacm.examples.manual.RcSide}</td></tr>
 * <tr><td>multicast_example</td><td>7.3 and 8.2</td><td>datagrams to a multicast group</td>
 * <td>{@link io.rdmacm.examples.manual.MulticastExample}</td></tr>
 * <tr><td>apm_example</td><td>8.1</td><td>automatic path migration</td>
 * <td>{@link io.rdmacm.examples.manual.ApmExample}</td></tr>
 * <tr><td>srq_example</td><td>8.3</td><td>a receive queue that connections share</td>
 * <td>{@link io.rdmacm.examples.manual.SrqServer}</td></tr>
 * <tr><td>dc_example</td><td>appendix A</td><td>the dynamically connected transport, on mlx5</td>
 * <td>{@link io.rdmacm.examples.manual.DcExample}</td></tr>
 * <tr><td>umr_example</td><td>appendix C</td><td>user-mode memory registration, on mlx5</td>
 * <td>{@link io.rdmacm.examples.manual.UmrExample}</td></tr>
 * </table>
 */
package io.rdmacm.examples.manual;
