// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.SocketOptions;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.internal.nio.TimedServerSocketChannel;
import io.rdmacm.core.internal.nio.TimedSocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link ServerSocket} of the program stands on: one of the JDK; and if it is bound where clients may come over
 * RDMA, a server for those, and a thread for each of both, which hand over what they accept.
 */
final class PlainServer extends SocketImpl {
    private final Shared shared;
    private final PlatformSockets platform;
    private final Options options;
    @SuppressWarnings("NullAway.Init") // set by create
    private ServerSocket tcp;
    private @Nullable InetSocketAddress wanted;
    private volatile @Nullable TimedServerSocketChannel rdma;
    // Each of the two threads has accepted one more, at most, than the program has.
    private final BlockingQueue<Accepted> accepted = new LinkedBlockingQueue<>(1);
    private final List<Thread> threads = new ArrayList<>();
    private volatile int limit;
    private volatile boolean closed;

    PlainServer(Shared shared, PlatformSockets platform) {
        this.shared = shared;
        this.platform = platform;
        this.options = new Options(shared.tcpOptions());
    }

    /** What a thread has accepted, or why it has not. */
    private record Accepted(@Nullable Socket socket, @Nullable IOException failure) {
    }

    /** A server that accepts, until it returns null. */
    private interface Source {
        @Nullable Socket accept() throws IOException;
    }

    @Override
    protected void create(boolean stream) throws IOException {
        tcp = platform.server();
    }

    @Override
    protected void bind(InetAddress host, int port) {
        // Both listen at once: see below.
        wanted = new InetSocketAddress(host, port);
    }

    @Override
    protected void listen(int backlog) throws IOException {
        Listening listening = Listening.bind(wanted, backlog, shared.choice().toListen(wanted),
                new Listening.Sockets() {
                    @Override
                    public void bind(@Nullable SocketAddress local) throws IOException {
                        tcp.bind(local, backlog);
                    }

                    @Override
                    public @Nullable SocketAddress bound() {
                        return tcp.getLocalSocketAddress();
                    }

                    @Override
                    public TimedServerSocketChannel open() throws IOException {
                        return openRdma();
                    }
                });
        TimedServerSocketChannel serving = listening.rdma();
        InetSocketAddress local = Objects.requireNonNull((InetSocketAddress) (tcp.isBound() || serving == null
                ? tcp.getLocalSocketAddress() : serving.localAddress()));
        address = local.getAddress();
        localport = local.getPort();
        shared.connections().add(Connections.Kind.LISTEN, serving != null, local, null, listening.reason());
        if (serving != null) {
            rdma = serving;
            start(() -> {
                TimedSocketChannel channel = Listening.accept(serving, tcp.isBound());
                return channel == null ? null : PlainSocket.viewOf(channel);
            });
            if (tcp.isBound()) {
                // The time limit is that of the program's accept.
                tcp.setSoTimeout(0);
                start(tcp::accept);
            }
        }
    }

    private TimedServerSocketChannel openRdma() throws IOException {
        TimedServerSocketChannel server = (TimedServerSocketChannel) shared.rdma().openServerSocketChannel();
        options.applyTo(server);
        server.setOption(StandardSocketOptions.SO_REUSEADDR, tcp.getReuseAddress());
        return server;
    }

    private void start(Source source) {
        threads.add(Thread.ofPlatform().daemon().name("rdmacm-sockets accept " + localport).start(() -> pump(source)));
    }

    private void pump(Source source) {
        while (!closed) {
            Accepted next;
            try {
                Socket socket = source.accept();
                if (socket == null) {
                    return;
                }
                next = new Accepted(socket, null);
            } catch (IOException e) {
                next = new Accepted(null, PlainFailures.of(e, closed));
            }
            try {
                accepted.put(next);
            } catch (InterruptedException e) {
                // It was closed meanwhile.
                closeQuietly(next);
                return;
            }
        }
    }

    private static void closeQuietly(Accepted connection) {
        if (connection.socket() != null) {
            try {
                connection.socket().close();
            } catch (IOException e) {
                // Nobody knows of it.
                return;
            }
        }
    }

