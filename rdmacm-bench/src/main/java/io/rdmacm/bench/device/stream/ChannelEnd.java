// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.EOFException;
import java.io.IOException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

import io.rdmacm.bench.device.measure.MessageEnd;

/** One end of messages over blocking channels, on the address of the device: of the JDK over TCP, or over RDMA. */
public final class ChannelEnd implements MessageEnd {
    private final SelectorProvider provider;
    private final ByteBuffer buffer;
    // null for a client
    private final ServerSocketChannel listener;
    private SocketChannel channel;

    /**
     * Creates an end.
     *
     * @param provider where the channels come from
     * @param client whether this is the end that connects
     * @param size the size of the largest message
     */
    ChannelEnd(SelectorProvider provider, boolean client, int size) throws IOException {
        this.provider = provider;
        this.buffer = ByteBuffer.allocateDirect(size);
        this.listener = client ? null : provider.openServerSocketChannel().bind(HostAndPort.any());
    }

    /** {@return an end over TCP} */
    public static ChannelEnd tcp(boolean client, int size) throws IOException {
        return new ChannelEnd(SelectorProvider.provider(), client, size);
    }

    @Override
    public byte[] address() throws IOException {
        return HostAndPort.encode(listener == null ? null : listener.getLocalAddress());
    }

    @Override
    public void connect(byte[] peer) throws IOException {
        if (listener == null) {
            channel = provider.openSocketChannel();
            channel.connect(HostAndPort.decode(peer));
        } else {
            channel = listener.accept();
        }
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }

    @Override
    public void send(int count, int bytes) throws IOException {
        for (int i = 0; i < count; i++) {
            buffer.clear().limit(bytes);
            while (buffer.hasRemaining()) {
                channel.write(buffer);
            }
        }
    }

    @Override
    public void receive(int count, int bytes) throws IOException {
        for (int i = 0; i < count; i++) {
            buffer.clear().limit(bytes);
            while (buffer.hasRemaining()) {
                if (channel.read(buffer) < 0) {
                    throw new EOFException("the peer has closed the connection");
                }
            }
        }
    }

    @Override
    public void close() throws IOException {
        if (channel != null) {
            channel.close();
        }
        if (listener != null) {
            listener.close();
        }
    }
}
