// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Filling in an RDMA write: in place in a preallocated block, or in a struct that is allocated for each request. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class WorkRequestBenchmark {
    private final SendRequest request = SendRequests.allocate(1, 1).get(0);
    private long id;

    /** A request in a block of {@link SendRequests}. */
    @Benchmark
    public SendRequest inPlace() {
        return request.id(++id).rdmaWrite(0x7000_0000L + id, 17).signaled(true);
    }

    /** The generated bindings, with an allocation per request. */
    @Benchmark
    public long allocatedEachTime() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = ibv_send_wr.allocate(arena);
            ibv_send_wr.wr_id(struct, ++id);
            ibv_send_wr.opcode(struct, Rdma.IBV_WR_RDMA_WRITE());
            ibv_send_wr.send_flags(struct, Rdma.IBV_SEND_SIGNALED());
            MemorySegment rdma = ibv_send_wr.wr.rdma(ibv_send_wr.wr(struct));
            ibv_send_wr.wr.rdma.remote_addr(rdma, 0x7000_0000L + id);
            ibv_send_wr.wr.rdma.rkey(rdma, 17);
            return struct.address();
        }
    }
}
