// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty.testing;

import java.util.Iterator;
import java.util.List;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.rdmacm.netty.RdmaByteBufAllocator;
import io.rdmacm.netty.RdmaServerStreamChannel;
import io.rdmacm.netty.RdmaStreamChannel;

/**
 * What Netty's tests are run with: each handler of event loops on each side, and both ways to write. Each test takes
 * all of them in two combinations, and the other two as well with {@code -Dio.rdmacm.netty.all=true}.
 */
public final class Permutations {
    /** Whether everything is combined with everything, which takes long in an emulated guest. */
    public static final boolean ALL = Boolean.getBoolean("io.rdmacm.netty.all");

    private static final int THREADS = 2;
    private static final EventLoopGroup EPOLL_SERVERS = group("netty-test-epoll-server", Loops.EPOLL);
    private static final EventLoopGroup EPOLL_CLIENTS = group("netty-test-epoll-client", Loops.EPOLL);
    private static final EventLoopGroup RDMA_SERVERS = group("netty-test-rdma-server", Loops.RDMA);
    private static final EventLoopGroup RDMA_CLIENTS = group("netty-test-rdma-client", Loops.RDMA);

    private Permutations() {
    }

    /** A server with one handler and a client with the other one, both ways round, or one for each allocator. */
    public static List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> pairs() {
        List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> all = List.of(pair(EPOLL_SERVERS, RDMA_CLIENTS),
                pair(RDMA_SERVERS, EPOLL_CLIENTS));
        return ALL ? all : List.of(inTurn(all));
    }

    /** Clients with each handler. */
    public static List<BootstrapFactory<Bootstrap>> clients() {
        return List.of(() -> client(EPOLL_CLIENTS), () -> client(RDMA_CLIENTS));
    }

    /** Servers with each handler. */
    public static List<BootstrapFactory<ServerBootstrap>> servers() {
        return List.of(() -> server(EPOLL_SERVERS), () -> server(RDMA_SERVERS));
    }

    /** One whose buffers are copied, and one whose are not. */
    public static List<ByteBufAllocator> allocators() {
        return List.of(PooledByteBufAllocator.DEFAULT, new RdmaByteBufAllocator());
    }

    private static BootstrapComboFactory<ServerBootstrap, Bootstrap> pair(EventLoopGroup servers,
            EventLoopGroup clients) {
        return new BootstrapComboFactory<>() {
            @Override
            public ServerBootstrap newServerInstance() {
                return server(servers);
            }

            @Override
            public Bootstrap newClientInstance() {
                return client(clients);
            }
        };
    }

    /** Netty's tests go through the factories once for each allocator, and take a server and a client from each. */
    private static BootstrapComboFactory<ServerBootstrap, Bootstrap> inTurn(
            List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> pairs) {
        Iterator<BootstrapComboFactory<ServerBootstrap, Bootstrap>> servers = pairs.iterator();
        Iterator<BootstrapComboFactory<ServerBootstrap, Bootstrap>> clients = pairs.iterator();
        return new BootstrapComboFactory<>() {
            @Override
            public ServerBootstrap newServerInstance() {
                return servers.next().newServerInstance();
            }

            @Override
            public Bootstrap newClientInstance() {
                return clients.next().newClientInstance();
            }
        };
    }

    private static ServerBootstrap server(EventLoopGroup group) {
        return new ServerBootstrap().group(group).channel(RdmaServerStreamChannel.class);
    }

    private static Bootstrap client(EventLoopGroup group) {
        return new Bootstrap().group(group).channel(RdmaStreamChannel.class);
    }

    private static EventLoopGroup group(String name, Loops loops) {
        return new MultiThreadIoEventLoopGroup(THREADS, new DefaultThreadFactory(name, true), loops.factory());
    }
}
