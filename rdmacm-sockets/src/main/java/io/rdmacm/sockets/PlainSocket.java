// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import io.rdmacm.core.internal.nio.TimedSocketChannel;
import io.rdmacm.verbs.internal.wait.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link Socket} of the program stands on: one of the JDK, which keeps its options and its address until it is
 * connected, or one over RDMA.
 */
final class PlainSocket extends SocketImpl {
    private static final String SILENT = "no answer over RDMA";

    private final Shared shared;
    private final PlatformSockets platform;
    // Of the program, for a socket over RDMA: by number, guarded by this, and by name.
    private final Map<Integer, Object> numbered = new LinkedHashMap<>();
    private final Options options;
    private boolean closed;
    @SuppressWarnings("NullAway.Init") // set by create
    private volatile Socket actual;
    private volatile @Nullable Race race;

    PlainSocket(Shared shared, PlatformSockets platform) {
        this.shared = shared;
        this.platform = platform;
        this.options = new Options(shared.tcpOptions());
    }

    @Override
    protected void create(boolean stream) throws IOException {
        if (!stream) {
            throw new SocketException("datagrams are not for a Socket");
        }
        actual = platform.socket();
    }

    /** Makes it the end of a connection that a server has accepted. */
    void accepted(Socket socket) {
        become(socket);
    }

    private void become(Socket socket) {
        actual = socket;
        address = socket.getInetAddress();
        port = socket.getPort();
        localport = socket.getLocalPort();
    }

    @Override
    protected void connect(String host, int port) throws IOException {
        connect(new InetSocketAddress(host, port), 0);
    }

    @Override
    protected void connect(InetAddress address, int port) throws IOException {
        connect(new InetSocketAddress(address, port), 0);
    }

    @Override
    protected void connect(SocketAddress remote, int timeout) throws IOException {
        Deadline deadline = Deadline.after(timeout == 0 ? Deadline.FOREVER : Duration.ofMillis(timeout));
        Choice.Decision decision = shared.choice().toConnect(remote);
        String reason = decision.reason();
        try {
            if (!decision.isTcp()) {
                reason = connect((InetSocketAddress) remote, deadline, decision);
            } else {
                actual.connect(remote, timeout);
            }
        } catch (ClosedChannelException e) {
            boolean byProgram = isClosed();
            close();
            throw PlainFailures.of(e, byProgram);
        } catch (IOException e) {
            close();
            throw e;
        }
        become(actual);
        shared.connections().add(Connections.Kind.CONNECT, actual.getChannel() != null,
                actual.getLocalSocketAddress(), actual.getRemoteSocketAddress(), reason);
    }

    /** Connects over RDMA, or over TCP if that fails or nothing answers; returns why it is what it is. */
    private String connect(InetSocketAddress remote, Deadline deadline, Choice.Decision decision)
            throws IOException {
        Socket tcp = actual;
        Race started;
        try {
            started = begin(remote, tcp);
        } catch (IOException | RuntimeException | LinkageError e) {
            // Whatever it is: over TCP, the program has never heard of it.
            if (decision.isRdmaOnly()) {
                throw e;
            }
            String reason = "RDMA failed: " + e.getMessage();
            shared.choice().failed(remote, reason);
            tcp.connect(remote, milliseconds(deadline));
            return reason;
        }
        Race.@Nullable Outcome outcome = await(started, decision.isRdmaOnly() ? deadline.remaining()
                : shared.choice().beside(deadline.remaining()));
        if (outcome == null && decision.isRdmaOnly()) {
            throw new SocketTimeoutException("Connect timed out");
        }
        if (outcome == null || outcome.winner() == null && !decision.isRdmaOnly()) {
            return connectBeside(started, tcp, remote, deadline);
        }
        take(outcome, tcp);
        return decision.reason();
    }

    private Race begin(InetSocketAddress remote, Socket tcp) throws IOException {
        SocketChannel rdma = shared.rdma().openSocketChannel();
        boolean begun = false;
        try {
            applyOptions(rdma);
            rdma.configureBlocking(false);
            if (tcp.isBound()) {
                rdma.bind(tcp.getLocalSocketAddress());
            }
            boolean ignored = rdma.connect(remote);
            // When RDMA wins while this thread waits for TCP, that has to end.
            Race started = new Race(remote, rdma, null, shared.choice(), Deadline.FOREVER,
                    () -> closeLoser(tcp));
            race = started;
            shared.connector().begin(started);
            begun = true;
            if (isClosed()) {
                started.abandon();
            }
            return started;
        } finally {
            if (!begun) {
                rdma.close();
            }
        }
    }

    private void closeLoser(Socket tcp) {
        Race running = race;
        Race.Outcome outcome = running == null ? null : running.outcome();
        if (outcome != null && outcome.winner() != null) {
            try {
                tcp.close();
            } catch (IOException e) {
                // The connection is there all the same.
                return;
            }
        }
    }

