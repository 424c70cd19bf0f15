// SPDX-License-Identifier: Apache-2.0

/**
 * An echo server and its client over {@code io.rdmacm.core.connection}: the shortest way to exchange messages over
 * RDMA. It has no counterpart in C.
 *
 * <p>Read {@link io.rdmacm.examples.echo.EchoClient} first, which waits for each answer, then
 * {@link io.rdmacm.examples.echo.EchoServer}, whose clients are all served by one
 * {@link io.rdmacm.examples.echo.EchoHandler}. {@link io.rdmacm.examples.echo.Echo} holds the options.
 */
package io.rdmacm.examples.echo;
