// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** One end of a trial over TCP, with blocking channels, on the address of the device. */
final class TcpTask implements PeerTask {
    private final Trial trial;
    private final boolean client;
    private final int warmUp;
    private final ByteBuffer buffer;
    private final ServerSocketChannel listener;
    private final Allocation allocation = new Allocation();
    private SocketChannel channel;

    TcpTask(Trial trial, boolean client, int warmUp) throws IOException {
        this.trial = trial;
        this.client = client;
        this.warmUp = warmUp;
        this.buffer = ByteBuffer.allocateDirect(trial.size());
        this.listener = client ? null
                : ServerSocketChannel.open().bind(new InetSocketAddress(Port.find().address(), 0));
    }

    @Override
    public String address() throws IOException {
        if (client) {
            return "none";
        }
        InetSocketAddress address = (InetSocketAddress) listener.getLocalAddress();
        return address.getAddress().getHostAddress() + " " + address.getPort();
    }

    @Override
    public void connect(String peer) throws IOException {
        if (client) {
            String[] words = peer.split(" ");
            channel = SocketChannel.open(new InetSocketAddress(words[0], Integer.parseInt(words[1])));
        } else {
            channel = listener.accept();
        }
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }

    @Override
    public String run() throws IOException {
        int total = warmUp + trial.iterations();
        if (trial.pattern() == Trial.Pattern.ROUND_TRIP) {
            return client ? ask(total) : answer(total);
        }
        return client ? send() : receive(total);
    }

    private String ask(int total) throws IOException {
        long[] times = new long[total + 1];
        for (int i = 0; i < total; i++) {
            if (i == warmUp) {
                allocation.start();
            }
            times[i] = System.nanoTime();
            write(trial.size());
            read(trial.size());
        }
        times[total] = System.nanoTime();
        allocation.end(trial.iterations());
        return Outcome.Latencies.between(times, warmUp, 1).encode();
    }

    private String answer(int total) throws IOException {
        for (int i = 0; i < total; i++) {
            read(trial.size());
            write(trial.size());
        }
        return Peer.DONE;
    }

    private String send() throws IOException {
        send(warmUp);
        allocation.start();
        long start = System.nanoTime();
        send(trial.iterations());
        long nanos = System.nanoTime() - start;
        allocation.end(trial.iterations());
        return Outcome.Throughput.of(trial.iterations(), nanos).encode();
    }

    /** Sends messages, and waits until the peer says that the last one has arrived. */
    private void send(int count) throws IOException {
        for (int i = 0; i < count; i++) {
            write(trial.size());
        }
        if (count > 0) {
            read(1);
        }
    }

    private String receive(int total) throws IOException {
        for (int i = 1; i <= total; i++) {
            read(trial.size());
            if (i == warmUp || i == total) {
                write(1);
            }
        }
        return Peer.DONE;
    }

    private void write(int bytes) throws IOException {
        buffer.clear().limit(bytes);
        while (buffer.hasRemaining()) {
            channel.write(buffer);
        }
    }

    private void read(int bytes) throws IOException {
        buffer.clear().limit(bytes);
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) < 0) {
                throw new EOFException("the peer has closed the connection");
            }
        }
    }

    @Override
    public double allocated() {
        return allocation.each();
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
