// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

import io.rdmacm.bench.device.ConnectionTrial.Pattern;
import io.rdmacm.bench.device.ConnectionTrial.Way;
import io.rdmacm.bench.device.Measurement.Operation;
import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.machine.Programs;
import io.rdmacm.bench.device.measure.End.Load;
import io.rdmacm.bench.device.measure.Polling;
import io.rdmacm.bench.device.stream.Rstream;
import io.rdmacm.bench.device.stream.StreamWay;
import io.rdmacm.bench.report.Result;
import io.rdmacm.bench.report.Summary;

/**
 * The list of what is measured.
 *
 * @param quick a few sizes and repetitions, for some minutes; otherwise all sizes and modes
 * @param twoCpus whether peers can be busy at the same time
 */
record Plan(boolean quick, boolean twoCpus) {
    /** The size of messages that code is warmed up with. */
    static final int SMALL = 64;

    private static final int KIB = 1024;
    private static final int MIB = KIB * KIB;
    private static final int DEPTH = 128;
    private static final int IN_FLIGHT = 16;
    private static final int MAX_BYTES = 64 * MIB;
    private static final int MIN_ITERATIONS = 20;
    // the way through a connection is longer than that through a queue pair
    private static final int WARM_UPS = 5;
    // The handlers of Netty become fast late.
    private static final int STREAM_WARM_UP = 50_000;
    // So many that every entry of a queue was used before: the first use of a page is a page fault.
    private static final int ONCE_AROUND = 10_000;

    /** {@return what is measured} */
    List<Trial.Group> groups(Port port, Programs programs) {
        Perftest perftest = new Perftest(port, programs);
        List<Trial.Group> groups = new ArrayList<>();
        for (Measurement one : measurements()) {
            groups.add(new Trial.Group(() -> perftest.run(one), List.of(Trial.of(one.name(), one.params(), one,
                    one.size(), one.iterations(), new Load(Math.min(one.size(), SMALL), 0, warmUp()))),
                    quick ? 2 : 3));
        }
        int roundTrips = quick ? 3000 : 10_000;
        int operations = quick ? 600 : 2000;
        Polling fastest = twoCpus ? Polling.BUSY : Polling.YIELD;
        for (Polling polling : List.of(fastest, Polling.EVENTS, Polling.AWAIT)) {
            groups.add(connection(perftest, Pattern.ROUND_TRIP, polling, SMALL, 1, roundTrips, Way.values()));
        }
        groups.add(connection(perftest, Pattern.STREAM, fastest, 64 * KIB, IN_FLIGHT, operations, Way.RECEIVE,
                Way.HANDLER));
        groups.add(connection(perftest, Pattern.READS, Polling.BUSY, 64 * KIB, IN_FLIGHT, operations, Way.HANDLER));
        // Each peer waits for the other one, which with one CPU has to get it.
        groups.add(connection(perftest, Pattern.LARGE, twoCpus ? Polling.BUSY : Polling.AWAIT, MIB, 1, operations / 10,
                Way.RECEIVE));
        groups.add(stream(port, programs, true, SMALL, roundTrips));
        groups.add(stream(port, programs, false, 64 * KIB, operations));
        groups.add(stream(port, programs, false, MIB, operations / 10));
        groups.add(setUp(port, programs));
        for (boolean shared : new boolean[] {true, false}) {
            groups.add(managedSetUp(port, programs, shared));
        }
        return groups;
    }

    /** Measures latency with all sizes for the first way of waiting of each operation, with one for the others. */
    List<Measurement> measurements() {
        List<Integer> latencySizes = quick ? List.of(SMALL, 4 * KIB, 64 * KIB) : sizes();
        List<Integer> bandwidthSizes = quick ? List.of(4 * KIB, 64 * KIB, MIB) : sizes();
        List<Measurement> list = new ArrayList<>();
        for (Operation operation : Operation.values()) {
            List<Polling> pollings = pollings(operation);
            for (Polling polling : pollings) {
                List<Integer> sizes = polling == pollings.getFirst() ? latencySizes : List.of(SMALL);
                for (int size : operation == Operation.ATOMIC ? List.of(Measurement.ATOMIC_SIZE) : sizes) {
                    list.add(new Measurement(operation, true, polling, size, 1, iterations(size)));
                }
            }
        }
        for (Operation operation : List.of(Operation.SEND, Operation.WRITE, Operation.READ)) {
            bandwidthSizes.forEach(size -> list.add(bandwidth(operation, size)));
        }
        return list;
    }