    @Override
    protected void accept(SocketImpl socket) throws IOException {
        if (!(socket instanceof PlainSocket ours)) {
            throw new SocketException("cannot accept a socket with an implementation of its own, a "
                    + socket.getClass().getName());
        }
        Socket next = rdma == null ? acceptTcp() : take();
        ours.accepted(next);
        shared.connections().add(Connections.Kind.ACCEPT, next.getChannel() != null, next.getLocalSocketAddress(),
                next.getRemoteSocketAddress(), "");
    }

    private Socket acceptTcp() throws IOException {
        try {
            return tcp.accept();
        } catch (SocketException e) {
            // That one closes itself when a virtual thread is interrupted. That of the program is to do so, too.
            throw tcp.isClosed() && !closed ? new InterruptedIOException(e.getMessage()) : e;
        }
    }

    private Socket take() throws IOException {
        int timeout = limit;
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeout);
        boolean interrupted = false;
        try {
            while (!closed) {
                try {
                    Accepted next = timeout == 0 ? accepted.take()
                            : accepted.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                    if (next == null) {
                        throw new SocketTimeoutException("Accept timed out");
                    }
                    if (closed) {
                        closeQuietly(next);
                        break;
                    }
                    if (next.socket() == null) {
                        throw next.failure();
                    }
                    return next.socket();
                } catch (InterruptedException e) {
                    // A platform thread learns it afterwards; for a virtual one, the caller closes the socket.
                    interrupted = true;
                    if (Thread.currentThread().isVirtual()) {
                        throw new InterruptedIOException("Closed by interrupt");
                    }
                }
            }
            // For the next thread that waits.
            boolean ignored = accepted.offer(new Accepted(null, new SocketException("Socket closed")));
            throw new SocketException("Socket closed");
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    @Override
    protected void close() throws IOException {
        closed = true;
        TimedServerSocketChannel serving = rdma;
        if (serving != null) {
            serving.close();
            threads.forEach(Thread::interrupt);
            Accepted waiting = accepted.poll();
            if (waiting != null) {
                closeQuietly(waiting);
            }
            boolean ignored = accepted.offer(new Accepted(null, new SocketException("Socket closed")));
        }
        if (tcp != null) {
            tcp.close();
        }
    }

    @Override
    public void setOption(int option, Object value) throws SocketException {
        switch (option) {
            case SocketOptions.SO_TIMEOUT -> {
                limit = (Integer) value;
                if (rdma == null) {
                    tcp.setSoTimeout(limit);
                }
            }
            case SocketOptions.SO_REUSEADDR -> tcp.setReuseAddress((Boolean) value);
            case SocketOptions.SO_RCVBUF -> {
                tcp.setReceiveBufferSize((Integer) value);
                options.put(StandardSocketOptions.SO_RCVBUF, value);
            }
            default -> throw new SocketException("no option " + option);
        }
    }

    @Override
    public Object getOption(int option) throws SocketException {
        return switch (option) {
            case SocketOptions.SO_TIMEOUT -> limit;
            case SocketOptions.SO_REUSEADDR -> tcp.getReuseAddress();
            case SocketOptions.SO_RCVBUF -> tcp.getReceiveBufferSize();
            case SocketOptions.SO_BINDADDR -> tcp.getInetAddress();
            default -> throw new SocketException("no option " + option);
        };
    }

    @Override
    protected <T> void setOption(SocketOption<T> name, T value) throws IOException {
        tcp.setOption(name, value);
        options.put(name, value);
    }

    @Override
    protected <T> T getOption(SocketOption<T> name) throws IOException {
        return tcp.getOption(name);
    }

    @Override
    protected Set<SocketOption<?>> supportedOptions() {
        return tcp.supportedOptions();
    }

    @Override
    protected void connect(String host, int port) throws IOException {
        throw new SocketException("a ServerSocket does not connect");
    }

    @Override
    protected void connect(InetAddress host, int port) throws IOException {
        throw new SocketException("a ServerSocket does not connect");
    }

    @Override
    protected void connect(SocketAddress remote, int timeout) throws IOException {
        throw new SocketException("a ServerSocket does not connect");
    }

    @Override
    protected InputStream getInputStream() throws IOException {
        throw new SocketException("a ServerSocket has no data");
    }

    @Override
    protected OutputStream getOutputStream() throws IOException {
        throw new SocketException("a ServerSocket has no data");
    }

    @Override
    protected int available() {
        return 0;
    }

    @Override
    protected void sendUrgentData(int data) throws IOException {
        throw new SocketException("a ServerSocket has no data");
    }
}
