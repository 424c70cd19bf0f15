// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.forked;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** A program that knows nothing of RDMA: a selector, a server and a client, and what the JDK has besides. */
public final class DefaultProvider {
    private DefaultProvider() {
    }

    /** Sends a word to itself, at the address given, and prints it; then opens a pipe and a datagram channel. */
    public static void main(String[] args) throws IOException {
        try (Selector selector = Selector.open(); ServerSocketChannel server = ServerSocketChannel.open();
                SocketChannel client = SocketChannel.open()) {
            server.bind(new InetSocketAddress(args[0], 0));
            server.configureBlocking(false);
            server.register(selector, SelectionKey.OP_ACCEPT);
            client.configureBlocking(false);
            client.register(selector, SelectionKey.OP_CONNECT);
            client.connect(server.getLocalAddress());
            System.out.println(client.getClass().getSimpleName());
            String received = "";
            while (!received.equals("hello")) {
                selector.select();
                for (SelectionKey key : selector.selectedKeys()) {
                    received += serve(selector, key);
                }
                selector.selectedKeys().clear();
            }
            System.out.println(received);
        }
        open("pipe", () -> {
            Pipe pipe = Pipe.open();
            pipe.sink().write(ByteBuffer.allocate(1));
            pipe.source().read(ByteBuffer.allocate(1));
            pipe.sink().close();
            pipe.source().close();
        });
        open("datagram", () -> DatagramChannel.open().close());
    }

    private static String serve(Selector selector, SelectionKey key) throws IOException {
        if (key.isAcceptable()) {
            SocketChannel accepted = ((ServerSocketChannel) key.channel()).accept();
            accepted.configureBlocking(false);
            accepted.register(selector, SelectionKey.OP_READ);
        } else if (key.isConnectable()) {
            SocketChannel client = (SocketChannel) key.channel();
            client.finishConnect();
            client.write(ByteBuffer.wrap("hello".getBytes(StandardCharsets.US_ASCII)));
            key.interestOps(0);
        } else {
            ByteBuffer buffer = ByteBuffer.allocate(10);
            ((SocketChannel) key.channel()).read(buffer);
            return new String(buffer.array(), 0, buffer.position(), StandardCharsets.US_ASCII);
        }
        return "";
    }

    private interface Action {
        void run() throws IOException;
    }

    private static void open(String what, Action action) throws IOException {
        try {
            action.run();
            System.out.println(what);
        } catch (UnsupportedOperationException e) {
            System.out.println(what + ": " + e.getMessage());
        }
    }
}
