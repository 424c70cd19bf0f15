// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.util.ArrayList;
import java.util.List;

import io.rdmacm.bench.device.measure.Measurement;
import io.rdmacm.bench.device.measure.Measurement.Figure;
import io.rdmacm.bench.device.measure.Operation;
import io.rdmacm.bench.device.measure.Polling;
import io.rdmacm.bench.device.measure.Trial;
import io.rdmacm.bench.device.measure.Trial.Pattern;
import io.rdmacm.bench.device.measure.Trial.Way;
import io.rdmacm.bench.device.stream.StreamTrial;
import io.rdmacm.verbs.queue.QueuePairType;

/**
 * The list of what is measured.
 *
 * @param measurements the measurements in order
 * @param trials the trials over connections; those with the same reference stand together
 * @param streams the trials of streams of bytes; those with the same reference stand together
 * @param amongChannels the round trips of Netty while other channels are open; those of as many stand together
 * @param trialRounds how often each trial and the set-up of connections are repeated
 * @param rounds how often each measurement is repeated, both sides in turn
 * @param warmUp the number of operations before the first measurement of each kind, on the Java side
 * @param connections how many connections are set up at once
 * @param connectionWarmUp how often they are set up before it counts, on the Java side
 * @param registrations how often memory of each size is registered
 * @param registered the sizes that are registered, in bytes
 * @param manyConnections how many connections one process holds whose memory is measured
 */
