// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.grpc;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.RdmaTestDevice;

/** A server and a client in this JVM, which share their event loops. */
final class Connected implements AutoCloseable {
    private final EventLoopGroup loops;
    private final Server server;
    private final ManagedChannel channel;

    Connected(Transport transport, ServerServiceDefinition service) throws IOException {
        this(transport, service, ByteBufAllocator.DEFAULT);
    }

    Connected(Transport transport, ServerServiceDefinition service, ByteBufAllocator allocator) throws IOException {
        loops = transport.loops();
        server = transport.server(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0), loops)
                .withChildOption(ChannelOption.ALLOCATOR, allocator).addService(service).build().start();
        channel = transport.client((InetSocketAddress) server.getListenSockets().getFirst(), loops)
                .withOption(ChannelOption.ALLOCATOR, allocator).build();
    }

    Server server() {
        return server;
    }

    ManagedChannel channel() {
        return channel;
    }

    GreeterClient client() {
        return new GreeterClient(channel);
    }

    @Override
    public void close() {
        long seconds = Program.LIMIT.toSeconds();
        try {
            if (!channel.shutdownNow().awaitTermination(seconds, TimeUnit.SECONDS)
                    || !server.shutdownNow().awaitTermination(seconds, TimeUnit.SECONDS)) {
                throw new AssertionError(channel + " or " + server + " does not end");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        } finally {
            loops.shutdownGracefully(0, seconds, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }
}
