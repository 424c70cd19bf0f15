// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.doctor;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Listener;
import io.rdmacm.core.connection.Message;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.work.AccessFlag;

/** A connection of a device with itself, both ends in one thread, and what it measures. */
final class Loopback {
    /** The bytes of a message, and of a write. */
    static final int MESSAGE = 64;
    static final int WRITE = 1 << 16;

    private static final int COUNT = 1000;
    private static final int WRITES_AT_ONCE = 16;
    private static final Duration TIMEOUT = Duration.ofMinutes(1);

    private final Connection client;
    private final Connection server;

    private Loopback(Connection client, Connection server) {
        this.client = client;
        this.server = server;
    }

    /**
     * What was measured.
     *
     * @param device the device that the address has led to
     * @param latencyMicros half the median of the round trips
     * @param gigabits a second, of all writes
     */
    record Result(String device, double latencyMicros, double gigabits) {
    }

    /** Measures a connection to an address of this machine from there. */
    static Result measure(InetAddress address) throws IOException, InterruptedException {
        try (ConnectionManager manager = ConnectionManager.open();
                Listener listener = manager.listen(new InetSocketAddress(address, 0))) {
            CompletableFuture<Connection> connecting = manager.connectAsync(listener.address(),
                    ConnectionSettings.defaults(), TIMEOUT);
            try (Connection server = listener.accept(TIMEOUT); Connection client = await(connecting)) {
                Loopback loopback = new Loopback(client, server);
                return new Result(client.queuePair().context().deviceName(), loopback.latency(), loopback.bandwidth());
            }
        }
    }

    private double latency() throws IOException, InterruptedException {
        byte[] data = new byte[MESSAGE];
        long[] nanos = new long[COUNT];
        for (int i = 0; i < COUNT; i++) {
            long start = System.nanoTime();
            Arrays.fill(data, (byte) i);
            client.send(data, TIMEOUT);
            try (Message there = server.receive(TIMEOUT)) {
                server.send(there.memory(), TIMEOUT);
            }
            try (Message back = client.receive(TIMEOUT)) {
                nanos[i] = System.nanoTime() - start;
                requireSame(Arrays.equals(data, back.toArray()), "message " + i + " came back different");
            }
        }
        Arrays.sort(nanos);
        return nanos[COUNT / 2] / 2000.0;
    }

    private double bandwidth() throws IOException, InterruptedException {
        try (Arena arena = Arena.ofShared();
                MemoryRegion from = client.protectionDomain().register(arena.allocate(WRITE), AccessFlag.LOCAL_WRITE);
                MemoryRegion to = server.protectionDomain().register(arena.allocate(WRITE), AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_WRITE)) {
            from.memory().fill((byte) 42);
            Deque<CompletableFuture<Void>> writes = new ArrayDeque<>();
            // The first half is compiled as it runs.
            long start = 0;
            for (int i = 0; i < 2 * COUNT; i++) {
                if (i == COUNT) {
                    start = System.nanoTime();
                }
                if (writes.size() == WRITES_AT_ONCE) {
                    await(writes.remove());
                }
                writes.add(client.async().write(from, 0, WRITE, to.remoteMemory()));
            }
            while (!writes.isEmpty()) {
                await(writes.remove());
            }
            long nanos = System.nanoTime() - start;
            requireSame(MemorySegment.mismatch(from.memory(), 0, WRITE, to.memory(), 0, WRITE) < 0,
                    "what was written is not what arrived");
            return Math.round(COUNT * (double) WRITE * Byte.SIZE / nanos * 100) / 100.0;
        }
    }

    private static void requireSame(boolean same, String message) throws IOException {
        if (!same) {
            throw new IOException(message);
        }
    }

    private static <T> T await(CompletableFuture<T> future) throws IOException, InterruptedException {
        try {
            return future.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException reason ? reason : new IOException(e.getCause());
        } catch (TimeoutException e) {
            throw new IOException("no answer within " + TIMEOUT.toSeconds() + " s", e);
        }
    }
}
