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
 * operation is one request, also if one post contains several; the loop in C counts in the same way. With many queue
 * pairs or regions, each post uses another one, which costs cache misses, in C as well.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(PostAndPoll.OPERATIONS)
@Fork(value = 1, jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED", Disni.EXPORTS, Disni.QUIET})
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Benchmark)
public class PostAndPoll {
    /** Enough operations to make the cost of reading the clock negligible; a multiple of all batch sizes. */
    static final int OPERATIONS = 1 << 14;
    /** The largest batch. */
    static final int LARGEST_BATCH = 16;

    /** How to do it. */
    @Param({"PUBLIC_API", "GENERATED_BINDINGS", "JNI", "IN_PLACE", "CALLS_IN_PLACE"})
    public Way way;

    /** Requests per post. */
    @Param({"1", "16"})
    public int batch;

    /** The payload of each request. */
    @Param({"ONE_ENTRY"})
    public Payload payload;

    /** The largest number of completions per poll of the public API; 0 for as many as there are requests per post. */
    @Param({"0"})
    public int polled;

    /** The number of queue pairs; only for the rotating ways. */
    @Param({"1"})
    public int queuePairs;

    /** The number of memory regions; only for the rotating ways. */
    @Param({"1"})
    public int regions;

    /** Whether each post uses another queue pair or region. */
    @Param({"false"})
    public boolean rotate;

    private VerbsStack stack;
    private Disni disni;
    private Placement.Loop loop;
    private int depth;

    /** The ways, with what each of them needs. */
    public enum Way {
        /** The public API of the library. */
        PUBLIC_API(false, false),
        /** The generated bindings in the naive way: plain handles, and segments of a shared arena. */
        GENERATED_BINDINGS(false, false),
        /** A JNI library. */
        JNI(false, false),
        /** The stateful calls of {@link Disni}, which the environment has to name. */
        DISNI(false, false),
        /**
         * The public API with the extended interfaces: a batch that is posted with one doorbell (QP_EX,
         * {@code ibv_wr_*}), and completions that are read in place (CQ_EX, {@code ibv_start_poll}).
         */
        IN_PLACE(true, false),
        /** The native calls of the extended interfaces alone, for requests of one entry. */
        CALLS_IN_PLACE(true, false),
        /** The public API with many queue pairs. */
        QUEUE_PAIRS(false, true),
        /** The native calls alone, with many queue pairs. */
        CALLS_QUEUE_PAIRS(false, true),
        /** The public API with data of many regions. */
        REGIONS(false, true),
        /** The native calls alone, with data of many regions. */
        CALLS_REGIONS(false, true);

        private final boolean extended;
        private final boolean many;

        Way(boolean extended, boolean many) {
            this.extended = extended;
            this.many = many;
        }
    }

    /** Creates the objects, anew for each iteration: see {@link Placement}. */
    @Setup(Level.Iteration)
    public void open() throws RdmaException {
        stack = new VerbsStack(way.extended, way.many ? VerbsStack.SMALL_DEPTH : VerbsStack.DEPTH, queuePairs, regions);
        if (way.many) {
            stack.shuffled();
        }
        loop = loop();
        depth = Placement.anyDepth();
        if (way.many) {
            Placement.settle();
        }
    }

    private Placement.Loop loop() {
        int pairs = rotate ? queuePairs : 1;
        int parts = rotate ? regions : 1;
        return switch (way) {
            case PUBLIC_API -> new PublicLoop(stack, batch, polled == 0 ? batch : polled, payload);
            case GENERATED_BINDINGS -> new BindingsLoop(stack, batch, payload);
            case JNI -> new JniLoop(stack, batch, payload);
            case DISNI -> disni().loop(stack, batch, payload)::applyAsLong;
            case IN_PLACE -> new InPlaceLoop(stack, batch, payload, false);
            case CALLS_IN_PLACE -> new CallsInPlaceLoop(stack, batch, payload.entryLength());
            case QUEUE_PAIRS -> new RotatingLoop(stack, pairs, 1, false);
            case CALLS_QUEUE_PAIRS -> new CallsLoop(stack, pairs, 1, false);
            case REGIONS -> new RotatingLoop(stack, 1, parts, rotate);
            case CALLS_REGIONS -> new CallsLoop(stack, 1, parts, rotate);
        };
    }

    /** Loads DiSNI, once in a process. */
    private Disni disni() {
        if (disni == null) {
            disni = Disni.named(System.getenv()).orElseThrow(() -> new IllegalStateException(
                    "DiSNI was not named: set " + Disni.JAR + " and " + Disni.LIBRARY));
        }
        return disni;
    }

    /** Closes them. */
    @TearDown(Level.Iteration)
    public void close() throws RdmaException {
        if (loop instanceof BindingsLoop bindings) {
            bindings.close();
        }
        stack.close();
    }

    /** Posts and polls. */
    @Benchmark
    public long postAndPoll() throws RdmaException {
        return Placement.run(depth, loop, OPERATIONS);
    }
}
