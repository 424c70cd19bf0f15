// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.util.concurrent.TimeUnit;

import io.rdmacm.bench.overhead.VerbsStack.Payload;
import io.rdmacm.bench.report.Side;
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
 * One post and the poll of its completion, by a loop in Java or in C over the same objects. An operation is one
 * request, also if one post contains several. With many queue pairs or regions, each post uses another one, which costs
 * cache misses, in C as well.
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
    static final int OPERATIONS = 1 << 12;
    /** The largest batch. */
    static final int LARGEST_BATCH = 16;

    /** Which calls. */
    @Param({"CLASSIC", "EXTENDED"})
    public Way way;
    /** Who makes them: DIRECT makes none, only with the card. */
    @Param({"C", "JAVA"})
    public Side side;
    /** Requests per post. */
    @Param({"1", "16"})
    public int batch;
    /** Scatter/gather entries of each request. */
    @Param("1")
    public int sges;
    /** 1 if the data goes with the request. */
    @Param("0")
    public int inline;
    /** The largest number of completions per poll of the classic way. */
    @Param("64")
    public int polled;
    /** The number of queue pairs. */
    @Param("1")
    public int queuePairs;
    /** The number of memory regions. */
    @Param("1")
    public int regions;
    /** 1 if each post uses another one of them. */
    @Param("0")
    public int rotate;
    /** 1 if the data is set anew for each request. */
    @Param("0")
    public int data;

    private VerbsStack stack;
    private Placement.Loop loop;
    private int depth;

    /** The calls. */
    public enum Way {
        /** {@code ibv_post_send} and {@code ibv_poll_cq}. */
        CLASSIC,
        /**
         * The extended interfaces: a batch that is posted with one doorbell (QP_EX, {@code ibv_wr_*}), and completions
         * that are read in place (CQ_EX, {@code ibv_start_poll}).
         */
        EXTENDED,
        /** The classic ones with many queue pairs or regions. */
        MANY
    }

    /** Creates the objects, anew for each iteration: see {@link Placement}. */
    @Setup(Level.Iteration)
    public void open() throws RdmaException {
        // without calls, there is a queue pair of another kind
        stack = new VerbsStack(way == Way.EXTENDED, way == Way.MANY ? VerbsStack.SMALL_DEPTH : VerbsStack.DEPTH,
                side == Side.DIRECT ? 0 : queuePairs, regions);
        if (way == Way.MANY) {
            stack.shuffle();
        }
        loop = loop(new Payload(sges, inline == 1));
        depth = Placement.anyDepth();
        if (way == Way.MANY) {
            Placement.settle();
        }
    }

    private Placement.Loop loop(Payload payload) throws RdmaException {
        return switch (side) {
            case C -> new CLoop(stack, this, payload);
            case DIRECT -> new DirectLoop(stack, batch, payload.entryLength());
            case JAVA -> switch (way) {
                case CLASSIC, MANY -> new ClassicLoop(stack, this, payload);
                case EXTENDED -> new ExtendedLoop(stack, batch, payload);
            };
        };
    }

    /** Completes the requests of an invocation, which is not measured. */
    @Setup(Level.Invocation)
    public void foresee() {
        if (NativeSide.hasCard()) {
            NativeSide.foresee();
        }
    }

    /** Closes the objects. */
    @TearDown(Level.Iteration)
    public void close() throws RdmaException {
        if (loop instanceof DirectLoop direct) {
            direct.close();
        }
        stack.close();
    }

    /** Posts and polls. */
    @Benchmark
    public long postAndPoll() throws RdmaException {
        return Placement.run(depth, loop, OPERATIONS);
    }
}
