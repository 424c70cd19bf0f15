// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import java.util.concurrent.TimeUnit;

import org.HdrHistogram.Histogram;

/** How long operations took: of one client, or of several added up. For one thread at a time. */
final class LoadResult {
    private static final double MICROSECOND = 1000;

    // Of any length, to three digits.
    private final Histogram gets = new Histogram(3);
    private final Histogram puts = new Histogram(3);
    private long begin = Long.MAX_VALUE;
    private long end = Long.MIN_VALUE;
    private long tornReads;

    void begin() {
        begin = System.nanoTime();
    }

    void got(long nanos) {
        gets.recordValue(nanos);
    }

    void put(long nanos) {
        puts.recordValue(nanos);
    }

    void end(long torn) {
        end = System.nanoTime();
        tornReads = torn;
    }

    /** Those of another client, which worked at the same time. */
    void add(LoadResult other) {
        gets.add(other.gets);
        puts.add(other.puts);
        begin = begin == Long.MAX_VALUE ? other.begin : Math.min(begin, other.begin);
        end = end == Long.MIN_VALUE ? other.end : Math.max(end, other.end);
        tornReads += other.tornReads;
    }

    long gets() {
        return gets.getTotalCount();
    }

    long puts() {
        return puts.getTotalCount();
    }

    long tornReads() {
        return tornReads;
    }

    /** From the first operation of any client to the last. */
    double operationsPerSecond() {
        return (gets() + puts()) * (double) TimeUnit.SECONDS.toNanos(1) / Math.max(1, end - begin);
    }

    /** In microseconds. */
    double getPercentile(double percent) {
        return gets.getValueAtPercentile(percent) / MICROSECOND;
    }

    /** In microseconds. */
    double putPercentile(double percent) {
        return puts.getValueAtPercentile(percent) / MICROSECOND;
    }
}
