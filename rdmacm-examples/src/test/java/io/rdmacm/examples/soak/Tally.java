// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/** What was done so far. For any number of threads. */
final class Tally {
    private final LongAdder connections = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final Map<String, LongAdder> operations = new ConcurrentSkipListMap<>();
    private final Map<String, LongAdder> faults = new ConcurrentSkipListMap<>();

    /** A connection was made. */
    void connected() {
        connections.increment();
    }

    /** An operation was done, and its data found right. */
    void did(String operation, long length) {
        operations.computeIfAbsent(operation, name -> new LongAdder()).increment();
        bytes.add(length);
    }

    /** A fault was made, and seen as what it is. */
    void survived(String fault) {
        faults.computeIfAbsent(fault, name -> new LongAdder()).increment();
    }

    /** How many connections were made. */
    long connections() {
        return connections.sum();
    }

    /** All of it now. */
    Count count() {
        return new Count(connections.sum(), sum(operations), bytes.sum(), sum(faults));
    }

    /** How much was done. */
    record Count(long connections, long operations, long bytes, long faults) {
        private static final double MEGA = 1 << 20;

        Count minus(Count other) {
            return new Count(connections - other.connections, operations - other.operations, bytes - other.bytes,
                    faults - other.faults);
        }

        /** With the rates. */
        String in(double seconds) {
            return String.format(Locale.ROOT,
                    "%d connections (%.1f/s), %d operations (%.1f/s), %.1f MiB (%.2f/s), %d faults", connections,
                    connections / seconds, operations, operations / seconds, bytes / MEGA, bytes / MEGA / seconds,
                    faults);
        }
    }

    /** How often each operation was done. */
    String operationsByName() {
        return byName(operations);
    }

    /** How often each fault was made. */
    String faultsByName() {
        return byName(faults);
    }

    private static long sum(Map<String, LongAdder> counts) {
        return counts.values().stream().mapToLong(LongAdder::sum).sum();
    }

    private static String byName(Map<String, LongAdder> counts) {
        return counts.entrySet().stream().map(count -> count.getKey() + " " + count.getValue())
                .collect(Collectors.joining(", "));
    }
}