    /** Connects over TCP, beside RDMA if that is still in progress. */
    private String connectBeside(Race started, Socket tcp, InetSocketAddress remote, Deadline deadline)
            throws IOException {
        boolean failed = started.outcome() != null;
        try {
            tcp.connect(remote, milliseconds(deadline));
        } catch (IOException e) {
            // Closed, because RDMA has won; or refused, and then to wait for the other answer is of no use.
            Race.@Nullable Outcome outcome = started.outcome();
            if (outcome != null && outcome.winner() != null) {
                take(outcome, tcp);
                return "TCP failed";
            }
            if (!failed) {
                shared.choice().failed(remote, SILENT);
            }
            throw e;
        }
        if (failed) {
            String reason = "RDMA failed: " + started.failure();
            shared.choice().failed(remote, reason);
            return reason;
        }
        if (!started.abandon()) {
            Race.Outcome outcome = Objects.requireNonNull(started.outcome());
            if (outcome.winner() != null) {
                take(outcome, tcp);
                return "";
            }
        }
        shared.connector().forget(started);
        shared.choice().failed(remote, SILENT);
        return SILENT;
    }

    private static int milliseconds(Deadline deadline) throws SocketTimeoutException {
        Duration left = deadline.remaining();
        if (deadline.hasPassed()) {
            throw new SocketTimeoutException("Connect timed out");
        }
        return left.compareTo(Duration.ofMillis(Integer.MAX_VALUE)) > 0 ? 0 : (int) Math.max(left.toMillis(), 1);
    }

    /**
     * Waits for RDMA. As with sockets of the JDK, a platform thread that is interrupted learns it afterwards, and the
     * interrupt of a virtual one closes the socket.
     */
    private static Race.@Nullable Outcome await(Race race, Duration timeout) throws SocketException {
        Deadline deadline = Deadline.after(timeout);
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return race.await(deadline.remaining());
                } catch (InterruptedException e) {
                    interrupted = true;
                    if (Thread.currentThread().isVirtual()) {
                        throw new SocketException("Closed by interrupt");
                    }
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void take(Race.Outcome outcome, Socket tcp) throws IOException {
        if (outcome.failure() != null) {
            throw outcome.failure();
        }
        TimedSocketChannel rdma = (TimedSocketChannel) Objects.requireNonNull(outcome.winner());
        tcp.close();
        Socket view = viewOf(rdma);
        synchronized (this) {
            // Those that were set while it connected.
            applyOptions(rdma);
            actual = view;
            if (closed) {
                view.close();
                throw new SocketException("Socket closed");
            }
        }
    }

    private synchronized void applyOptions(SocketChannel rdma) {
        options.applyTo(rdma);
        numbered.forEach((option, value) -> set(rdma.socket(), option, value));
    }

    /** Returns a channel over RDMA as a socket, whose threads are not interrupted. */
    static Socket viewOf(TimedSocketChannel rdma) throws IOException {
        rdma.configureBlocking(true);
        rdma.ignoreInterrupts();
        return rdma.socket();
    }

    private static void set(Socket view, int option, Object value) {
        try {
            PlainOptions.set(view, option, value);
        } catch (IOException | RuntimeException e) {
            // A hint that cannot be followed.
            return;
        }
    }

    @Override
    protected void bind(InetAddress host, int port) throws IOException {
        actual.bind(new InetSocketAddress(host, port));
        localport = actual.getLocalPort();
    }

    @Override
    protected void listen(int backlog) throws IOException {
        throw new SocketException("a Socket does not listen");
    }

    @Override
    protected void accept(SocketImpl socket) throws IOException {
        throw new SocketException("a Socket does not accept");
    }

    @Override
    protected InputStream getInputStream() throws IOException {
        Socket open = actual;
        return open.getChannel() == null ? platform.input(open) : new PlainFailures.Input(open);
    }

    @Override
    protected OutputStream getOutputStream() throws IOException {
        Socket open = actual;
        return open.getChannel() == null ? platform.output(open) : new PlainFailures.Output(open);
    }

    @Override
    protected int available() throws IOException {
        return getInputStream().available();
    }

    @Override
    protected void close() throws IOException {
        Socket open;
        synchronized (this) {
            closed = true;
            open = actual;
        }
        Race running = race;
        if (running != null && running.abandon()) {
            shared.connector().forget(running);
        }
        if (open != null) {
            open.close();
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    @Override
    protected void shutdownInput() throws IOException {
        Socket open = actual;
        PlainFailures.as(open, () -> {
            open.shutdownInput();
            return null;
        });
    }

    @Override
    protected void shutdownOutput() throws IOException {
        Socket open = actual;
        PlainFailures.as(open, () -> {
            open.shutdownOutput();
            return null;
        });
    }

    @Override
    protected boolean supportsUrgentData() {
        return actual.getChannel() == null;
    }

    @Override
    protected void sendUrgentData(int data) throws IOException {
        actual.sendUrgentData(data);
    }

    @Override
    public void setOption(int option, Object value) throws SocketException {
        PlainOptions.set(actual, option, value);
        synchronized (this) {
            numbered.put(option, value);
        }
    }

    @Override
    public Object getOption(int option) throws SocketException {
        return PlainOptions.get(actual, option);
    }

    @Override
    protected <T> void setOption(SocketOption<T> name, T value) throws IOException {
        Socket open = actual;
        if (open.getChannel() != null) {
            PlainFailures.as(open, () -> {
                options.set(open.getChannel(), name, value);
                return null;
            });
        } else {
            open.setOption(name, value);
            options.put(name, value);
        }
    }

    @Override
    protected <T> T getOption(SocketOption<T> name) throws IOException {
        Socket open = actual;
        return open.getChannel() == null ? open.getOption(name)
                : PlainFailures.as(open, () -> options.get(open.getChannel(), name));
    }

    @Override
    protected Set<SocketOption<?>> supportedOptions() {
        return actual.getChannel() != null ? shared.tcpOptions().keySet() : actual.supportedOptions();
    }
}
