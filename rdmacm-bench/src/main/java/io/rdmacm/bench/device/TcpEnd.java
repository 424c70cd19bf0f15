// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/** One end of messages over TCP, with blocking channels, on the address of the device. */
final class TcpEnd implements MessageEnd {
    private final ByteBuffer buffer;
    // null for a client
    private final ServerSocketChannel listener;
    private SocketChannel channel;

    /**
     * Creates an end.
     *
     * @param client whether this is the end that connects
     * @param size the size of the largest message
     */
    TcpEnd(boolean client, int size) throws IOException {
        this.buffer = ByteBuffer.allocateDirect(size);
        this.listener = client ? null
                : ServerSocketChannel.open().bind(new InetSocketAddress(Port.find().address(), 0));
    }

    @Override
    public byte[] address() throws IOException {
        if (listener == null) {
            return new byte[1];
        }
        InetSocketAddress address = (InetSocketAddress) listener.getLocalAddress();
        return (address.getAddress().getHostAddress() + " " + address.getPort()).getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public void connect(byte[] peer) throws IOException {
        if (listener == null) {
            String[] words = new String(peer, StandardCharsets.US_ASCII).split(" ");
            channel = SocketChannel.open(new InetSocketAddress(words[0], Integer.parseInt(words[1])));
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