record Plan(List<Measurement> measurements, List<Trial> trials, List<List<StreamTrial>> streams,
        List<List<StreamTrial>> amongChannels, int trialRounds, int rounds, int warmUp, int connections,
        int connectionWarmUp, int registrations, List<Integer> registered, int manyConnections) {
    private static final int KIB = 1024;
    private static final int MIB = KIB * KIB;
    private static final int DEPTH = 128;
    private static final int SMALL = 64;
    private static final int IN_FLIGHT = 16;
    private static final int MAX_BYTES = 64 * MIB;
    private static final int MIN_ITERATIONS = 20;

    /**
     * Returns a plan for a minute or two.
     *
     * @param twoCpus whether peers can be busy at the same time
     * @param mtu the MTU of the port, which limits datagrams
     */
    static Plan quick(boolean twoCpus, int mtu) {
        return new Plan(measurements(twoCpus, mtu, List.of(64, 4 * KIB, 64 * KIB), List.of(64),
                List.of(4 * KIB, 64 * KIB, MIB), List.of(1, 16), 500), trials(twoCpus, 3000, 600),
                StreamTrial.groups(3000, 600), StreamTrial.amongChannels(3000), 5, 2, 2000, 50, 8, 21,
                List.of(4 * KIB, MIB), 500);
    }

    /**
     * Returns a plan with all sizes and modes, for a quarter of an hour.
     *
     * @param twoCpus whether peers can be busy at the same time
     * @param mtu the MTU of the port, which limits datagrams
     */
    static Plan full(boolean twoCpus, int mtu) {
        List<Integer> sizes = powersOf(4);
        return new Plan(measurements(twoCpus, mtu, sizes, powersOf(8), sizes, List.of(1, 2, 4, 8, 16, 32, 64), 2000),
                trials(twoCpus, 10_000, 2000), StreamTrial.groups(10_000, 2000),
                StreamTrial.amongChannels(10_000), 9, 3, 10_000, 100, 100, 51,
                List.of(4 * KIB, 64 * KIB, MIB, 16 * MIB), 5000);
    }

    /** {@return this plan with the round trips and streams of {@link Jucx}, which polls} */
    Plan withJucx() {
        List<Trial> all = new ArrayList<>(trials);
        trials.stream().filter(trial -> trial.way() == Way.RECEIVE && !trial.polling().usesEvents())
                .map(trial -> trial.by(Way.JUCX)).forEach(all::add);
        return new Plan(measurements, all, streams, amongChannels, trialRounds, rounds, warmUp, connections,
                connectionWarmUp, registrations, registered, manyConnections);
    }

    private static List<Integer> powersOf(int base) {
        List<Integer> sizes = new ArrayList<>();
        for (int size = 1; size <= 4 * MIB; size *= base) {
            sizes.add(size);
        }
        return sizes;
    }

    /** Measures latency with all sizes for the first way of waiting of each operation, with fewer for the others. */
    private static List<Measurement> measurements(boolean twoCpus, int mtu, List<Integer> latencySizes,
            List<Integer> modeSizes, List<Integer> bandwidthSizes, List<Integer> depths, int iterations) {
        List<Measurement> list = new ArrayList<>();
        for (Operation operation : Operation.values()) {
            List<Polling> pollings = pollings(operation, twoCpus);
            for (Polling polling : pollings) {
                List<Integer> sizes = polling == pollings.getFirst() ? latencySizes : modeSizes;
                for (int size : operation == Operation.ATOMIC ? List.of(Measurement.ATOMIC_SIZE) : sizes) {
                    list.add(new Measurement(Figure.LATENCY, operation, QueuePairType.RC, polling, size, 1,
                            count(iterations, size)));
                }
            }
        }
        for (int size : modeSizes.stream().filter(size -> size <= mtu).toList()) {
            list.add(new Measurement(Figure.LATENCY, Operation.SEND, QueuePairType.UD, Polling.EVENTS, size, 1,
                    iterations));
        }
        for (Operation operation : List.of(Operation.SEND, Operation.WRITE, Operation.READ)) {
            for (int size : bandwidthSizes) {
                list.add(bandwidth(operation, QueuePairType.RC, twoCpus, size, DEPTH, iterations));
            }
        }
        for (int size : bandwidthSizes.stream().filter(size -> size <= mtu).toList()) {
            list.add(bandwidth(Operation.SEND, QueuePairType.UD, twoCpus, size, DEPTH, iterations));
        }
        for (int depth : depths) {
            list.add(bandwidth(Operation.WRITE, QueuePairType.RC, twoCpus, 4 * KIB, depth, iterations));
        }
        return list;
    }

    /** Returns the trials over connections, beside the same over queue pairs and TCP. */
    private static List<Trial> trials(boolean twoCpus, int roundTrips, int operations) {
        List<Trial> list = new ArrayList<>();
        Polling fastest = twoCpus ? Polling.BUSY : Polling.YIELD;
        for (Polling polling : List.of(fastest, Polling.EVENTS, Polling.AWAIT)) {
            for (Way way : Way.values()) {
                if (way != Way.JUCX && (way != Way.TCP || polling == Polling.EVENTS)) {
                    list.add(new Trial(Pattern.ROUND_TRIP, way, polling, SMALL, 1, roundTrips));
                }
            }
        }
        for (Polling polling : List.of(fastest, Polling.AWAIT)) {
            for (Way way : Way.values()) {
                if (way != Way.JUCX && (way != Way.TCP || polling == Polling.AWAIT)) {
                    list.add(new Trial(Pattern.STREAM, way, polling, 64 * KIB, IN_FLIGHT, operations));
                }
            }
        }
        for (Way way : List.of(Way.HANDLER, Way.QUEUE_PAIR)) {
            list.add(new Trial(Pattern.READS, way, Polling.BUSY, 64 * KIB, IN_FLIGHT, operations));
        }
        return list;
    }

    /** Returns the ways of waiting. On one CPU, a busy poll would block the other side until its time slice ends. */
    private static List<Polling> pollings(Operation operation, boolean twoCpus) {
        if (operation == Operation.WRITE) {
            return twoCpus ? List.of(Polling.BUSY, Polling.YIELD) : List.of(Polling.YIELD);
        }
        return twoCpus ? List.of(Polling.BUSY, Polling.YIELD, Polling.EVENTS, Polling.AWAIT)
                : operation.isAnswered() ? List.of(Polling.YIELD, Polling.EVENTS, Polling.AWAIT)
                : List.of(Polling.BUSY, Polling.EVENTS);
    }

    private static Measurement bandwidth(Operation operation, QueuePairType transport, boolean twoCpus, int size,
            int depth, int iterations) {
        Polling polling = operation == Operation.SEND && !twoCpus ? Polling.YIELD : Polling.BUSY;
        return new Measurement(Figure.BANDWIDTH, operation, transport, polling, size, depth, count(iterations, size));
    }

    /** Returns the number of iterations: fewer for large sizes. */
    private static int count(int iterations, int size) {
        return Math.max(MIN_ITERATIONS, Math.min(iterations, MAX_BYTES / size));
    }
}
