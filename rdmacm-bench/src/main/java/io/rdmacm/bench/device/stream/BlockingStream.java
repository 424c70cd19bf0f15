// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.EOFException;
import java.io.IOException;
import java.io.Serializable;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;

import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.measure.Allocation;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.stream.StreamSettings;

/** One end of a stream whose calls return when they are done. */
abstract sealed class BlockingStream extends StreamEnd {
    private final ByteBuffer buffer;

    private BlockingStream(Load load, boolean client, boolean roundTrips) {
        super(load, client, roundTrips);
        this.buffer = ByteBuffer.allocateDirect(largest);
    }

    /** Writes all that the buffer has. */
    abstract void write(ByteBuffer source) throws IOException, InterruptedException;

    /** Reads what is there, at least a byte; returns a negative number at the end. */
    abstract int read(ByteBuffer target) throws IOException, InterruptedException;

    @Override
    void exchange(int times, int count, int size, Allocation allocated) throws IOException, InterruptedException {
        allocated.start();
        for (int i = 0; i < times; i++) {
            if (client) {
                send(count, size);
                receive(count, size);
            } else {
                receive(count, size);
                send(count, size);
            }
        }
        allocated.end(times * count);
    }

    private void send(int count, int size) throws IOException, InterruptedException {
        for (int i = 0; i < count; i++) {
            write(buffer.clear().limit(size));
        }
    }

    private void receive(int count, int size) throws IOException, InterruptedException {
        for (int i = 0; i < count; i++) {
            buffer.clear().limit(size);
            while (buffer.hasRemaining()) {
                if (read(buffer) < 0) {
                    throw new EOFException("the peer has closed the stream");
                }
            }
        }
    }

    /** A stream of the library's own. */
    static final class Engine extends BlockingStream {
        private static final Duration LIMIT = Duration.ofMinutes(2);

        private final StreamSettings settings;
        // null for a client
        private RdmaStreamServer server;
        private RdmaStream stream;

        Engine(StreamSettings settings, Load load, boolean client, boolean roundTrips) {
            super(load, client, roundTrips);
            this.settings = settings;
        }

        @Override
        public Serializable address() throws IOException {
            server = client ? null : own(RdmaStreamServer.listen(Port.anyPort(), 1, settings));
            return client ? null : server.localAddress();
        }

        @Override
        public void connect(Serializable peer) throws IOException, InterruptedException {
            stream = own(client ? RdmaStream.connect((InetSocketAddress) peer, settings, LIMIT)
                    : server.accept(LIMIT));
        }

        @Override
        void write(ByteBuffer source) throws IOException, InterruptedException {
            stream.write(source, LIMIT);
        }

        @Override
        int read(ByteBuffer target) throws IOException, InterruptedException {
            return stream.read(target, LIMIT);
        }
    }

    /** Blocking channels, on the address of the device: of the JDK over TCP, or over RDMA. */
    static final class Nio extends BlockingStream {
        private final SelectorProvider provider;
        // null for a client
        private ServerSocketChannel listener;
        private SocketChannel channel;

        Nio(SelectorProvider provider, Load load, boolean client, boolean roundTrips) {
            super(load, client, roundTrips);
            this.provider = provider;
        }

        @Override
        public Serializable address() throws IOException {
            listener = client ? null : own(provider.openServerSocketChannel()).bind(Port.anyPort());
            return client ? null : (InetSocketAddress) listener.getLocalAddress();
        }

        @Override
        public void connect(Serializable peer) throws IOException {
            channel = own(client ? provider.openSocketChannel() : listener.accept());
            if (client) {
                channel.connect((InetSocketAddress) peer);
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
    }
}
