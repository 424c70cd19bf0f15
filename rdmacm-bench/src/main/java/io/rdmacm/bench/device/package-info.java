// SPDX-License-Identifier: Apache-2.0
/**
 * Benchmarks that need an RDMA device. Each runs side by side with a C program that measures the same: latency and
 * bandwidth with perftest, streams of bytes with rstream, connecting with cmtime. NIO and Netty
 * ({@link io.rdmacm.bench.device.stream.StreamWay}) stand beside themselves over TCP.
 *
 * <p>{@link io.rdmacm.bench.device.DeviceBenchmark} is the main class, {@link io.rdmacm.bench.device.Plan} the list of
 * {@linkplain io.rdmacm.bench.device.Trial trials}. {@link io.rdmacm.bench.device.JavaSide} controls two processes
 * ({@link io.rdmacm.bench.device.Peer}), each with an {@link io.rdmacm.bench.device.measure.End} of what is measured.
 */
package io.rdmacm.bench.device;
