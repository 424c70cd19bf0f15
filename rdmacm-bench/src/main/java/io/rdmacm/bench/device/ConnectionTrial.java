// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.util.Map;

import io.rdmacm.bench.device.measure.End;
import io.rdmacm.bench.device.measure.Polling;
import io.rdmacm.bench.report.Result;
import io.rdmacm.bench.report.Summary;

/**
 * A measurement of messages over a connection, in one of several ways.
 *
 * @param pattern what is measured
 * @param way which API does it
 * @param polling how both sides wait
 * @param size bytes of each message
 * @param depth how many may be in flight
 */
record ConnectionTrial(Pattern pattern, Way way, Polling polling, int size, int depth) implements End.Opener {
    /** What is measured. */
    enum Pattern {
        /** A message and its answer, one after the other. */
        ROUND_TRIP(Summary.ROUND_TRIP),
        /** Messages in one direction. */
        STREAM(Summary.STREAM),
        /** Messages that are longer than the receive buffers: each is announced, and read by the peer. */
        LARGE(Summary.LARGE),
        /** RDMA reads. */
        READS(Summary.READS);

        final String id;

        Pattern(String id) {
            this.id = id;
        }
    }

    /** Which API does it. */
    enum Way {
        /** {@code Connection.receive}, and {@code Connection.send}, which copies all but large messages. */
        RECEIVE,
        /** Handlers in the thread of a loop, and {@code OperationQueue}. */
        HANDLER,
        /** A queue pair and completion queues of the program's own, as the other measurements use them: round trips. */
        QUEUE_PAIR
    }

    /** {@return what is the same by perftest, and by a queue pair} */
    Measurement reference(int iterations) {
        boolean reads = pattern == Pattern.READS || pattern == Pattern.LARGE;
        return new Measurement(reads ? Measurement.Operation.READ : Measurement.Operation.SEND,
                pattern == Pattern.ROUND_TRIP, polling, size, depth, iterations);
    }

    /** {@return this trial, to be measured so often} */
    Trial times(int iterations, int warmUp) {
        Map<String, Object> params = Result.params("by", way, "polling", polling, "size", size, "depth", depth,
                "iterations", iterations);
        End.Opener opener = way == Way.QUEUE_PAIR ? reference(iterations).wholeRoundTrips() : this;
        int small = pattern == Pattern.LARGE ? 2 * OneConnection.SMALL_MESSAGE : Plan.SMALL;
        return Trial.of(pattern.id, params, opener, size, iterations, new End.Load(Math.min(size, small), 0, warmUp));
    }

    @Override
    public End open(End.Load load, boolean client) throws Exception {
        return switch (pattern) {
            case ROUND_TRIP -> way == Way.RECEIVE ? new RoundTrips.Receiving(this, load, client)
                    : new RoundTrips.Handled(this, load, client);
            case STREAM -> way == Way.RECEIVE ? new Transfers.Messages(this, load, client)
                    : client ? new Transfers.Operations(this, load) : new Transfers.Count(this, load);
            case LARGE -> new Transfers.Messages(this, load, client);
            case READS -> client ? new Transfers.Operations(this, load) : new Transfers.Target(this, load);
        };
    }
}
