// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.Locale;

import io.rdmacm.bench.device.machine.Usage;
import io.rdmacm.bench.report.Result;
import io.rdmacm.core.stream.StreamSettings;

/**
 * What many channels in one process take, and how long it takes to open and to close them. The process has both ends
 * of each connection, and both count: 10,000 channels are 5,000 connections. A message of 64 B goes over each and back.
 *
 * <pre>ManyStreams WAY small|default CHANNELS [THREADS]</pre>
 *
 * <p>The ways are those of {@link StreamWay} that Netty and NIO have; {@code small} stands for the smallest buffers and
 * queues.
 */
public final class ManyStreams {
    /** The line above the results. */
    private static final String HEAD = "| way | buffers | channels | heap, B each | resident, KiB each"
            + " | pinned, KiB each | files, each | threads | open, s | close, s |\n"
            + "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|";
    // opened before it counts, and kept: what all share, and code
    private static final int FIRST = 16;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double KIB = 1024;
    private static final long LONGEST_NANOS = 300_000_000_000L;
    // What has not changed for so long will not be freed.
    private static final long QUIET_NANOS = 3_000_000_000L;

    private ManyStreams() {
    }

    /**
     * Runs one measurement, and prints a row of a table.
     *
     * @param args see the class
     * @throws Exception if not even the first channels could be opened
     */
    public static void main(String[] args) throws Exception {
        List<String> words = List.of(args);
        if (words.size() < 3 || words.get(0).equals("engine")) {
            System.err.println("ManyStreams WAY small|default CHANNELS [THREADS]");
            System.exit(2);
        }
        StreamWay way = StreamWay.valueOf(words.get(0).toUpperCase(Locale.ROOT).replace(' ', '_'));
        int threads = words.size() > 3 ? Integer.parseInt(words.get(3)) : 1;
        StreamSettings settings = words.get(1).equals("small") ? small() : StreamSettings.defaults();
        System.out.println(HEAD);
        try (OpenStreams streams = open(way, settings, threads)) {
            measure(streams, Result.word(way) + " | " + words.get(1), Integer.parseInt(words.get(2)) / 2);
        }
    }

    private static StreamSettings small() {
        return StreamSettings.builder().sendBufferSize(StreamSettings.MIN_BUFFER_SIZE)
                .receiveBufferSize(StreamSettings.MIN_BUFFER_SIZE).sendQueueSize(StreamSettings.MIN_QUEUE_SIZE)
                .receiveQueueSize(StreamSettings.MIN_QUEUE_SIZE).build();
    }

    private static OpenStreams open(StreamWay way, StreamSettings settings, int threads) throws IOException {
        SelectorProvider nio = way.nio(settings);
        return nio != null ? new OpenNioStreams(nio) : new OpenNettyStreams(way.netty(settings), threads);
    }

    private static void measure(OpenStreams streams, String name, int connections)
            throws IOException, InterruptedException {
        streams.open(FIRST);
        Usage before = Usage.now();
        long begin = System.nanoTime();
        streams.open(connections);
        double setUp = (System.nanoTime() - begin) / NANOS_PER_SECOND;
        int channels = 2 * connections;
        Usage used = Usage.now().minus(before);
        begin = System.nanoTime();
        streams.closeAllBut(FIRST);
        double close = (awaitFreed() - begin) / NANOS_PER_SECOND;
        System.out.printf(Locale.ROOT, "| %s | %d | %.0f | %.1f | %.1f | %.1f | %d | %.2f | %.2f |%n", name, channels,
                (double) used.heap() / channels, used.resident() / KIB / channels, used.registered() / KIB / channels,
                (double) used.files() / channels, used.threads(), setUp, close);
    }

    /** Waits until nothing is freed any more; returns the time of the last change. */
    private static long awaitFreed() throws IOException, InterruptedException {
        long begin = System.nanoTime();
        long changed = begin;
        long held = Usage.pinned() + Usage.openFiles();
        while (System.nanoTime() - changed < QUIET_NANOS && System.nanoTime() - begin < LONGEST_NANOS) {
            Thread.sleep(2);
            long now = Usage.pinned() + Usage.openFiles();
            if (now != held) {
                held = now;
                changed = System.nanoTime();
            }
        }
        return changed;
    }
}
