// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.util.concurrent.TimeUnit;

import io.rdmacm.verbs.error.RdmaException;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
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
 * The cost of polling several completions at a time: {@value PostAndPoll#LARGEST_BATCH} requests with one post, whose
 * completions are polled a few at a time. An operation is one request.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(PostAndPoll.OPERATIONS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Benchmark)
public class PollInBatches {
    /** The maximum number of completions per poll. */
    @Param({"1", "2", "4", "8", "16"})
    public int polled;

    private VerbsStack stack;
    private PublicLoop loop;

    /** Creates the objects. */
    @Setup
    public void open() throws RdmaException {
        stack = new VerbsStack(false, VerbsStack.DEPTH, 1, 1);
        loop = new PublicLoop(stack, PostAndPoll.LARGEST_BATCH, polled, Payload.ONE_ENTRY);
    }

    /** Closes them. */
    @TearDown
    public void close() throws RdmaException {
        stack.close();
    }

    /** The public API of the library. */
    @Benchmark
    public long publicApi() throws RdmaException {
        return loop.run(PostAndPoll.OPERATIONS);
    }
}
