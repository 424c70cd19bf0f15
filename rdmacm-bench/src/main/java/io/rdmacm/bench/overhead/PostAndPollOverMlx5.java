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
 * The same as {@link PostAndPoll} with libmlx5, over {@link Mlx5StandIn}. Only in a process that was started by it.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(PostAndPollOverMlx5.OPERATIONS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Benchmark)
public class PostAndPollOverMlx5 {
    /**
     * Operations per run, as many as the completion queue has entries: 256 KiB, which the second-level cache of a core
     * holds. With more, what is measured is the cache that all cores share, and whoever else uses it.
     */
    static final int OPERATIONS = 1 << 12;

    /** Requests per post. */
    @Param({"1", "16"})
    public int batch;

    /** How to do it. */
    @Param
    public Way way;

    private AutoCloseable objects;
    private Placement.Loop loop;
    private int depth;

    /** The ways. */
    public enum Way {
        /** The public API of the library. */
        PUBLIC_API,
        /** The public API with the extended interfaces. */
        IN_PLACE,
        /** Without a call into C: {@link io.rdmacm.verbs.mlx5.DirectQueuePair}. */
        DIRECT
    }

    /** Creates the objects, anew for each iteration: see {@link Placement}. */
    @Setup(Level.Iteration)
    public void open() throws RdmaException {
        if (way == Way.DIRECT) {
            DirectLoop direct = new DirectLoop(batch, Payload.ONE_ENTRY.entryLength());
            objects = direct;
            loop = direct;
        } else {
            VerbsStack stack = VerbsStack.overMlx5(way == Way.IN_PLACE);
            objects = stack;
            loop = way == Way.IN_PLACE ? new InPlaceLoop(stack, batch, Payload.ONE_ENTRY, true)
                    : new PublicLoop(stack, batch, batch, Payload.ONE_ENTRY);
        }
        depth = Placement.anyDepth();
    }

    /** Completes the requests of an invocation, which is not measured. */
    @Setup(Level.Invocation)
    public void foresee() {
        Mlx5StandIn.foresee();
    }

    /** Closes the objects. */
    @TearDown(Level.Iteration)
    public void close() throws Exception {
        objects.close();
    }

    /** Posts and polls. */
    @Benchmark
    public long postAndPoll() throws RdmaException {
        return Placement.run(depth, loop, OPERATIONS);
    }
}
