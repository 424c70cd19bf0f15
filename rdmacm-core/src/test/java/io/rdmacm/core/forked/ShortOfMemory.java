// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.forked;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionHandler;
import io.rdmacm.core.connection.ConnectionLoopGroup;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.LoopSettings;
import io.rdmacm.core.connection.Message;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.testing.CSocket;
import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.ResourceCounts;

/** A program whose memory is used up while it has connections, and then not any more. Prints "fine" at the end. */
public final class ShortOfMemory {
    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final int ROUNDS = 2;
    private static final int LARGE = 1 << 16;

    private ShortOfMemory() {
    }

    /** The arguments: which memory and what uses it, and an address of this machine. */
    public static void main(String[] args) throws Exception {
        InetSocketAddress any = new InetSocketAddress(InetAddress.ofLiteral(args[1]), 0);
        // What is opened and kept once.
        run("warm up", any);
        ResourceCounts before = ResourceCounts.settled(TIMEOUT);
        long pinned = pinned();
        run(args[0], any);
        expectEqual(ResourceCounts.await(before, TIMEOUT), before);
        expectEqual(pinned(), pinned);
        System.out.println("fine");
    }

    private static void run(String what, InetSocketAddress any) throws Exception {
        System.out.println(what);
        switch (what) {
            case "warm up" -> {
                connections(any, false, false);
                streams(any, false);
            }
            case "direct, connections" -> connections(any, true, false);
            case "direct, shared receives" -> connections(any, true, true);
            case "direct, streams" -> streams(any, true);
            case "heap" -> heap(any);
            default -> throw new IllegalArgumentException(what);
        }
    }

    /** All direct memory, but less than anything needs. */
    private static final class Fillers {
        private static final int MOST = 1 << 20;
        private static final int LEAST = 1 << 8;

        private final List<ByteBuffer> buffers = new ArrayList<>();

        void fill() {
            int size = MOST;
            while (size >= LEAST) {
                try {
                    buffers.add(ByteBuffer.allocateDirect(size));
                } catch (OutOfMemoryError e) {
                    size /= 16;
                }
            }
        }

        /** The garbage collector does the rest, when memory is needed. */
        void free() {
            buffers.clear();
        }
    }

    /** Something that must be refused. */
    @FunctionalInterface
    private interface Attempt {
        AutoCloseable make() throws Exception;
    }

    private static void refused(Attempt attempt) throws Exception {
        try {
            attempt.make().close();
        } catch (RdmaException e) {
            System.out.println("refused: " + e);
            return;
        }
        throw new AssertionError("it was not refused");
    }

    private static void assertNothing(Optional<?> event) {
        if (event.isPresent()) {
            throw new AssertionError(event.get() + " was not expected");
        }
    }

    /** The memory that the kernel has pinned for this process, as the status of the process says it. */
    private static long pinned() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream().filter(line -> line.startsWith("VmPin"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", ""))).sum();
    }

    private static void connections(InetSocketAddress any, boolean full, boolean shared) throws Exception {
        Fillers fillers = new Fillers();
        try (ConnectionManager servers = ConnectionManager.open(); ConnectionManager clients = ConnectionManager.open();
                EventChannel channel = EventChannel.open()) {
            ConnectionLoopGroup loops = servers.startLoops(shared
                    ? LoopSettings.builder().sharedReceives(8, LARGE).build() : LoopSettings.defaults());
            ConnectionSettings settings = ConnectionSettings.builder().loops(loops).messageSize(LARGE).build();
            Listener listener = servers.listen(any, 8, settings);
            Listener handled = servers.listen(any, 8, ConnectionSettings.builder().loops(loops).messageSize(LARGE)
                    .handler(new Echo()).build());
            handled.acceptAll();
            Connection client = clients.connect(handled.address(), TIMEOUT);
            ping(client);
            List<End> peers = new ArrayList<>();
            for (int i = 0; i < 2 * ROUNDS; i++) {
                peers.add(new End(Loopback.resolved(channel, i < ROUNDS ? listener.address() : handled.address())));
            }
            if (full) {
                // The first sleep on a channel takes memory; whether there was one so far is a matter of luck.
                assertNothing(channel.pollEvent(Duration.ofMillis(1)));
                fillers.fill();
                for (int i = 0; i < 2 * ROUNDS; i++) {
                    peers.get(i).id.connect(ConnectionParameters.defaults());
                    if (i < ROUNDS) {
                        refused(() -> listener.accept(TIMEOUT));
                    }
                    channel.getEvent(TIMEOUT).close();
                    ping(client);
                }
                for (int i = 0; i < ROUNDS; i++) {
                    refused(() -> clients.connect(handled.address(),
                            ConnectionSettings.builder().messageSize(LARGE).build(), TIMEOUT));
                    ping(client);
                }
                fillers.free();
            }
            for (End peer : peers) {
                peer.close();
            }
            ping(client);
            try (Connection later = clients.connect(handled.address(), TIMEOUT)) {
                ping(later);
            }
            CompletableFuture<Connection> connecting = clients.connectAsync(listener.address(),
                    ConnectionSettings.defaults(), TIMEOUT);
            listener.accept(TIMEOUT).close();
            connecting.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS).close();
        }
    }

