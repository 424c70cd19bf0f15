// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SocketChannel;

/** A byte stream over TCP. */
final class TcpStream implements ByteStream {
    private final SocketChannel channel;

    TcpStream(SocketChannel channel) {
        this.channel = channel;
    }

    static TcpStream connect(InetSocketAddress server) throws IOException, InterruptedException {
        SocketChannel channel = SocketChannel.open();
        boolean connected = false;
        try {
            channel.connect(server);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            connected = true;
        } catch (ClosedByInterruptException e) {
            throw interrupted(e);
        } finally {
            if (!connected) {
                channel.close();
            }
        }
        return new TcpStream(channel);
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException, InterruptedException {
        try {
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        } catch (ClosedByInterruptException e) {
            throw interrupted(e);
        }
    }

    @Override
    public void read(ByteBuffer target) throws IOException, InterruptedException {
        try {
            if (channel.read(target) < 0) {
                throw new EOFException("the server has ended the TCP connection");
            }
        } catch (ClosedByInterruptException e) {
            throw interrupted(e);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    private static InterruptedException interrupted(ClosedByInterruptException cause) {
        Thread.interrupted();
        InterruptedException interrupted = new InterruptedException("interrupted on the TCP connection");
        interrupted.initCause(cause);
        return interrupted;
    }
}
