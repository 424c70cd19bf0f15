// SPDX-License-Identifier: Apache-2.0

/**
 * Example programs, written to be run and to be read. {@link io.rdmacm.examples.Main} runs them by name:
 * {@code scripts/rdmacm rping -s -v}.
 *
 * <h2>The packages</h2>
 *
 * <table>
 * <caption>From the shortest programs to the closest to C</caption>
 * <tr><th>package</th><th>what it shows</th></tr>
 * <tr><td>{@link io.rdmacm.examples.doctor}</td><td>whether a machine can use RDMA, and what to do if not</td></tr>
 * <tr><td>{@link io.rdmacm.examples.kvstore}</td><td>a key-value store: puts are messages over
 * {@code io.rdmacm.core.connection}, gets are RDMA reads</td></tr>
 * <tr><td>{@link io.rdmacm.examples.stream}</td><td>rstream, riostream and rcopy of librdmacm: streams of
 * bytes</td></tr>
 * <tr><td>{@link io.rdmacm.examples.rping}</td><td>rping of librdmacm</td></tr>
 * <tr><td>{@link io.rdmacm.examples.cm}</td><td>the other programs of librdmacm: rdma_client, ucmatose, udaddy, mckey,
 * cmtime and others</td></tr>
 * <tr><td>{@link io.rdmacm.examples.verbs}</td><td>the programs of libibverbs: ibv_devinfo, ibv_rc_pingpong and
 * others</td></tr>
 * </table>
 *
 * <p>The programs that have a counterpart in C have its name, its options and its output, and work with it over the
 * wire. Each program is one class with its options, annotated for picocli, which
 * {@link io.rdmacm.examples.support.ExampleProgram} adds to; roles such as client and server are classes beside it, or
 * methods of a short one. What differs by a flag between two programs is in the class that both extend.
 */
package io.rdmacm.examples;
