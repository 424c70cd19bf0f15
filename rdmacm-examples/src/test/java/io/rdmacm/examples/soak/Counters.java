// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

/** Counts what was done so far. Thread-safe. */
final class Counters {
    private final LongAdder connections = new LongAdder();
    private final LongAdder bytes = new LongAdder();
    private final Map<String, LongAdder> operations = new ConcurrentSkipListMap<>();
    private final Map<String, LongAdder> faults = new ConcurrentSkipListMap<>();

    /** Counts an established connection. */
    void countConnection() {
        connections.increment();
    }

    /** Counts an operation whose data has been checked. */
    void countOperation(String operation, long bytesMoved) {
        operations.computeIfAbsent(operation, name -> new LongAdder()).increment();
        bytes.add(bytesMoved);
    }

    /** Counts a fault that was reported as it should be. */
    void countFault(String fault) {
        faults.computeIfAbsent(fault, name -> new LongAdder()).increment();
    }

    /** Returns how many connections were established. */
    long connections() {
        return connections.sum();
    }

    /** Returns all counts at this moment. */
    Snapshot snapshot() {
        return new Snapshot(connections.sum(), sum(operations), bytes.sum(), sum(faults));
    }

    /** The counts at one moment. */
    record Snapshot(long connections, long operations, long bytes, long faults) {
        private static final double MEGA = 1 << 20;

        Snapshot minus(Snapshot other) {
            return new Snapshot(connections - other.connections, operations - other.operations, bytes - other.bytes,
                    faults - other.faults);
        }

        /** Returns the counts with their rates. */
        String format(double seconds) {
            return String.format(Locale.ROOT,
                    "%d connections (%.1f/s), %d operations (%.1f/s), %.1f MiB (%.2f/s), %d faults", connections,
                    connections / seconds, operations, operations / seconds, bytes / MEGA, bytes / MEGA / seconds,
                    faults);
        }
    }

    /** Returns how often each operation was done. */
    String operationsByName() {
        return byName(operations);
    }

    /** Returns how often each fault was provoked. */
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
