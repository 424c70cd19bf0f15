// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.ThreadMXBean;
import io.rdmacm.core.testing.Streams;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/**
 * What a write and a read allocate on the Java heap, once they are compiled. A read that finds nothing counts as one:
 * SoftRoCE of newer kernels works in threads of its own, and an emulated machine is slow.
 */
@RequiresRdma
class StreamAllocationDeviceTest {
    private static final int ITERATIONS = 1_000;
    // The compilers run beside this thread: a slow machine needs more rounds until they are done.
    private static final int MOST_ROUNDS = 100;
    // C1, to which an emulated guest keeps, cannot leave out any allocation, such as those of the JDK in each downcall.
    private static final int LITTLE = isOptimizing() ? 100 : 400;

    private long calls;

    private static boolean isOptimizing() {
        return ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).getVMOption("TieredStopAtLevel")
                .getValue().equals("4");
    }

    @Test
    void writesAndReadsThatDoNotWait() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        ByteBuffer heap = ByteBuffer.allocate(500);
        ByteBuffer direct = ByteBuffer.allocateDirect(500);
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect()) {
            double least = Double.MAX_VALUE;
            for (int round = 0; round < MOST_ROUNDS && least > LITTLE; round++) {
                calls = 0;
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < ITERATIONS; i++) {
                    echo(pair, heap);
                    echo(pair, direct);
                }
                long allocated = threads.getCurrentThreadAllocatedBytes() - before;
                least = Math.min(least, 2.0 * allocated / calls);
            }
            assertThat(least).isLessThanOrEqualTo(LITTLE);
        }
    }

    /** Sends a buffer to the other end, whose device is in this machine, so that it arrives soon. */
    private void echo(Streams.Pair pair, ByteBuffer buffer) throws Exception {
        buffer.clear();
        while (buffer.hasRemaining()) {
            pair.client().write(buffer);
            calls++;
        }
        buffer.clear();
        while (buffer.hasRemaining()) {
            pair.server().read(buffer);
            calls++;
        }
    }
}
