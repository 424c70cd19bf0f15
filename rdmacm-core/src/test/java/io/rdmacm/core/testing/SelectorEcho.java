// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.testing;

import java.io.IOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Iterator;

import io.rdmacm.verbs.testing.Background;

/** An echo server in the manner of NIO: one thread, one selector. It knows the classes of the JDK only. */
public final class SelectorEcho implements AutoCloseable {
    private final Selector selector;
    private final ServerSocketChannel server;
    private final Background<Void> thread;
    private volatile boolean ended;

    /** Starts a server. */
    public SelectorEcho(NioProvider provider) throws IOException {
        selector = provider.get().openSelector();
        server = provider.listen();
        server.configureBlocking(false);
        server.register(selector, SelectionKey.OP_ACCEPT);
        thread = Background.run(this::run);
    }

    /** Returns where it listens. */
    public SocketAddress address() throws IOException {
        return server.getLocalAddress();
    }

    private void run() throws IOException {
        while (!ended) {
            selector.select();
            for (Iterator<SelectionKey> keys = selector.selectedKeys().iterator(); keys.hasNext();) {
                SelectionKey key = keys.next();
                keys.remove();
                if (key.isValid() && key.isAcceptable()) {
                    accept();
                } else if (key.isValid()) {
                    echo(key);
                }
            }
        }
    }

    private void accept() throws IOException {
        SocketChannel channel = server.accept();
        if (channel != null) {
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ, ByteBuffer.allocateDirect(16384));
        }
    }

    /** Reads as long as there is room in the buffer, and writes as long as there is something in it. */
    private static void echo(SelectionKey key) throws IOException {
        SocketChannel channel = (SocketChannel) key.channel();
        ByteBuffer buffer = (ByteBuffer) key.attachment();
        if (key.isReadable() && channel.read(buffer) < 0) {
            channel.close();
            return;
        }
        channel.write(buffer.flip());
        buffer.compact();
        key.interestOps((buffer.hasRemaining() ? SelectionKey.OP_READ : 0)
                | (buffer.position() > 0 ? SelectionKey.OP_WRITE : 0));
    }

    /** Sends data to a server, in blocking mode, and returns what comes back. */
    public static byte[] exchange(NioProvider provider, SocketAddress address, byte[] data) throws Exception {
        try (SocketChannel client = provider.get().openSocketChannel()) {
            client.connect(address);
            ByteBuffer back = ByteBuffer.allocate(data.length);
            try (Background<Void> writing = Background.run(() -> {
                ByteBuffer source = ByteBuffer.wrap(data);
                while (source.hasRemaining()) {
                    client.write(source);
                }
            })) {
                while (back.hasRemaining() && client.read(back) >= 0) {
                    Thread.onSpinWait();
                }
                writing.result();
            }
            return back.array();
        }
    }

    @Override
    public void close() throws IOException {
        ended = true;
        thread.close();
        for (SelectionKey key : selector.keys()) {
            key.channel().close();
        }
        selector.close();
    }
}
