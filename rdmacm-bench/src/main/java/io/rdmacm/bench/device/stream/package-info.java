// SPDX-License-Identifier: Apache-2.0
/**
 * Streams of bytes, measured in each {@link io.rdmacm.bench.device.stream.StreamWay way}: with the library's own
 * streams, with NIO and Netty over RDMA and over TCP, and with rstream, the C program. What many of them take, and many
 * connections, is measured apart: {@link io.rdmacm.bench.device.stream.ManyEnds}.
 */
package io.rdmacm.bench.device.stream;
