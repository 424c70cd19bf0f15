// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.measure;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import io.rdmacm.verbs.queue.QueuePairType;

/**
 * A measurement of messages over a connection, in one of several ways; perftest measures the same with
 * {@link #reference}.
 *
 * @param pattern what is measured
 * @param way which API does it
 * @param polling how both sides wait
 * @param size bytes of each message
 * @param depth how many may be in flight
 * @param iterations how many are measured
 */
public record Trial(Pattern pattern, Way way, Polling polling, int size, int depth, int iterations) {
    /** What is measured. */
    public enum Pattern {
        /** A message and its answer, one after the other. */
        ROUND_TRIP(Measurement.Figure.LATENCY, Operation.SEND),
        /** Messages in one direction. */
        STREAM(Measurement.Figure.BANDWIDTH, Operation.SEND),
        /** RDMA reads. */
        READS(Measurement.Figure.BANDWIDTH, Operation.READ);

        private final Measurement.Figure figure;
        private final Operation operation;

        Pattern(Measurement.Figure figure, Operation operation) {
            this.figure = figure;
            this.operation = operation;
        }

        /** {@return the name of its results} */
        public String id() {
            return "connection_" + name().toLowerCase(Locale.ROOT);
        }

        /** {@return whether the figure is a time} */
        public boolean isLatency() {
            return figure == Measurement.Figure.LATENCY;
        }

        /** {@return how many figures of perftest make one of these: it halves round trips} */
        public int parts() {
            return this == ROUND_TRIP ? 2 : 1;
        }
    }

    /** Which API does it. */
    public enum Way {
        /** {@code Connection.receive}, and {@code Connection.send}, which copies. */
        RECEIVE("receive"),
        /** Handlers in the thread of a loop, and {@code OperationQueue}. */
        HANDLER("handler"),
        /** A queue pair and completion queues of the program's own, as the other measurements use them. */
        QUEUE_PAIR("queue pair"),
        /** A blocking {@code SocketChannel}. */
        TCP("tcp"),
        /** {@link io.rdmacm.bench.device.Jucx}; only if the environment names it. */
        JUCX("jucx");

        private final String id;

        Way(String id) {
            this.id = id;
        }

        public String id() {
            return id;
        }
    }

    /** {@return the same by perftest} */
    public Measurement reference() {
        return new Measurement(pattern.figure, pattern.operation, QueuePairType.RC, polling, size, depth, iterations);
    }

    /**
     * {@return the same with other numbers, to warm up}
     *
     * @param bytes the size of each message
     * @param count how many
     */
    public Trial with(int bytes, int count) {
        return new Trial(pattern, way, polling, bytes, depth, count);
    }

    /** {@return the same in another way} */
    public Trial by(Way other) {
        return new Trial(pattern, other, polling, size, depth, iterations);
    }

    /** {@return the parameters of its results} */
    public Map<String, Object> params() {
        Map<String, Object> params = new LinkedHashMap<>();
        params.put("by", way.id());
        params.put("polling", polling.id());
        params.put("size", size);
        params.put("depth", depth);
        params.put("iterations", iterations);
        return params;
    }

    /** {@return a line that {@link #parse} reads} */
    public String encode() {
        return String.join(" ", pattern.name(), way.name(), polling.name(), Integer.toString(size),
                Integer.toString(depth), Integer.toString(iterations));
    }

    /** {@return what {@link #encode} was given} */
    public static Trial parse(String line) {
        String[] words = line.split(" ");
        return new Trial(Pattern.valueOf(words[0]), Way.valueOf(words[1]), Polling.valueOf(words[2]),
                Integer.parseInt(words[3]), Integer.parseInt(words[4]), Integer.parseInt(words[5]));
    }

    /** {@return a short description} */
    @Override
    public String toString() {
        return pattern.id().replace('_', ' ') + " by " + way.id() + ", " + size + " B " + polling.id()
                + (depth == 1 ? "" : ", depth " + depth);
    }
}
