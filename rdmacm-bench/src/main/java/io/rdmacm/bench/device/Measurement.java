// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.util.Map;

import io.rdmacm.bench.device.measure.End;
import io.rdmacm.bench.device.measure.Polling;
import io.rdmacm.bench.report.Result;

/**
 * A measurement over a queue pair, the same in Java and by perftest.
 *
 * @param operation the operation that is posted
 * @param latency whether one at a time is measured, not as many as fit
 * @param polling how both sides wait
 * @param size bytes of each operation
 * @param depth the maximum number of outstanding operations; 1 for a latency
 * @param iterations the number of measured operations
 */
record Measurement(Operation operation, boolean latency, Polling polling, int size, int depth, int iterations)
        implements End.Opener {
    /** The size of an atomic operation. */
    static final int ATOMIC_SIZE = 8;
    // the default of perftest
    private static final int RECEIVES = 512;

    /** The operations. */
    enum Operation {
        /** Sends of messages. */
        SEND,
        /** Writes to the peer's memory; the peer watches the memory if it has to answer. */
        WRITE,
        /** Reads of the peer's memory; the peer does nothing. */
        READ,
        /** Fetch and add of 8 bytes of the peer's memory; the peer does nothing. */
        ATOMIC;

        /** {@return whether the peer answers in latency tests, so that half of the round trip counts} */
        boolean isAnswered() {
            return this == SEND || this == WRITE;
        }
    }

    /** {@return the name of its results} */
    String name() {
        return Result.word(operation) + (latency ? "_latency" : "_bandwidth");
    }

    /** {@return the parameters of its results} */
    Map<String, Object> params() {
        return Result.params("transport", "RC", "polling", polling, "size", size, "depth", depth,
                "iterations", iterations);
    }

    /**
     * {@return how many receives are posted initially}
     *
     * @param messages how many messages will arrive; for bandwidth that many receives are posted, because without one
     *         a message would wait for the RNR timer
     */
    int receives(int messages) {
        return operation != Operation.SEND ? 1 : latency ? Math.min(RECEIVES, messages) : messages;
    }

    @Override
    public End open(End.Load load, boolean client) throws Exception {
        return new PerftestSteps(this, load, client, operation.isAnswered() ? 2 : 1);
    }

    /** {@return opens ends that tell the time of whole round trips} */
    End.Opener wholeRoundTrips() {
        return (load, client) -> new PerftestSteps(this, load, client, 1);
    }
}
