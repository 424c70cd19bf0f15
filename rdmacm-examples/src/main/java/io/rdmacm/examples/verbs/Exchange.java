// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The exchange of addresses between the two sides of a ping-pong, over TCP. The client sends its own first; the server
 * connects its queue pairs and answers; then the client connects its own and confirms.
 *
 * @param options the options, with the server's address
 * @param places how many destinations each side sends; the unused ones are zero
 */
record Exchange(PingPongOptions options, int places) {
    private static final String DONE = "done\0";

    /** Moves the queue pairs to a state in which they can receive. */
    @FunctionalInterface
    interface Connect {
        void to(List<Destination> peer) throws IOException;
    }

    /**
     * Runs the exchange, prints the addresses, and returns when both sides are connected.
     *
     * @return the addresses of the peer, as many as {@code own}
     */
    List<Destination> run(List<Destination> own, Connect connect) throws IOException, InterruptedException {
        own.forEach(destination -> options.print("  local address:  " + destination));
        try {
            List<Destination> theirs = options.isClient() ? call(own, connect) : answer(own, connect);
            theirs.forEach(destination -> options.print("  remote address: " + destination));
            return theirs;
        } catch (ClosedByInterruptException e) {
            throw new InterruptedException();
        } catch (SocketTimeoutException e) {
            throw new IOException("no answer from the peer within " + options.timeout().toSeconds() + " seconds", e);
        } catch (EOFException e) {
            throw new IOException("the peer closed the connection before it sent its whole address", e);
        }
    }

    private List<Destination> call(List<Destination> own, Connect connect) throws IOException {
        try (SocketChannel peer = dial()) {
            send(peer, own);
            List<Destination> theirs = receive(peer, own.size());
            connect.to(theirs);
            write(peer, DONE);
            return theirs;
        }
    }

    private List<Destination> answer(List<Destination> own, Connect connect) throws IOException {
        try (SocketChannel peer = awaitCall()) {
            List<Destination> theirs = receive(peer, own.size());
            connect.to(theirs);
            send(peer, own);
            read(peer, DONE.length());
            return theirs;
        }
    }

    /** Connects to the server, trying all its addresses. */
    private SocketChannel dial() throws IOException {
        String place = options.host() + ":" + options.port();
        IOException failure = new UnknownHostException("unknown host");
        for (InetAddress address : addresses(place)) {
            SocketChannel peer = SocketChannel.open();
            try {
                peer.socket().connect(new InetSocketAddress(address, options.port()), options.timeoutMillis());
                return peer;
            } catch (ClosedByInterruptException e) {
                throw e;
            } catch (IOException e) {
                peer.close();
                failure = e;
            }
        }
        throw new IOException("Couldn't connect to " + place + ": " + failure.getMessage(), failure);
    }

    private InetAddress[] addresses(String place) throws IOException {
        try {
            return InetAddress.getAllByName(options.host());
        } catch (UnknownHostException e) {
            throw new IOException("Couldn't connect to " + place + ": there is no such host", e);
        }
    }

    /** Waits for the client. */
    private SocketChannel awaitCall() throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open()) {
            server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            try {
                server.bind(new InetSocketAddress(options.port()), 1);
            } catch (IOException e) {
                throw new IOException("Couldn't listen to port " + options.port() + ": " + e.getMessage(), e);
            }
            if (options.port() == 0) {
                options.print("  listening on port " + server.socket().getLocalPort());
            }
            return server.accept();
        }
    }

    private void send(SocketChannel peer, List<Destination> own) throws IOException {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < places; i++) {
            text.append((i < own.size() ? own.get(i) : Destination.NONE).toText());
        }
        write(peer, text.toString());
    }

    private List<Destination> receive(SocketChannel peer, int used) throws IOException {
        List<Destination> theirs = new ArrayList<>();
        for (int i = 0; i < places; i++) {
            Destination destination = Destination.of(read(peer, Destination.BYTES));
            if (i < used) {
                theirs.add(destination);
            }
        }
        return theirs;
    }

    private static void write(SocketChannel peer, String text) throws IOException {
        peer.socket().getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
    }

    private String read(SocketChannel peer, int length) throws IOException {
        peer.socket().setSoTimeout(options.timeoutMillis());
        InputStream input = peer.socket().getInputStream();
        byte[] text = input.readNBytes(length);
        if (text.length < length) {
            throw new EOFException();
        }
        return new String(text, StandardCharsets.US_ASCII);
    }
}
