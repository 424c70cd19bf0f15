// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * One test of rstream or riostream: the client sends some transfers, and the server sends as many back.
 *
 * @param name the first column of the output
 * @param size the length of a transfer in bytes
 * @param count how many transfers are sent before the peer answers
 * @param iterations how often that is repeated
 */
record StreamTest(String name, int size, int count, int iterations) {
    /** The line above the results. */
    static final String HEADER = String.format(Locale.ROOT, "%-10s%-8s%-8s%-8s%-8s%8s %10s%13s", "name", "bytes",
            "xfers", "iters", "total", "time", "Gb/sec", "usec/xfer");

    private static final int KIB = 1 << 10;
    private static final int MIB = 1 << 20;
    private static final int GIB = 1 << 30;
    private static final int SMALLEST = 64;
    private static final int LARGEST = (1 << 22) + (1 << 21);
    private static final List<Integer> FEW = List.of(SMALLEST, 4 * KIB, 64 * KIB, MIB);
    private static final int SMALL_COUNT = 100_000;
    private static final int MIDDLE_COUNT = 10_000;
    private static final int LARGE_COUNT = 1000;
    private static final int HUGE_COUNT = 100;
    private static final int TEN = 10;
    private static final long THOUSAND = 1000;
    private static final long MILLION = 1_000_000;
    private static final long BILLION = 1_000_000_000;

    /** Returns round trips of all sizes or of a few: each transfer is answered. */
    static List<StreamTest> latencies(boolean all) {
        return sizes(all).stream().map(size -> new StreamTest(bytes(size) + "_lat", size, 1, count(size))).toList();
    }

    /** Returns tests of all sizes or of a few in which many transfers are answered by as many. */
    static List<StreamTest> bandwidths(boolean all) {
        return sizes(all).stream().map(size -> new StreamTest(bytes(size) + "_bw", size, count(size), 1)).toList();
    }

    /** Returns the powers of two and the numbers in the middle between them. */
    private static List<Integer> sizes(boolean all) {
        if (!all) {
            return FEW;
        }
        List<Integer> sizes = new ArrayList<>(List.of(SMALLEST));
        for (int size = 2 * SMALLEST; size <= LARGEST; size *= 2) {
            sizes.add(size);
            sizes.add(size + size / 2);
        }
        return sizes;
    }

    private static int count(int size) {
        return size >= MIB ? HUGE_COUNT : size >= 64 * KIB ? LARGE_COUNT : size >= KIB ? MIDDLE_COUNT : SMALL_COUNT;
    }

    /** Returns the line with the results. */
    String report(long nanos) {
        double micros = nanos / (double) THOUSAND;
        long bytes = (long) iterations * count * size * 2;
        return String.format(Locale.ROOT, "%-10s%-8s%-8s%-8s%-8s%8.2fs%10.2f%11.2f", name, bytes(size), number(count),
                number(iterations), bytes(bytes), micros / MILLION, bytes * 8 / (THOUSAND * micros),
                micros / iterations / (count * 2L));
    }

    /** Returns a number of bytes, short: with one digit after the point if there is one before it. */
    private static String bytes(long bytes) {
        int base = bytes >= GIB ? GIB : bytes >= MIB ? MIB : bytes >= KIB ? KIB : 1;
        String unit = base == GIB ? "g" : base == MIB ? "m" : base == KIB ? "k" : "";
        long fraction = bytes / base < TEN ? bytes % base * TEN / base : 0;
        return bytes / base + (fraction == 0 ? "" : "." + fraction) + unit;
    }

    private static String number(long number) {
        return number >= BILLION ? number / BILLION + "b" : number >= MILLION ? number / MILLION + "m"
                : number >= THOUSAND ? number / THOUSAND + "k" : Long.toString(number);
    }
}
