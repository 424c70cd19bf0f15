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
 * One post and the poll of its completion over the null provider, in the different ways that Java can do it. An
 * operation is one request, also if one post contains several; the loop in C counts in the same way.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(PostAndPoll.OPERATIONS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Benchmark)
public class PostAndPoll {
    /** Enough operations to make the cost of reading the clock negligible; a multiple of all batch sizes. */
    static final int OPERATIONS = 1 << 14;
    /** The largest batch. */
    static final int LARGEST_BATCH = 16;

    /** Requests per post. */
    @Param({"1", "16"})
    public int batch;

    /** The payload of each request. */
    @Param
    public Payload payload;

    private VerbsStack stack;
    private PublicLoop publicLoop;
    private BindingsLoop bindingsLoop;
    private JniLoop jniLoop;
    private int depth;

    /** Creates the objects, anew for each iteration: see {@link Placement}. */
    @Setup(Level.Iteration)
    public void open() throws RdmaException {
        stack = new VerbsStack(false, VerbsStack.DEPTH, 1, 1);
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

    /** The public API of the library. */
    @Benchmark
    public long publicApi() throws RdmaException {
        return Placement.run(depth, publicLoop, OPERATIONS);
    }

    /** The generated bindings in the naive way: plain handles, and segments of a shared arena. */
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
