// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.Locale;

import io.rdmacm.bench.device.machine.Usage;
import io.rdmacm.core.stream.StreamSettings;

/**
 * What many ends of connections take in one process, and how long it takes to open and to close them. The process has
 * both ends of each, and both count: 10,000 ends are 5,000 connections. A message of 64 B goes over each and back.
 *
 * <pre>ManyEnds connections shared|own ENDS
 * ManyEnds WAY small|default ENDS [THREADS]</pre>
 *
 * <p>Connections share receives, or have their own. The ways are those of {@link StreamWay} that Netty and NIO have;
 * {@code small} stands for the smallest buffers and queues.
 */
public final class ManyEnds {
    // opened before it counts, and kept: what all share, and code
    private static final int FIRST = 16;
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double KIB = 1024;
    private static final long LONGEST_NANOS = 300_000_000_000L;
    // What has not changed for so long will not be freed.
    private static final long QUIET_NANOS = 3_000_000_000L;

    private ManyEnds() {
    }

    /**
     * Runs one measurement, and prints a row of a table.
     *
     * @param args see the class
     * @throws Exception if not even the first could be opened
     */
    public static void main(String[] args) throws Exception {
        List<String> words = List.of(args);
        if (words.size() < 3) {
            System.err.println("ManyEnds connections shared|own ENDS\nManyEnds WAY small|default ENDS [THREADS]");
            System.exit(2);
        }
        System.out.println("| way | | ends | heap, B each | resident, KiB each | pinned, KiB each | files, each"
                + " | threads | open, s | close, s |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|");
        System.out.println("| " + words.get(0) + " | " + words.get(1) + measure(words));
    }

    private static OpenEnds<?> open(List<String> words) throws IOException {
        boolean first = List.of("shared", "small").contains(words.get(1));
        if (words.get(0).equals("connections")) {
            return new OpenConnections(first);
        }
        StreamWay way = StreamWay.valueOf(words.get(0).toUpperCase(Locale.ROOT).replace(' ', '_'));
        StreamSettings settings = first ? small() : StreamSettings.defaults();
        SelectorProvider nio = way.nio(settings);
        return nio != null ? new OpenNioStreams(nio)
                : new OpenNettyStreams(way.netty(settings), words.size() > 3 ? Integer.parseInt(words.get(3)) : 1);
    }

    private static StreamSettings small() {
        return StreamSettings.builder().sendBufferSize(StreamSettings.MIN_BUFFER_SIZE)
                .receiveBufferSize(StreamSettings.MIN_BUFFER_SIZE).sendQueueSize(StreamSettings.MIN_QUEUE_SIZE)
                .receiveQueueSize(StreamSettings.MIN_QUEUE_SIZE).build();
    }

    /** Returns the figures of the row. */
    static String measure(List<String> words) throws Exception {
        int ends = Integer.parseInt(words.get(2));
        try (OpenEnds<?> open = open(words)) {
            open.open(FIRST);
            Usage before = Usage.now();
            long begin = System.nanoTime();
            open.open(ends / 2);
            double setUp = (System.nanoTime() - begin) / NANOS_PER_SECOND;
            Usage used = Usage.now().minus(before);
            begin = System.nanoTime();
            open.closeAllBut(FIRST);
            double close = (awaitFreed() - begin) / NANOS_PER_SECOND;
            return String.format(Locale.ROOT, " | %d | %.0f | %.1f | %.1f | %.1f | %d | %.2f | %.2f |", ends,
                    (double) used.heap() / ends, used.resident() / KIB / ends, used.registered() / KIB / ends,
                    (double) used.files() / ends, used.threads(), setUp, close);
        }
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