    private static List<Integer> sizes() {
        return IntStream.iterate(1, size -> size <= 4 * MIB, size -> size * 4).boxed().toList();
    }

    /** Returns the ways of waiting. On one CPU, a busy poll would block the other side until its time slice ends. */
    private List<Polling> pollings(Operation operation) {
        if (operation == Operation.WRITE) {
            // it raises no event at its target
            return twoCpus ? List.of(Polling.BUSY, Polling.YIELD) : List.of(Polling.YIELD);
        }
        return twoCpus ? List.of(Polling.BUSY, Polling.YIELD, Polling.EVENTS, Polling.AWAIT)
                : operation.isAnswered() ? List.of(Polling.YIELD, Polling.EVENTS, Polling.AWAIT)
                : List.of(Polling.BUSY, Polling.EVENTS);
    }

    private Measurement bandwidth(Operation operation, int size) {
        Polling polling = operation == Operation.SEND && !twoCpus ? Polling.YIELD : Polling.BUSY;
        return new Measurement(operation, false, polling, size, DEPTH, iterations(size));
    }

    /** Returns the number of iterations: fewer for large sizes. */
    private int iterations(int size) {
        return Math.clamp(MAX_BYTES / size, MIN_ITERATIONS, quick ? 500 : 2000);
    }

    private int warmUp() {
        return quick ? 2000 : 10_000;
    }

    private int trialRounds() {
        return quick ? 5 : 9;
    }

    /** Returns trials over connections beside the same over a queue pair and by perftest, which halves round trips. */
    private Trial.Group connection(Perftest perftest, Pattern pattern, Polling polling, int size, int depth,
            int iterations, Way... ways) {
        Measurement reference = new ConnectionTrial(pattern, ways[0], polling, size, depth).reference(iterations);
        return new Trial.Group(() -> perftest.run(reference, 2), Arrays.stream(ways).map(way ->
                new ConnectionTrial(pattern, way, polling, size, depth).times(iterations,
                        pattern == Pattern.LARGE ? warmUp() : WARM_UPS * warmUp())).toList(), trialRounds());
    }

    /** Returns the ways of streams beside rstream, which does what the engine does. */
    private Trial.Group stream(Port port, Programs programs, boolean roundTrips, int size, int count) {
        List<Trial> trials = new ArrayList<>();
        for (StreamWay way : StreamWay.values()) {
            if (way.copies() || !roundTrips) {
                trials.add(new Trial(roundTrips ? Summary.STREAM_ROUND_TRIP : Summary.STREAM_TRANSFER,
                        Result.params("by", way, "polling", Polling.AWAIT, "size", size, "iterations", count),
                        way.opener(roundTrips), new Load(size, roundTrips ? ONCE_AROUND : count / 10, count),
                        new Load(size, 0, roundTrips ? STREAM_WARM_UP : count), way == StreamWay.ENGINE));
            }
        }
        return new Trial.Group(() -> Rstream.run(port, programs, roundTrips, size, count), trials, trialRounds());
    }

    private int connections() {
        return quick ? 50 : 100;
    }

    /** A JVM that has just started is far slower. */
    private Load connectionWarmUp() {
        return new Load(0, 0, quick ? 8 : 100);
    }

    private Trial.Group setUp(Port port, Programs programs) {
        int count = connections();
        return new Trial.Group(() -> Cmtime.run(port, programs, count, false), List.of(Trial.of(Summary.CONNECT,
                Map.of("connections", count), (load, client) -> new BareConnections(count, load, client), 0, 1,
                connectionWarmUp())), trialRounds());
    }

    /** Cmtime, too, is measured from the first call to the last event. */
    private Trial.Group managedSetUp(Port port, Programs programs, boolean shared) {
        int count = connections();
        Trial trial = Trial.of(Summary.CONNECTION_SET_UP,
                Result.params("by", shared ? "shared" : "own", "connections", count),
                (load, client) -> new ManagedConnections(shared, count, load, client), 0, 1, connectionWarmUp());
        return new Trial.Group(() -> Cmtime.withoutStages(Cmtime.run(port, programs, count, !shared)),
                List.of(trial), trialRounds());
    }
}
