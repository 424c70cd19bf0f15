// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.measure;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import io.rdmacm.verbs.queue.QueuePairType;

/**
 * A measurement, the same for both sides.
 *
 * @param figure latency or bandwidth
 * @param operation the operation that is posted
 * @param transport RC or UD
 * @param polling how both sides wait
 * @param size bytes of each operation
 * @param depth the maximum number of outstanding operations; 1 for a latency
 * @param iterations the number of measured operations
 */
public record Measurement(Figure figure, Operation operation, QueuePairType transport, Polling polling, int size,
        int depth, int iterations) {
    /** The size of an atomic operation. */
    public static final int ATOMIC_SIZE = 8;
    // the default of perftest
    private static final int RECEIVES = 512;

    /** The kind of figure that is measured. */
    public enum Figure {
        /** The time of one operation: half of the round trip if the peer answers. */
        LATENCY,
        /** Operations and bytes per second. */
        BANDWIDTH;

        /** {@return the name in results} */
        public String id() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Checks that both sides can run it. */
    public Measurement {
        if (transport == QueuePairType.UD && operation != Operation.SEND) {
            throw new IllegalArgumentException("UD supports sends only");
        }
        if (figure == Figure.LATENCY && depth != 1) {
            throw new IllegalArgumentException("a latency is measured one operation at a time");
        }
        if (operation == Operation.WRITE && polling.usesEvents()) {
            throw new IllegalArgumentException("a write raises no event at its target");
        }
        if (figure == Figure.BANDWIDTH && polling == Polling.EVENTS) {
            throw new IllegalArgumentException("bandwidth cannot be measured with an event for each completion");
        }
        if (operation == Operation.ATOMIC && size != ATOMIC_SIZE) {
            throw new IllegalArgumentException("atomics have " + ATOMIC_SIZE + " bytes");
        }
        if (size < 1 || depth < 1 || iterations < 1) {
            throw new IllegalArgumentException("size, depth and iterations are at least 1");
        }
    }

    /** {@return the name of its results} */
    public String name() {
        return operation.id() + "_" + figure.id();
    }

    /** {@return the parameters of its results} */
    public Map<String, Object> params() {
        Map<String, Object> params = new LinkedHashMap<>();
        params.put("transport", transport.name());
        params.put("polling", polling.id());
        params.put("size", size);
        params.put("depth", depth);
        params.put("iterations", iterations);
        return params;
    }

    /**
     * {@return how many receives are posted initially}
     *
     * @param messages how many messages will arrive; for bandwidth that many receives are posted, because without one
     *         a datagram would be lost, and a reliable message would wait for the RNR timer
     */
    public int receives(int messages) {
        return operation != Operation.SEND ? 1
                : figure == Figure.BANDWIDTH ? messages : Math.min(RECEIVES, messages);
    }

    /** {@return a line that {@link #parse} reads} */
    public String encode() {
        return String.join(" ", figure.name(), operation.name(), transport.name(), polling.name(),
                Integer.toString(size), Integer.toString(depth), Integer.toString(iterations));
    }

    /** {@return what {@link #encode} was given} */
    public static Measurement parse(String line) {
        String[] words = line.split(" ");
        return new Measurement(Figure.valueOf(words[0]), Operation.valueOf(words[1]), QueuePairType.valueOf(words[2]),
                Polling.valueOf(words[3]), Integer.parseInt(words[4]), Integer.parseInt(words[5]),
                Integer.parseInt(words[6]));
    }

    /** {@return a short description} */
    @Override
    public String toString() {
        String mode = figure == Figure.LATENCY ? "" : ", depth " + depth;
        return operation.id() + " " + figure.id() + " " + transport + " " + size + " B " + polling.id() + mode;
    }
}
