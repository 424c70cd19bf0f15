// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.grpc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

import io.grpc.ForwardingServerBuilder;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.netty.InternalNettyChannelBuilder;
import io.grpc.netty.InternalNettyServerBuilder;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.testing.integration.AbstractInteropTest;
import io.netty.channel.EventLoopGroup;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.RdmaTestDevice;

/** A case of gRPC's interoperability tests, with a server and a client in this JVM. */
final class InteropCase extends AbstractInteropTest implements AutoCloseable {
    private final Transport transport;
    private final EventLoopGroup loops;
    private Server server;

    InteropCase(Transport transport) {
        this.transport = transport;
        loops = transport.loops();
    }

    /** Runs it, with what JUnit 4 would run before and after it. */
    void run(Method method) throws Throwable {
        setUp();
        try {
            method.invoke(this);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        } finally {
            tearDown();
        }
    }

    // The case counts what it sends itself: the statistics that gRPC finds on the class path are in its way.
    @Override
    protected ServerBuilder<?> getServerBuilder() {
        NettyServerBuilder builder = transport.server(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0), loops)
                .flowControlWindow(TEST_FLOW_CONTROL_WINDOW).maxInboundMessageSize(MAX_MESSAGE_SIZE)
                .addStreamTracerFactory(createCustomCensusTracerFactory());
        InternalNettyServerBuilder.setStatsEnabled(builder, false);
        return new Remembering(builder);
    }

    @Override
    protected ManagedChannelBuilder<?> createChannelBuilder() {
        NettyChannelBuilder builder = transport.client(server.getListenSockets().getFirst(), loops)
                .flowControlWindow(TEST_FLOW_CONTROL_WINDOW).maxInboundMessageSize(MAX_MESSAGE_SIZE)
                .intercept(createCensusStatsClientInterceptor());
        InternalNettyChannelBuilder.setStatsEnabled(builder, false);
        return builder;
    }

    @Override
    protected int operationTimeoutMillis() {
        return Math.toIntExact(Program.LIMIT.toMillis());
    }

    @Override
    public void close() {
        loops.shutdownGracefully(0, Program.LIMIT.toSeconds(), TimeUnit.SECONDS).syncUninterruptibly();
    }

    /** Tells which server it has built: the case keeps that to itself. */
    private final class Remembering extends ForwardingServerBuilder<Remembering> {
        private final NettyServerBuilder builder;

        Remembering(NettyServerBuilder builder) {
            this.builder = builder;
        }

        @Override
        protected ServerBuilder<?> delegate() {
            return builder;
        }

        @Override
        public Server build() {
            server = super.build();
            return server;
        }
    }
}
