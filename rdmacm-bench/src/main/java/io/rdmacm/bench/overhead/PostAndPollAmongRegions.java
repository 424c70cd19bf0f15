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
 * One post and the poll of its completion with many memory regions: always with data of the same one, or each time with
 * data of another one, which costs cache misses, in C as well.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(PostAndPoll.OPERATIONS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Benchmark)
public class PostAndPollAmongRegions {
    /** The number of memory regions. */
    @Param({"1", "100", "10000"})
    public int regions;

    /** Whether each post uses another one. */
    @Param({"false", "true"})
    public boolean rotate;

    private VerbsStack stack;
    private RotatingLoop loop;
    private CallsLoop calls;
    private int depth;

    /** Creates the objects, anew for each iteration: see {@link Placement}. */
    @Setup(Level.Iteration)
    public void open() throws RdmaException {
        stack = new VerbsStack(false, VerbsStack.SMALL_DEPTH, 1, regions).shuffled();
        loop = new RotatingLoop(stack, 1, rotate ? regions : 1, rotate);
        calls = new CallsLoop(stack, 1, rotate ? regions : 1, rotate);
        depth = Placement.anyDepth();
        Placement.settle();
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

    /** The native calls alone. */
    @Benchmark
    public long nativeCalls() throws RdmaException {
        return Placement.run(depth, calls, PostAndPoll.OPERATIONS);
    }
}
