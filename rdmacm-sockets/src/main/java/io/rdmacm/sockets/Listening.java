// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.Objects;

import io.rdmacm.core.internal.nio.TimedServerSocketChannel;
import io.rdmacm.core.internal.nio.TimedSocketChannel;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * A server over RDMA beside one over TCP, under the same port.
 *
 * @param rdma the server over RDMA, null if there is none
 * @param reason why
 */
record Listening(@Nullable TimedServerSocketChannel rdma, String reason) {
    private static final int MOST_TRIES = 20;

    /** The server over TCP, and what that over RDMA is like. */
    interface Sockets {
        /** Binds the server over TCP. */
        void bind(@Nullable SocketAddress local) throws IOException;

        /** Returns what it is bound to. */
        @Nullable SocketAddress bound() throws IOException;

        /** Opens the server over RDMA, with the options of the program. */
        TimedServerSocketChannel open() throws IOException;
    }

    /** Binds both, or one of them, as was chosen. */
    static Listening bind(@Nullable SocketAddress local, int backlog, Choice.Decision decision, Sockets sockets)
            throws IOException {
        if (decision.isTcp()) {
            sockets.bind(local);
            return new Listening(null, decision.reason());
        }
        InetSocketAddress wanted = local == null ? new InetSocketAddress(0) : (InetSocketAddress) local;
        if (decision.isRdmaOnly()) {
            return new Listening(listen(wanted, backlog, sockets), decision.reason());
        }
        return wanted.getPort() == 0 ? bindAnyPort(local, wanted, backlog, decision, sockets)
                : bindPort(wanted, backlog, decision, sockets);
    }

    /**
     * RDMA first: a client that is there already would be refused over RDMA but not over TCP, and stay with TCP as long
     * as its connection lasts.
     */
    private static Listening bindPort(InetSocketAddress wanted, int backlog, Choice.Decision decision,
            Sockets sockets) throws IOException {
        TimedServerSocketChannel rdma;
        try {
            rdma = listen(wanted, backlog, sockets);
        } catch (IOException | RuntimeException | LinkageError e) {
            sockets.bind(wanted);
            return new Listening(null, "RDMA failed: " + e.getMessage());
        }
        try {
            sockets.bind(wanted);
            return new Listening(rdma, decision.reason());
        } catch (IOException | RuntimeException e) {
            rdma.close();
            if (!(e instanceof BindException) || sockets.bound() != null) {
                throw e;
            }
        }
        // Perhaps RDMA had taken it from TCP, as on iWARP.
        sockets.bind(wanted);
        return new Listening(null, "the port is not free for both");
    }

    /** The ports of TCP and RDMA are two kinds, so the number of a free one may be taken among the others. */
    private static Listening bindAnyPort(@Nullable SocketAddress local, InetSocketAddress wanted, int backlog,
            Choice.Decision decision, Sockets sockets) throws IOException {
        String reason = "no port that is free for both";
        for (int tries = 0; tries < MOST_TRIES; tries++) {
            TimedServerSocketChannel rdma;
            try {
                rdma = listen(wanted, backlog, sockets);
            } catch (IOException | RuntimeException | LinkageError e) {
                reason = "RDMA failed: " + e.getMessage();
                break;
            }
            boolean bound = false;
            try {
                sockets.bind(new InetSocketAddress(wanted.getAddress(),
                        Objects.requireNonNull(rdma.localAddress()).getPort()));
                bound = true;
                return new Listening(rdma, decision.reason());
            } catch (BindException e) {
                if (sockets.bound() != null) {
                    throw e;
                }
            } finally {
                if (!bound) {
                    rdma.close();
                }
            }
        }
        sockets.bind(local);
        return new Listening(null, reason);
    }

    private static TimedServerSocketChannel listen(InetSocketAddress local, int backlog, Sockets sockets)
            throws IOException {
        TimedServerSocketChannel rdma = sockets.open();
        boolean bound = false;
        try {
            rdma.bind(local, backlog);
            bound = true;
            return rdma;
        } finally {
            if (!bound) {
                rdma.close();
            }
        }
    }

    /**
     * Accepts over RDMA. Beside TCP, what fails is only said, for its client comes over TCP; and a server over RDMA
     * that has failed for good is closed.
     *
     * @return null if there is none now, or none any more
     */
    static @Nullable TimedSocketChannel accept(TimedServerSocketChannel rdma, boolean besideTcp) throws IOException {
        if (!besideTcp) {
            return (TimedSocketChannel) rdma.accept();
        }
        IOException last = null;
        boolean over = false;
        while (rdma.isOpen()) {
            try {
                if (!over) {
                    return (TimedSocketChannel) rdma.accept();
                }
                rdma.close();
            } catch (ClosedChannelException e) {
                return null;
            } catch (IOException e) {
                // Those that pass come once each.
                over = e == last;
                Installation.say(Level.WARN, over ? "listens over TCP alone at " + rdma.localAddress()
                        : "cannot accept over RDMA at " + rdma.localAddress() + ": " + e.getMessage());
                last = e;
            }
        }
        return null;
    }
}
