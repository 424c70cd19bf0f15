// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;

import org.junit.jupiter.api.Test;

/** What the programs in C print. */
class OutputsTest {
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
    void samplesAreTurnedIntoMicroseconds() throws IOException {
        assertThat(Perftest.latencies(LATENCY, 2600)).containsExactly(new double[] {10, 20, 500}, within(1e-9));
    }

    @Test
    void otherUnitsAndFailuresAreRefused() {
        assertThatThrownBy(() -> Perftest.latencies(LATENCY.replace("cycles", "usec"), 2600))
                .isInstanceOf(IOException.class).hasMessageContaining("usec");
        assertThatThrownBy(() -> Perftest.latencies(" Couldn't connect to 192.168.99.1:18515", 2600))
                .isInstanceOf(IOException.class).hasMessageContaining("Couldn't connect");
        assertThatThrownBy(() -> Perftest.messagesPerSecond("Unable to init the socket connection"))
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
        return Perftest.messagesPerSecond(BANDWIDTH.formatted(line));
    }

    private static final String CMTIME = """
            creating id
            resolving address
            step              total ms     max ms     min us  us / conn
            create id    :        1.05       0.06      15.00     21.00
            resolve addr :        5.40       5.03    4377.00    108.00
            resolve route:        2.20       2.05    1000.00     44.00
            create qp    :       12.00       0.54     203.00    240.00
            connect      :       70.10      61.24    9375.00   1402.00
            disconnect   :       36.20      31.90    4011.00    724.00
            destroy      :        1.00       0.05      13.00     20.00
            """;

    @Test
    void theLastColumnOfCmtimeIsTheTimeOfAConnection() throws IOException {
        assertThat(Cmtime.stages(CMTIME)).hasSize(7).containsEntry("create id", 21.0).containsEntry("connect", 1402.0)
                .containsEntry("destroy", 20.0);
        assertThat(Cmtime.withoutStages(Cmtime.outcome(Cmtime.stages(CMTIME))).figures()).singleElement()
                .satisfies(figure -> assertThat(figure.value()).isEqualTo(1e6 / 1815, within(1e-9)));
    }

    @Test
    void aRunOfCmtimeWithFailuresDoesNotCount() {
        assertThatThrownBy(() -> Cmtime.stages("event: RDMA_CM_EVENT_REJECTED, error: 8\n" + CMTIME))
                .isInstanceOf(IOException.class).hasMessageContaining("REJECTED");
        assertThatThrownBy(() -> Cmtime.stages("creating id\n")).isInstanceOf(IOException.class);
    }
}
