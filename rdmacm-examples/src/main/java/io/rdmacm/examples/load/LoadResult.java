// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.load;

import java.util.concurrent.TimeUnit;

import org.HdrHistogram.Histogram;

/** The latencies of one client, or the sum of several. Not thread-safe. */
public final class LoadResult {
    private static final double MICROSECOND = 1000;

    // any range, three significant digits
    private final Histogram gets = new Histogram(3);
    private final Histogram puts = new Histogram(3);
    private long begin = Long.MAX_VALUE;
    private long end = Long.MIN_VALUE;

    LoadResult() {
    }

    void begin() {
        begin = System.nanoTime();
    }

    void got(long nanos) {
        gets.recordValue(nanos);
    }

    void put(long nanos) {
        puts.recordValue(nanos);
    }

    void end() {
        end = System.nanoTime();
    }

    /** Adds the result of another client that ran in parallel. */
    void add(LoadResult other) {
        gets.add(other.gets);
        puts.add(other.puts);
        begin = begin == Long.MAX_VALUE ? other.begin : Math.min(begin, other.begin);
        end = end == Long.MIN_VALUE ? other.end : Math.max(end, other.end);
    }

    long gets() {
        return gets.getTotalCount();
    }

    long puts() {
        return puts.getTotalCount();
    }

    /** Returns the rate between the first operation of any client and the last one. */
    double operationsPerSecond() {
        return (gets() + puts()) * (double) TimeUnit.SECONDS.toNanos(1) / Math.max(1, end - begin);
    }

    /** Returns a percentile of the latencies of gets, in microseconds. */
    double getPercentile(double percent) {
        return gets.getValueAtPercentile(percent) / MICROSECOND;
    }

    /** Returns a percentile of the latencies of puts, in microseconds. */
    double putPercentile(double percent) {
        return puts.getValueAtPercentile(percent) / MICROSECOND;
    }
}
