// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.util.concurrent.TimeUnit;

import io.rdmacm.verbs.CompletionCursor;
import io.rdmacm.verbs.ExtendedCompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.ScatterGatherList;
import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.error.RdmaException;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The same as {@link PostAndPoll} with the extended interfaces: a batch that is posted with one doorbell (QP_EX,
 * {@code ibv_wr_*}), and completions that are read in place (CQ_EX, {@code ibv_start_poll}).
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(PostAndPoll.OPERATIONS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Benchmark)
public class PostAndPollInPlace {
    /** Requests per batch. */
    @Param({"1", "16"})
    public int batch;

    /** The payload of each request. */
    @Param
    public Payload payload;

    private NullStack stack;
    private QueuePair pair;
    private ExtendedCompletionQueue queue;
    private MemoryRegion region;
    private ScatterGatherList parts;
    private CallsInPlaceLoop calls;
    private long id;
    private int depth;

    /** Creates the objects, anew for each iteration: see {@link Placement}. */
    @Setup(Level.Iteration)
    public void open() throws RdmaException {
        stack = new NullStack(true, NullStack.DEPTH, 1, 1);
        pair = stack.pair(0);
        queue = stack.extendedQueue();
        region = stack.region(0);
        int length = payload.entryLength();
        parts = ScatterGatherList.allocate(payload.entries());
        for (int entry = 0; entry < payload.entries(); entry++) {
            parts.set(entry, region, (long) entry * length, length);
        }
        calls = new CallsInPlaceLoop(stack, batch, length);
        depth = Placement.anyDepth();
    }

    /** Closes them. */
    @TearDown(Level.Iteration)
    public void close() throws RdmaException {
        stack.close();
    }

    /** The public API of the library. */
    @Benchmark
    public long publicApi() throws RdmaException {
        return Placement.run(depth, this::run, PostAndPoll.OPERATIONS);
    }

    /** The native calls alone, for requests of one entry. */
    @Benchmark
    public long nativeCalls() throws RdmaException {
        return Placement.run(depth, calls, PostAndPoll.OPERATIONS);
    }

    private long run(int operations) throws RdmaException {
        int count = batch;
        long next = id;
        long sum = 0;
        for (int done = 0; done < operations; done += count) {
            post(next, count);
            next += count;
            sum += poll(count);
        }
        id = next;
        return sum;
    }

    private void post(long first, int count) throws RdmaException {
        try (SendBatch requests = pair.startBatch()) {
            if (payload.entries() == 1) {
                add(requests.inline(payload.inline()), first, count);
            } else {
                addLists(requests, first, count);
            }
            requests.complete();
        }
    }

    private void add(SendBatch requests, long first, int count) {
        MemoryRegion from = region;
        int length = payload.entryLength();
        for (int i = 0; i < count; i++) {
            requests.id(first + i).rdmaWrite(NullStack.REMOTE_ADDRESS, NullStack.REMOTE_KEY, from, 0, length);
        }
    }

    private void addLists(SendBatch requests, long first, int count) {
        ScatterGatherList from = parts;
        for (int i = 0; i < count; i++) {
            requests.id(first + i).rdmaWrite(NullStack.REMOTE_ADDRESS, NullStack.REMOTE_KEY).data(from);
        }
    }

    private long poll(int count) throws RdmaException {
        long sum = 0;
        for (int wanted = count; wanted > 0;) {
            try (CompletionCursor completion = queue.startPoll()) {
                while (completion.next()) {
                    completion.check();
                    sum += completion.workRequestId();
                    wanted--;
                }
            }
        }
        return sum;
    }
}
