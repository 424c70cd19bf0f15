// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SocketChannel;

import io.rdmacm.examples.support.Tcp;

/** A byte stream over TCP. */
final class TcpStream implements ByteStream {
    private final SocketChannel channel;

    TcpStream(SocketChannel channel) {
        this.channel = channel;
    }

    static TcpStream connect(InetSocketAddress server) throws IOException, InterruptedException {
        return new TcpStream(Tcp.connect(server));
    }

    @Override
    public void write(ByteBuffer bytes) throws IOException, InterruptedException {
        try {
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
        } catch (ClosedByInterruptException e) {
            throw Tcp.interrupted(e);
        }
    }

    @Override
    public void read(ByteBuffer target) throws IOException, InterruptedException {
        try {
            if (channel.read(target) < 0) {
                throw new EOFException("the server has ended the TCP connection");
            }
        } catch (ClosedByInterruptException e) {
            throw Tcp.interrupted(e);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
