// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

import io.rdmacm.bench.device.measure.Measurement;
import io.rdmacm.bench.device.measure.Measurement.Figure;
import io.rdmacm.bench.device.measure.Operation;
import io.rdmacm.bench.device.measure.Polling;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairType;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** RDMA writes or reads per second, with many outstanding. Needs an RDMA device. */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 3, time = 1)
@org.openjdk.jmh.annotations.Measurement(iterations = 5, time = 1)
public class DeviceRateBenchmark {
    private static final int COUNT = 256;

    /** WRITE or READ. */
    @Param({"WRITE", "READ"})
    public Operation operation;

    /** The maximum number of outstanding operations. */
    @Param({"1", "128"})
    public int depth;

    /** Bytes of each operation. */
    @Param({"64", "65536"})
    public int size;

    private End near;
    private End far;
    private BandwidthLoop loop;

    /** Connects the ends. */
    @Setup(Level.Trial)
    public void connect() throws Exception {
        Measurement measurement = new Measurement(Figure.BANDWIDTH, operation, QueuePairType.RC, Polling.BUSY, size,
                depth, COUNT);
        near = new End(measurement, 1);
        far = new End(measurement, 1);
        near.connect(far.address());
        far.connect(near.address());
        loop = new BandwidthLoop(near);
    }

    /** Closes them. */
    @TearDown(Level.Trial)
    public void close() throws RdmaException {
        near.close();
        far.close();
    }

    /** Posts and polls until all operations are done. */
    @Benchmark
    @OperationsPerInvocation(COUNT)
    public long operations() throws IOException, InterruptedException {
        return loop.send(COUNT);
    }
}
