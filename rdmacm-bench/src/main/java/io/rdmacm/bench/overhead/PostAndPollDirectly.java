// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.util.concurrent.TimeUnit;

import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.mlx5.DirectQueuePair;
import io.rdmacm.verbs.work.AccessFlag;
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

/** The same as {@link PostAndPollOverMlx5} without a call into C: {@link DirectQueuePair}. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(PostAndPollOverMlx5.OPERATIONS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Benchmark)
public class PostAndPollDirectly {
    /** Requests per post. */
    @Param({"1", "16"})
    public int batch;

    private VerbsContext context;
    private ProtectionDomain domain;
    private MemoryRegion region;
    private DirectQueuePair pair;
    private Placement.Loop loop;
    private int depth;

    /** Creates the objects, anew for each iteration: see {@link Placement}. */
    @Setup(Level.Iteration)
    public void open() throws RdmaException {
        context = Device.list().getFirst().open();
        domain = context.allocateProtectionDomain();
        region = domain.allocate(VerbsStack.REGION, AccessFlag.LOCAL_WRITE);
        Placement.shiftMemory();
        pair = DirectQueuePair.create(domain, VerbsStack.DEPTH, Mlx5StandIn.COMPLETIONS);
        Mlx5StandIn.connect(context, pair.number(), pair::modify);
        pair.writeFrom(region, VerbsStack.REMOTE_KEY);
        loop = new DirectLoop(pair, batch, Payload.ONE_ENTRY.entryLength());
        depth = Placement.anyDepth();
    }

    /** Completes the requests of an invocation, which is not measured. */
    @Setup(Level.Invocation)
    public void foresee() {
        Mlx5StandIn.foresee();
    }

    /** Closes the objects. */
    @TearDown(Level.Iteration)
    public void close() throws RdmaException {
        pair.close();
        region.close();
        domain.close();
        context.close();
    }

    /** No calls into C. */
    @Benchmark
    public long direct() throws RdmaException {
        return Placement.run(depth, loop, PostAndPollOverMlx5.OPERATIONS);
    }
}
