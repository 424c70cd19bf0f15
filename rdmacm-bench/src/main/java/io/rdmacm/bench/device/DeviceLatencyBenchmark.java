// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.util.Locale;
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
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * Latencies over a device with both ends in one process: a send with an answer, an RDMA write with an answer, an RDMA
 * read, a fetch and add. The times are round trips. With a single CPU, do not use {@code BUSY}.
 */
@State(Scope.Thread)
@BenchmarkMode({Mode.AverageTime, Mode.SampleTime})
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 3, time = 1)
@org.openjdk.jmh.annotations.Measurement(iterations = 5, time = 1)
public class DeviceLatencyBenchmark {
    private static final int RECEIVES = 512;

    /** How both ends wait. */
    @Param({"AWAIT", "YIELD"})
    public Polling polling;

    /** Bytes of each operation. */
    @Param({"64", "4096"})
    public int size;

    private LocalPair pair;

    /** Connects the ends. */
    @Setup(Level.Trial)
    public void connect(BenchmarkParams params) throws Exception {
        String name = params.getBenchmark();
        Operation operation = Operation.valueOf(name.substring(name.lastIndexOf('.') + 1)
                .replaceAll("([A-Z].*)", "").toUpperCase(Locale.ROOT));
        // a write raises no event at its target
        Polling possible = operation == Operation.WRITE && polling.usesEvents() ? Polling.YIELD : polling;
        pair = new LocalPair(new Measurement(Figure.LATENCY, operation, QueuePairType.RC, possible,
                operation == Operation.ATOMIC ? Measurement.ATOMIC_SIZE : size, 1, RECEIVES),
                RECEIVES);
    }

    /** Closes them. */
    @TearDown(Level.Trial)
    public void close() throws RdmaException {
        pair.close();
    }

    /** A message and an answer. */
    @Benchmark
    public void sendAndAnswer() throws IOException, InterruptedException {
        pair.operate();
    }

    /** A write and a write in answer; never uses completion events. */
    @Benchmark
    public void writeAndAnswer() throws IOException, InterruptedException {
        pair.operate();
    }

    /** A read. */
    @Benchmark
    public void read() throws IOException, InterruptedException {
        pair.operate();
    }

    /** A fetch and add, always of 8 bytes. */
    @Benchmark
    public void atomic() throws IOException, InterruptedException {
        pair.operate();
    }
}
