// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.forked;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;

import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.LoopSettings;
import io.rdmacm.core.connection.Message;
import io.rdmacm.core.nio.RdmaSelectorProvider;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.stream.StreamSettings;

/** Uses connections, streams and channels, and closes them. */
public final class UseOnce {
    private static final Duration TIMEOUT = Duration.ofMinutes(4);

    private UseOnce() {
    }

    /** The argument: an address of this machine. */
    public static void main(String[] args) throws Exception {
        InetSocketAddress any = new InetSocketAddress(InetAddress.ofLiteral(args[0]), 0);
        connections(any);
        streams(any);
        channels(any);
    }

    private static void connections(InetSocketAddress any) throws Exception {
        try (ConnectionManager manager = ConnectionManager.open()) {
            ConnectionSettings settings = ConnectionSettings.builder()
                    .loops(manager.startLoops(LoopSettings.defaults())).handler(new ConnectionHandler() {
                        @Override
                        public void onMessage(Connection connection, Message message) {
                            connection.async().send(message.memory()).thenRun(() -> { });
                        }
                    }).build();
            try (Listener listener = manager.listen(any, 4, settings)) {
                listener.acceptAll();
                try (Connection client = manager.connect(listener.address(), TIMEOUT)) {
                    client.send(new byte[8], TIMEOUT);
                    client.receive(TIMEOUT).close();
                }
            }
        }
    }

    private static void streams(InetSocketAddress any) throws Exception {
        StreamSettings settings = StreamSettings.builder().keepAlive(Duration.ofMillis(1)).build();
        try (RdmaStreamServer server = RdmaStreamServer.listen(any);
                RdmaStream client = RdmaStream.connect(server.localAddress(), settings, TIMEOUT);
                RdmaStream accepted = server.accept(TIMEOUT)) {
            client.write(ByteBuffer.allocate(8), TIMEOUT);
            accepted.read(ByteBuffer.allocate(8), TIMEOUT);
        }
    }

    private static void channels(InetSocketAddress any) throws Exception {
        try (ServerSocketChannel server = RdmaSelectorProvider.instance().openServerSocketChannel().bind(any);
                SocketChannel client = RdmaSelectorProvider.instance().openSocketChannel();
                Selector selector = RdmaSelectorProvider.instance().openSelector()) {
            client.connect(server.getLocalAddress());
            try (SocketChannel accepted = server.accept()) {
                accepted.configureBlocking(false);
                accepted.register(selector, SelectionKey.OP_READ);
                client.write(ByteBuffer.allocate(8));
                selector.select();
            }
        }
    }
}
