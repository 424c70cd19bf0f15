// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.util.concurrent.TimeUnit;

import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.pool.RegisteredPool;
import io.rdmacm.verbs.pool.RegisteredSlice;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/** Taking a slice of a pool of registered memory and giving it back: by one thread, and by two that share the pool. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 3, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Benchmark)
public class TakeAndGiveBack {
    private static final int SLICE = 4096;

    private VerbsContext context;
    private ProtectionDomain domain;
    private RegisteredPool pool;

    /** Creates the pool. */
    @Setup
    public void open() throws RdmaException {
        NullProvider.unpacked().standIn();
        context = Device.list().getFirst().open();
        domain = context.allocateProtectionDomain();
        pool = RegisteredPool.create(domain, SLICE);
    }

    /** Closes it. */
    @TearDown
    public void close() throws RdmaException {
        pool.close();
        domain.close();
        context.close();
    }

    /** A thread that has the pool to itself. */
    @Benchmark
    public void alone(Blackhole hole) throws RdmaException {
        use(hole);
    }

    /** Two threads that do nothing else, at the same time. */
    @Benchmark
    @Threads(2)
    public void contended(Blackhole hole) throws RdmaException {
        use(hole);
    }

    private void use(Blackhole hole) throws RdmaException {
        try (RegisteredSlice slice = pool.take()) {
            // so that it is allocated, as one that waits for a completion would be
            hole.consume(slice);
        }
    }
}
