// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;
import java.io.Serializable;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;

import io.rdmacm.bench.device.machine.Port;

/** One end of blocking channels, on the address of the device: of the JDK over TCP, or over RDMA. */
final class NioStream extends BlockingStream {
    private final SelectorProvider provider;
    // null for a client
    private final ServerSocketChannel listener;
    private SocketChannel channel;

    NioStream(SelectorProvider provider, Load load, boolean client, boolean roundTrips) throws IOException {
        super(load, client, roundTrips);
        this.provider = provider;
        this.listener = client ? null : provider.openServerSocketChannel().bind(Port.anyPort());
    }

    @Override
    public Serializable address() throws IOException {
        return client ? null : (InetSocketAddress) listener.getLocalAddress();
    }

    @Override
    public void connect(Serializable peer) throws IOException {
        if (client) {
            channel = provider.openSocketChannel();
            channel.connect((InetSocketAddress) peer);
        } else {
            channel = listener.accept();
        }
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }

    @Override
    void write(ByteBuffer source) throws IOException {
        while (source.hasRemaining()) {
            channel.write(source);
        }
    }

    @Override
    int read(ByteBuffer target) throws IOException {
        return channel.read(target);
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
