// SPDX-License-Identifier: Apache-2.0

/**
 * A server on Netty, over RDMA.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.examples.netty.HttpServer}, an HTTP server for any client that speaks rsockets.
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.netty}, and the HTTP codec of Netty.
 */
package io.rdmacm.examples.netty;
