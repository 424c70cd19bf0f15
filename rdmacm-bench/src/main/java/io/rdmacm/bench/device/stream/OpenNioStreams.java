// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.bench.device.machine.Port;

/** Streams of NIO: those that accept are driven by one selector, those that connect block. */
final class OpenNioStreams implements OpenStreams {
    private final SelectorProvider provider;
    private final ServerSocketChannel listener;
    private final Selector selector;
    private final List<SocketChannel> clients = new ArrayList<>();
    private final ByteBuffer message = ByteBuffer.allocateDirect(MESSAGE);

    /** Creates the end that listens. */
    OpenNioStreams(SelectorProvider provider) throws IOException {
        this.provider = provider;
        listener = provider.openServerSocketChannel();
        listener.bind(Port.anyPort(), AT_ONCE);
        listener.configureBlocking(false);
        selector = provider.openSelector();
        listener.register(selector, SelectionKey.OP_ACCEPT);
        Thread.ofPlatform().daemon().start(this::echo);
    }

    private void echo() {
        ByteBuffer buffer = ByteBuffer.allocateDirect(MESSAGE);
        try {
            while (true) {
                selector.select(key -> serve(key, buffer));
            }
        } catch (ClosedSelectorException e) {
            // the end
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private void serve(SelectionKey key, ByteBuffer buffer) {
        try {
            if (key.isAcceptable()) {
                SocketChannel channel = listener.accept();
                if (channel != null) {
                    channel.configureBlocking(false);
                    channel.register(selector, SelectionKey.OP_READ);
                }
                return;
            }
            SocketChannel channel = (SocketChannel) key.channel();
            int length = channel.read(buffer.clear());
            if (length < 0) {
                channel.close();
            } else if (length > 0) {
                channel.write(buffer.flip());
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void open(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            SocketChannel channel = provider.openSocketChannel();
            channel.connect(listener.getLocalAddress());
            clients.add(channel);
            exchange(channel);
        }
    }

    private void exchange(SocketChannel channel) throws IOException {
        message.clear();
        while (message.hasRemaining()) {
            channel.write(message);
        }
        message.clear();
        while (message.hasRemaining()) {
            if (channel.read(message) < 0) {
                throw new EOFException();
            }
        }
    }

    @Override
    public void closeAllBut(int first) throws IOException {
        List<SocketChannel> closing = clients.subList(first, clients.size());
        for (SocketChannel channel : closing) {
            channel.close();
        }
        closing.clear();
    }

    @Override
    public void close() throws IOException {
        selector.close();
        listener.close();
    }
}
