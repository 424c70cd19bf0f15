// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;

import io.rdmacm.verbs.CompletionCursor;
import io.rdmacm.verbs.ExtendedCompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.QueuePair;
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
    private MemorySegment memory;
    private long id;
    private int depth;

    /** Creates the objects, anew for each iteration: see {@link Placement}. */
    @Setup(Level.Iteration)
    public void open() throws RdmaException {
        stack = new NullStack(true, NullStack.DEPTH, 1, 1);
        pair = stack.pair(0);
        queue = stack.extendedQueue();
        region = stack.region(0);
        memory = region.memory();
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

    private long run(int operations) throws RdmaException {
        long sum = 0;
        for (int done = 0; done < operations; done += batch) {
            post();
            sum += poll();
        }
        return sum;
    }

    private void post() throws RdmaException {
        int length = payload.entryLength();
        try (SendBatch requests = pair.startBatch()) {
            for (int i = 0; i < batch; i++) {
                requests.rdmaWrite(NullStack.REMOTE_ADDRESS, NullStack.REMOTE_KEY).id(id++);
                if (payload.inline()) {
                    requests.inlineData(memory, 0, length);
                } else {
                    for (int entry = 0; entry < payload.entries(); entry++) {
                        requests.data(region, (long) entry * length, length);
                    }
                }
            }
            requests.complete();
        }
    }

    private long poll() throws RdmaException {
        long sum = 0;
        for (int wanted = batch; wanted > 0;) {
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
