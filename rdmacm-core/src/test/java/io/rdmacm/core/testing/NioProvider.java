// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.testing;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Optional;

import io.rdmacm.core.nio.RdmaSelectorProvider;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;

/** The two kinds of channels that tests run over: what the one does, the other has to do. */
public enum NioProvider {
    /** Those of the JDK, over TCP. */
    JDK {
        @Override
        public SelectorProvider get() {
            return SelectorProvider.provider();
        }

        @Override
        public InetAddress address() {
            return InetAddress.getLoopbackAddress();
        }

        @Override
        public InetAddress ipv6Address() throws IOException {
            return InetAddress.getByName("::1");
        }
    },
    /** Ours. */
    RDMA {
        @Override
        public SelectorProvider get() {
            return RdmaSelectorProvider.instance();
        }

        @Override
        public InetAddress address() {
            return RdmaTestDevice.get().ipv4();
        }

        @Override
        public InetAddress ipv6Address() {
            Optional<Inet6Address> address = RdmaTestDevice.get().ipv6();
            assumeTrue(address.isPresent(), "the device has no IPv6 address");
            return address.get();
        }
    };

    /** Returns the provider. */
    public abstract SelectorProvider get();

    /** Returns an address to listen at. */
    public abstract InetAddress address();

    /** Returns an IPv6 address to listen at. */
    public abstract InetAddress ipv6Address() throws IOException;

    /** Returns an address in the network of the device that nobody answers at. */
    public static InetAddress nobody() throws IOException {
        byte[] address = RdmaTestDevice.get().ipv4().getAddress();
        address[address.length - 1] ^= 0x40;
        return InetAddress.getByAddress(address);
    }

    /** Returns a server on a free port. */
    public ServerSocketChannel listen() throws IOException {
        ServerSocketChannel server = get().openServerSocketChannel();
        server.bind(new InetSocketAddress(address(), 0));
        return server;
    }

    /** Connects two channels in blocking mode. */
    public Pair pair() throws IOException {
        try (ServerSocketChannel server = listen()) {
            return pair(server);
        }
    }

    /** Connects a channel to a server, both in blocking mode. */
    public Pair pair(ServerSocketChannel server) throws IOException {
        SocketChannel client = get().openSocketChannel();
        client.configureBlocking(false);
        client.connect(server.getLocalAddress());
        SocketChannel accepted = server.accept();
        while (!client.finishConnect()) {
            Thread.yield();
        }
        client.configureBlocking(true);
        return new Pair(client, accepted);
    }

    /** Opens what is opened once and kept, for tests that count what is left open. */
    public static void useOnce() throws Exception {
        for (NioProvider provider : values()) {
            try (Pair pair = provider.pair()) {
                try (Selector selector = provider.get().openSelector()) {
                    pair.client().configureBlocking(false);
                    pair.client().register(selector, SelectionKey.OP_WRITE);
                    try (Background<Integer> virtual = Background.virtual(selector::select)) {
                        virtual.result();
                    }
                }
                // Lingers, so that nothing of it is still being closed when the counts begin.
                pair.client().configureBlocking(true);
                pair.client().setOption(StandardSocketOptions.SO_LINGER, 200);
                pair.server().setOption(StandardSocketOptions.SO_LINGER, 200);
            }
        }
    }

    /** The two ends of a connection. */
    public record Pair(SocketChannel client, SocketChannel server) implements AutoCloseable {
        @Override
        public void close() throws IOException {
            client.close();
            server.close();
        }
    }
}
