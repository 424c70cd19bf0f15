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
 * One post and the poll of its completion over the null provider, in the ways that Java has to do it. An operation is
 * one request, also where several go with one post; the loop in C that they are compared with does the same.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(PostAndPoll.OPERATIONS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Benchmark)
public class PostAndPoll {
    /** So many that to look at the clock, and to go down the stack, costs nothing; a multiple of all batches. */
    static final int OPERATIONS = 1 << 14;
    /** The largest batch. */
    static final int LARGEST_BATCH = 16;

    /** Requests a post. */
    @Param({"1", "16"})
    public int batch;

    /** What they carry. */
    @Param
    public Payload payload;

    private NullStack stack;
    private PublicLoop publicLoop;
    private BindingsLoop bindingsLoop;
    private JniLoop jniLoop;
    private int depth;

    /** Makes the objects, anew for each iteration: see {@link Placement}. */
    @Setup(Level.Iteration)
    public void open() throws RdmaException {
        stack = new NullStack(false, NullStack.DEPTH, 1, 1);
        publicLoop = new PublicLoop(stack, batch, batch, payload);
        bindingsLoop = new BindingsLoop(stack, batch, payload);
        jniLoop = new JniLoop(stack, batch, payload);
        depth = Placement.anyDepth();
    }

    /** Closes them. */
    @TearDown(Level.Iteration)
    public void close() throws RdmaException {
        bindingsLoop.close();
        stack.close();
    }

    /** The objects of this library. */
    @Benchmark
    public long publicApi() throws RdmaException {
        return Placement.run(depth, publicLoop, OPERATIONS);
    }

    /** The generated bindings as they come: plain handles, and segments of a shared arena. */
    @Benchmark
    public long generatedBindings() throws RdmaException {
        return Placement.run(depth, bindingsLoop, OPERATIONS);
    }

    /** A JNI library. */
    @Benchmark
    public long jni() throws RdmaException {
        return Placement.run(depth, jniLoop, OPERATIONS);
    }
}
