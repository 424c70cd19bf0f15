// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

import io.rdmacm.verbs.CompletionCursor;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.ExtendedCompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/**
 * The ping-pong over one queue pair, or several that share a receive queue. The client sends the first message on each
 * queue pair. A side sends its next message when it has received one and its previous send has completed, until enough
 * messages were exchanged in both directions.
 */
final class PingPong {
    /** The id of receives; also a bit of the pending requests of a queue pair. */
    static final int RECEIVE = 1;
    /** The id of sends; also a bit of the pending requests of a queue pair. */
    static final int SEND = 2;

    private final PingPongProgram options;
    private final CompletionQueue queue;
    private final int[] numbers;
    private final int[] pending;
    private final Receives receives;
    private final Send send;
    private final WorkCompletions completions;
    private final ReceiveClock clock;
    private int posted;
    private int received;
    private int sent;

    /**
     * Prepares a ping-pong.
     *
     * @param options the number and the size of the messages, and the number of posted receives
     * @param queue the completion queue of all queue pairs; an extended one if the receives are timed
     * @param pairs queue pairs that can send and receive, with as many receives posted as the options say
     * @param receives posts more receives
     * @param send sends a message
     */
    PingPong(PingPongProgram options, CompletionQueue queue, List<QueuePair> pairs, Receives receives, Send send)
            throws IOException {
        this.options = options;
        this.queue = queue;
        this.numbers = pairs.stream().mapToInt(QueuePair::number).toArray();
        this.pending = new int[numbers.length];
        this.receives = receives;
        this.send = send;
        this.completions = WorkCompletions.allocate(2 * numbers.length);
        this.clock = queue instanceof ExtendedCompletionQueue
                ? new ReceiveClock(queue.context().queryDeviceEx().completionTimestampMask())
                : null;
        this.posted = options.depth;
    }

    /** Posts receives, with the id {@link #RECEIVE}. */
    @FunctionalInterface
    interface Receives {
        void post(int count) throws RdmaException;
    }

    /** Posts a send to one of the queue pairs, by its index, with the id {@link #SEND}. */
    @FunctionalInterface
    interface Send {
        void post(int pair) throws RdmaException;
    }

    /** Allocates receives that all use the same buffer: no message is needed any more when the next one arrives. */
    static ReceiveRequests receives(int count, MemoryRegion buffer, int length) {
        ReceiveRequests requests = ReceiveRequests.allocate(count, 1);
        for (int i = 0; i < count; i++) {
            requests.get(i).id(RECEIVE).data(buffer, 0, length);
        }
        return requests;
    }

    /** Runs the ping-pong, and prints how fast it was. */
    void run() throws IOException, InterruptedException {
        Arrays.fill(pending, RECEIVE);
        if (options.isClient()) {
            for (int i = 0; i < pending.length; i++) {
                send(i);
            }
        }
        long start = System.nanoTime();
        while (received < options.iterations || sent < options.iterations) {
            awaitSome();
        }
        print(options.size, (System.nanoTime() - start) / 1000.0);
    }

    private void awaitSome() throws IOException, InterruptedException {
        long start = System.nanoTime();
        try {
            while (takeSome() == 0) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                if (System.nanoTime() - start > options.timeout().toNanos()) {
                    throw peerSilent(null);
                }
                // the peer may share this CPU
                Thread.yield();
            }
        } catch (RdmaTimeoutException e) {
            throw peerSilent(e);
        }
    }

    private IOException peerSilent(RdmaTimeoutException cause) {
        return new IOException("the peer has been silent for " + options.timeout().toSeconds() + " seconds", cause);
    }

    /** Polls completions; waits for them only if the options ask for events. */
    private int takeSome() throws IOException, InterruptedException {
        if (queue instanceof ExtendedCompletionQueue timed) {
            return takeTimed(timed);
        }
        int taken = options.events ? queue.await(completions, options.timeout()) : queue.poll(completions);
        while (completions.next()) {
            take(indexOf(completions.queuePairNumber()), completions.workRequestId(), completions.status());
        }
        return taken;
    }

    private int takeTimed(ExtendedCompletionQueue timed) throws IOException, InterruptedException {
        int taken = 0;
        try (CompletionCursor cursor = options.events ? timed.awaitPoll(options.timeout())
                : timed.startPoll()) {
            while (cursor.next()) {
                if (cursor.workRequestId() == RECEIVE && cursor.succeeded()) {
                    clock.tick(cursor.timestamp());
                }
                take(0, cursor.workRequestId(), cursor.status());
                taken++;
            }
        }
        return taken;
    }

    private void take(int pair, long id, WorkCompletionStatus status) throws IOException {
        if (status != WorkCompletionStatus.SUCCESS) {
            throw new IOException("Failed status " + status.text() + " (" + status.value() + ") for wr_id " + id);
        }
        if (id == SEND) {
            sent++;
        } else {
            received++;
            posted--;
            // Refills before the last receive of each queue pair is used.
            if (posted <= pending.length) {
                receives.post(options.depth - posted);
                posted = options.depth;
            }
        }
        pending[pair] &= ~(int) id;
        if (sent < options.iterations && pending[pair] == 0) {
            pending[pair] = RECEIVE;
            send(pair);
        }
    }

    private void send(int pair) throws RdmaException {
        send.post(pair);
        pending[pair] |= SEND;
    }

    private int indexOf(int number) {
        int index = 0;
        while (numbers[index] != number) {
            index++;
        }
        return index;
    }

    private void print(int size, double micros) {
        long bytes = 2L * size * options.iterations;
        options.print(String.format(Locale.ROOT, "%d bytes in %.2f seconds = %.2f Mbit/sec", bytes, micros / 1e6,
                bytes * 8 / micros));
        options.print(String.format(Locale.ROOT, "%d iters in %.2f seconds = %.2f usec/iter", options.iterations,
                micros / 1e6, micros / options.iterations));
        if (clock != null) {
            clock.lines().forEach(options::print);
        }
    }
}
