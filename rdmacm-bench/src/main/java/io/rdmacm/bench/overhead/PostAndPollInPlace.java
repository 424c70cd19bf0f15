// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.util.concurrent.TimeUnit;

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

    private VerbsStack stack;
    private InPlaceLoop loop;
    private CallsInPlaceLoop calls;
    private int depth;

    /** Creates the objects, anew for each iteration: see {@link Placement}. */
    @Setup(Level.Iteration)
    public void open() throws RdmaException {
        stack = new VerbsStack(true, VerbsStack.DEPTH, 1, 1);
        loop = new InPlaceLoop(stack, batch, payload, false);
        calls = new CallsInPlaceLoop(stack, batch, payload.entryLength());
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
        return Placement.run(depth, loop, PostAndPoll.OPERATIONS);
    }

    /** The native calls alone, for requests of one entry. */
    @Benchmark
    public long nativeCalls() throws RdmaException {
        return Placement.run(depth, calls, PostAndPoll.OPERATIONS);
    }
}
