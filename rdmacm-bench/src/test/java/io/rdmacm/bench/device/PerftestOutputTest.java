// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;

import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class PerftestOutputTest {
    private static final String LATENCY = """
            ---------------------------------------------------------------------------------------
            Device not recognized to implement inline feature. Disabling it
            ---------------------------------------------------------------------------------------
                                RDMA_Read Latency Test
             Dual-port       : OFF\t\tDevice         : rxe0
             Outstand reads  : 16
             local address: LID 0000 QPN 0x0013 PSN 0x5c4c47
             GID: 00:00:00:00:00:00:00:00:00:00:255:255:192:168:99:01
            ---------------------------------------------------------------------------------------
            #, cycles
            1, 26000
            2, 52000
            3, 1.3e+06
             #bytes #iterations    t_min[cycles]    t_max[cycles]  t_typical[cycles]    t_avg[cycles]
             64      4          26000.00       1300000.00        52000.00             39000.00     0.00
            ---------------------------------------------------------------------------------------
            """;
    private static final String BANDWIDTH = """
            ---------------------------------------------------------------------------------------
                                RDMA_Write BW Test
             Mtu             : 4096[B]
            ---------------------------------------------------------------------------------------
             #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
             %s
            ---------------------------------------------------------------------------------------
            """;

    @Test
    void samplesAreTurnedIntoNanoseconds() throws IOException {
        Histogram histogram = PerftestOutput.latencies(LATENCY, 2600);

        assertThat(histogram.getTotalCount()).isEqualTo(3);
        assertThat((double) histogram.getMinValue()).isEqualTo(10_000, within(10.0));
        assertThat((double) histogram.getValueAtPercentile(50)).isEqualTo(20_000, within(20.0));
        assertThat((double) histogram.getMaxValue()).isEqualTo(500_000, within(500.0));
    }

    @Test
    void otherUnitsAndFailuresAreRefused() {
        assertThatThrownBy(() -> PerftestOutput.latencies(LATENCY.replace("cycles", "usec"), 2600))
                .isInstanceOf(IOException.class).hasMessageContaining("usec");
        assertThatThrownBy(() -> PerftestOutput.latencies(" Couldn't connect to 192.168.99.1:18515", 2600))
                .isInstanceOf(IOException.class).hasMessageContaining("Couldn't connect");
        assertThatThrownBy(() -> PerftestOutput.messagesPerSecond("Unable to init the socket connection"))
                .isInstanceOf(IOException.class).hasMessageContaining("Unable to init");
    }

    @Test
    void smallMessagesAreToldByTheirRateAndLargeOnesByTheirBandwidth() throws IOException {
        assertThat(rate("64         1000             0.00               3.20 \t\t   0.052500")).isEqualTo(52_500);
        assertThat(rate("4194304    20               0.00               400.00 \t\t   0.000099")).isEqualTo(100);
        assertThat(rate("65536      1000             0.00               389.68 \t\t   0.006235"))
                .isEqualTo(6234.88, within(0.01));
    }

    @Test
    void aResultWithoutTheFrequencyOfTheCpuIsNone() throws IOException {
        assertThat(rate("64         1000             -nan               inf \t\t   inf")).isZero();
        assertThat(rate("64         1000             0.00               0.00 \t\t   0.000000")).isZero();
    }

    private static double rate(String line) throws IOException {
        return PerftestOutput.messagesPerSecond(BANDWIDTH.formatted(line));
    }
}
