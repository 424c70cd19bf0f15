// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.concurrent.Callable;

import io.rdmacm.bench.device.machine.Port;

/** Streams of NIO: those that accept are driven by one selector, those that connect block. */
final class OpenNioStreams extends OpenEnds<SocketChannel> {
    private final SelectorProvider provider;
    private final ServerSocketChannel listener;
    private final Selector selector;

    /** Creates the end that listens. */
    OpenNioStreams(SelectorProvider provider) throws IOException {
        this.provider = provider;
        listener = provider.openServerSocketChannel().bind(Port.anyPort(), AT_ONCE);
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
            throw new UncheckedIOException(e);
        }
    }

    private void serve(SelectionKey key, ByteBuffer buffer) {
        try {
            if (key.channel() instanceof SocketChannel channel) {
                if (channel.read(buffer.clear()) < 0) {
                    channel.close();
                } else {
                    channel.write(buffer.flip());
                }
                return;
            }
            SocketChannel channel = listener.accept();
            if (channel != null) {
                channel.configureBlocking(false);
                channel.register(selector, SelectionKey.OP_READ);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    Callable<SocketChannel> connect() throws IOException {
        SocketChannel channel = provider.openSocketChannel();
        channel.connect(listener.getLocalAddress());
        ByteBuffer message = ByteBuffer.allocate(MESSAGE);
        channel.write(message);
        return () -> {
            message.clear();
            while (message.hasRemaining()) {
                if (channel.read(message) < 0) {
                    throw new EOFException();
                }
            }
            answered.release(MESSAGE);
            return channel;
        };
    }

    @Override
    void close(SocketChannel channel) throws IOException {
        channel.close();
    }

    @Override
    public void close() throws IOException {
        selector.close();
        listener.close();
    }
}