    /** Sends messages back. */
    private static class Echo implements ConnectionHandler {
        @Override
        public void onMessage(Connection connection, Message message) throws Exception {
            expectEqual(connection.queue().send(message.memory()), true);
        }
    }

    private static void ping(Connection connection) throws Exception {
        for (int i = 1; i < 20; i++) {
            connection.send(new byte[i], TIMEOUT);
            try (Message message = connection.receive(TIMEOUT)) {
                expectEqual(message.length(), i);
            }
        }
    }

    private static void streams(InetSocketAddress any, boolean full) throws Exception {
        Fillers fillers = new Fillers();
        try (RdmaStreamServer server = RdmaStreamServer.listen(any);
                RdmaStream client = RdmaStream.connect(server.localAddress(), TIMEOUT);
                RdmaStream accepted = server.accept(TIMEOUT)) {
            ping(client, accepted);
            // C keeps some files from the first connect on.
            try (CSocket peer = CSocket.open()) {
                peer.connect(server.localAddress());
                expectEqual(peer.finishConnect(), 0);
                server.accept(TIMEOUT).close();
            }
            if (full) {
                fillers.fill();
                for (int i = 0; i < ROUNDS; i++) {
                    // Its memory is that of C.
                    try (CSocket peer = CSocket.open()) {
                        peer.connect(server.localAddress());
                        refused(() -> server.accept(TIMEOUT));
                        expectEqual(peer.finishConnect(), Rdma.ECONNREFUSED());
                    }
                    refused(() -> RdmaStream.connect(server.localAddress(), TIMEOUT));
                    ping(client, accepted);
                }
                fillers.free();
            }
            ping(client, accepted);
            try (RdmaStream later = RdmaStream.connect(server.localAddress(), TIMEOUT);
                    RdmaStream laterAccepted = server.accept(TIMEOUT)) {
                ping(later, laterAccepted);
            }
        }
    }

    private static void ping(RdmaStream from, RdmaStream to) throws Exception {
        for (int i = 1; i < 20; i++) {
            from.write(ByteBuffer.wrap(new byte[i]), TIMEOUT);
            ByteBuffer target = ByteBuffer.allocate(i);
            while (target.hasRemaining()) {
                to.read(target, TIMEOUT);
            }
        }
    }

    /** One connection keeps what it gets until there is no memory any more; the others go on. */
    private static void heap(InetSocketAddress any) throws Exception {
        BlockingQueue<RdmaException> ends = new LinkedBlockingQueue<>();
        Map<Connection, List<byte[]>> kept = new ConcurrentHashMap<>();
        Echo hoarding = new Echo() {
            @Override
            public void onMessage(Connection connection, Message message) throws Exception {
                if (message.length() == 0) {
                    List<byte[]> mine = new ArrayList<>();
                    kept.put(connection, mine);
                    for (int size = 1 << 20; size >= 1 << 10; ) {
                        try {
                            mine.add(new byte[size]);
                        } catch (OutOfMemoryError e) {
                            if (size == 1 << 10) {
                                throw e;
                            }
                            size /= 4;
                        }
                    }
                }
                super.onMessage(connection, message);
            }

            @Override
            public void onDisconnect(Connection connection, RdmaException reason) throws Exception {
                kept.remove(connection);
                connection.close();
                ends.add(reason);
            }
        };
        for (boolean loop : new boolean[] {true, false}) {
            try (ConnectionManager servers = ConnectionManager.open();
                    ConnectionManager clients = ConnectionManager.open()) {
                Listener listener = servers.listen(any, 8, ConnectionSettings.builder().handler(hoarding)
                        .loops(loop ? servers.startLoops(LoopSettings.defaults()) : null).build());
                listener.acceptAll();
                Connection client = clients.connect(listener.address(), TIMEOUT);
                for (int i = 0; i < ROUNDS; i++) {
                    ping(client);
                    try (Connection greedy = clients.connect(listener.address(), TIMEOUT)) {
                        greedy.send(MemorySegment.NULL, TIMEOUT);
                        RdmaException reason = ends.poll(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
                        if (reason == null || !(reason.getCause() instanceof OutOfMemoryError)) {
                            throw new AssertionError("ended by " + reason, reason);
                        }
                    }
                    ping(client);
                }
            }
            ends.clear();
        }
    }

    private static void expectEqual(Object actual, Object expected) {
        if (!actual.equals(expected)) {
            throw new AssertionError(actual + " instead of " + expected);
        }
    }
}
