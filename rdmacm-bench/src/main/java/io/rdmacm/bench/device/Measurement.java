// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import io.rdmacm.verbs.queue.QueuePairType;

/**
 * One thing to measure, on either side.
 *
 * @param figure what of it
 * @param operation what is posted
 * @param transport RC or UD
 * @param polling how both peers wait
 * @param size bytes of each operation
 * @param depth how many operations are outstanding at most; 1 for a latency
 * @param iterations how many operations are measured
 */
public record Measurement(Figure figure, Operation operation, QueuePairType transport, Polling polling, int size,
        int depth, int iterations) {
    /** The size of an atomic operation. */
    public static final int ATOMIC_SIZE = 8;
    // what perftest posts when it is not told
    private static final int RECEIVES = 512;

    /** What is measured of it. */
    public enum Figure {
        /** How long one takes: half of the round trip where the peer answers. */
        LATENCY,
        /** How much goes through. */
        BANDWIDTH;

        /** {@return the name in results} */
        public String id() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Refuses what neither side can do. */
    public Measurement {
        if (transport == QueuePairType.UD && operation != Operation.SEND) {
            throw new IllegalArgumentException("datagrams are only sent");
        }
        if (figure == Figure.LATENCY && depth != 1) {
            throw new IllegalArgumentException("a latency is measured one operation at a time");
        }
        if (operation == Operation.WRITE && polling.usesEvents()) {
            throw new IllegalArgumentException("a write gives its target no event");
        }
        if (figure == Figure.BANDWIDTH && polling == Polling.EVENTS) {
            throw new IllegalArgumentException("with an event for each completion, one at a time is outstanding");
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
     * {@return how many receives are posted}
     *
     * @param messages how many will come; many at once are not to find none, for a datagram would be lost then, and a
     *         reliable message would wait for a timer
     */
    int receives(int messages) {
        return operation != Operation.SEND ? 1
                : figure == Figure.BANDWIDTH ? messages : Math.min(RECEIVES, messages);
    }

    /** {@return a line that {@link #parse} reads} */
    String encode() {
        return String.join(" ", figure.name(), operation.name(), transport.name(), polling.name(),
                Integer.toString(size), Integer.toString(depth), Integer.toString(iterations));
    }

    static Measurement parse(String line) {
        String[] words = line.split(" ");
        return new Measurement(Figure.valueOf(words[0]), Operation.valueOf(words[1]), QueuePairType.valueOf(words[2]),
                Polling.valueOf(words[3]), Integer.parseInt(words[4]), Integer.parseInt(words[5]),
                Integer.parseInt(words[6]));
    }

    /** {@return for people} */
    @Override
    public String toString() {
        String mode = figure == Figure.LATENCY ? "" : ", depth " + depth;
        return operation.id() + " " + figure.id() + " " + transport + " " + size + " B " + polling.id() + mode;
    }
}
