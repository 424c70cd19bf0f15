// SPDX-License-Identifier: Apache-2.0

/**
 * An echo server and its client over {@code io.rdmacm.core.connection}: the shortest way to exchange messages over
 * RDMA. It has no counterpart in C.
 *
 * <p>Read {@link io.rdmacm.examples.echo.EchoClient} first, then {@link io.rdmacm.examples.echo.EchoServer}, which
 * serves each client in a virtual thread. {@link io.rdmacm.examples.echo.Echo} holds the options.
 */
package io.rdmacm.examples.echo;
