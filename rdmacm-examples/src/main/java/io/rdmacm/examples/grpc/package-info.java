// SPDX-License-Identifier: Apache-2.0

/**
 * gRPC over RDMA: a server and a client with all four kinds of calls.
 *
 * <h2>Read first</h2>
 * {@link io.rdmacm.examples.grpc.Transport}, which is all that differs between RDMA and TCP, and
 * {@link io.rdmacm.examples.grpc.GrpcServer}, which uses it. {@link io.rdmacm.examples.grpc.Greeter} is the service,
 * {@link io.rdmacm.examples.grpc.GreeterClient} calls it. {@link io.rdmacm.examples.grpc.Sending} and
 * {@link io.rdmacm.examples.grpc.Greeter} show flow control by hand, as in the example of gRPC of that name.
 *
 * <p>The messages are texts and bytes, without Protocol Buffers, so that the build needs no code generator. Generated
 * services run over RDMA in the same way.
 *
 * <h2>What it stands on</h2>
 * {@link io.rdmacm.netty}, and grpc-netty, which takes any channel of Netty.
 */
package io.rdmacm.examples.grpc;
