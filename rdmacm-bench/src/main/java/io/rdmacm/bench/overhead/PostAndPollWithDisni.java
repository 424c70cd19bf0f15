// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.util.concurrent.TimeUnit;
import java.util.function.IntToLongFunction;

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

/** The same as {@link PostAndPoll} with the calls of {@link Disni}, which the environment has to name. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(PostAndPoll.OPERATIONS)
@Fork(value = 1, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", Disni.EXPORTS, Disni.QUIET})
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Benchmark)
public class PostAndPollWithDisni {
    /** Requests per batch. */
    @Param({"1", "16"})
    public int batch;

    /** The payload of each request. */
    @Param
    public Payload payload;

    private Disni disni;
    private VerbsStack stack;
    private IntToLongFunction loop;
    private int depth;

    /** Loads DiSNI. */
    @Setup
    public void load() {
        disni = Disni.named(System.getenv()).orElseThrow(() -> new IllegalStateException(
                "DiSNI was not named: set " + Disni.JAR + " and " + Disni.LIBRARY));
    }

    /** Creates the objects, anew for each iteration: see {@link Placement}. */
    @Setup(Level.Iteration)
    public void open() throws RdmaException {
        stack = new VerbsStack(false, VerbsStack.DEPTH, 1, 1);
        loop = disni.loop(stack, batch, payload);
        depth = Placement.anyDepth();
    }

    /** Closes them. */
    @TearDown(Level.Iteration)
    public void close() throws RdmaException {
        stack.close();
    }

    /** The stateful calls of DiSNI. */
    @Benchmark
    public long disni() throws RdmaException {
        return Placement.run(depth, loop::applyAsLong, PostAndPoll.OPERATIONS);
    }
}
