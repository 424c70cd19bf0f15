// SPDX-License-Identifier: Apache-2.0

/**
 * rping(1) of librdmacm: the client offers some memory, the server reads a ping from it by an RDMA read and writes it
 * back by an RDMA write. Both roles work with those of the C program (rping.c).
 *
 * <p>Read {@link io.rdmacm.examples.rping.RpingClient} and {@link io.rdmacm.examples.rping.RpingServer} first, each of
 * which is the story of one role; then {@link io.rdmacm.examples.rping.RpingConnection}, which posts the work requests
 * and waits for their completions. {@link io.rdmacm.examples.rping.Rping} holds the options.
 */
package io.rdmacm.examples.rping;
