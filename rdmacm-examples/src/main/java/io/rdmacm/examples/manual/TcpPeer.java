// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;

/**
 * The TCP connection beside two queue pairs that are connected without a connection manager. It carries their
 * addresses, and keeps both sides in step. It also reveals that the peer has died: a queue pair that waits for a
 * message would wait forever.
 *
 * <p>A thread of its own reads, so that the end of the connection is noticed whatever the program is doing.
 */
final class TcpPeer implements AutoCloseable {
    private static final int TIMEOUT_SECONDS = 60;

    private final SocketChannel channel;
    private final BlockingQueue<Byte> arrived = new LinkedBlockingQueue<>();
    private final CompletableFuture<Void> gone = new CompletableFuture<>();

    private TcpPeer(SocketChannel channel) {
        this.channel = channel;
        Thread.ofVirtual().name("tcp-peer").start(this::read);
    }

    /**
     * Waits for a client.
     *
     * @param port the TCP port to listen on; 0 for any free one
     * @param listening called with the port as soon as a client can connect
     */
    static TcpPeer accept(int port, IntConsumer listening) throws IOException, InterruptedException {
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress(port));
            listening.accept(((InetSocketAddress) server.getLocalAddress()).getPort());
            return new TcpPeer(server.accept());
        } catch (ClosedByInterruptException e) {
            throw interrupted(e);
        }
    }

    /** Connects to the server. */
    static TcpPeer connect(InetSocketAddress server) throws IOException, InterruptedException {
        try {
            return new TcpPeer(SocketChannel.open(server));
        } catch (ClosedByInterruptException e) {
            throw interrupted(e);
        } catch (ConnectException e) {
            throw new IOException("nobody listens at " + server + ": " + e.getMessage(), e);
        }
    }

    /** Sends bytes to the peer, and waits for as many from it. */
    byte[] exchange(byte[] mine) throws IOException, InterruptedException {
        try {
            for (ByteBuffer data = ByteBuffer.wrap(mine); data.hasRemaining();) {
                channel.write(data);
            }
        } catch (ClosedByInterruptException e) {
            throw interrupted(e);
        }
        byte[] theirs = new byte[mine.length];
        for (int i = 0; i < theirs.length; i++) {
            theirs[i] = next();
        }
        return theirs;
    }

    /** Waits until the peer has reached the same step. */
    void sync(char step) throws IOException, InterruptedException {
        byte theirs = exchange(new byte[] {(byte) step})[0];
        if (theirs != step) {
            throw new IOException("this side is at step " + step + ", the peer at step " + (char) theirs);
        }
    }

    /** Returns a future that completes when the peer has closed the connection or died. */
    CompletableFuture<Void> gone() {
        return gone;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    private byte next() throws IOException, InterruptedException {
        for (int i = 0; i < TIMEOUT_SECONDS; i++) {
            // what arrived before the end still counts
            boolean ended = gone.isDone();
            Byte next = arrived.poll(ended ? 0 : 1, TimeUnit.SECONDS);
            if (next != null) {
                return next;
            }
            if (ended) {
                throw new EOFException("the peer has ended the TCP connection");
            }
        }
        throw new IOException("the peer sent nothing for " + TIMEOUT_SECONDS + " seconds");
    }

    private void read() {
        ByteBuffer buffer = ByteBuffer.allocate(RcAddress.BYTES);
        try {
            while (channel.read(buffer) >= 0) {
                for (buffer.flip(); buffer.hasRemaining();) {
                    arrived.add(buffer.get());
                }
                buffer.clear();
            }
            gone.complete(null);
        } catch (IOException e) {
            // a reset by the peer, or a close by this side
            gone.complete(null);
        }
    }

    private static InterruptedException interrupted(ClosedByInterruptException cause) {
        Thread.interrupted();
        InterruptedException interrupted = new InterruptedException("interrupted on the TCP connection");
        interrupted.initCause(cause);
        return interrupted;
    }
}
