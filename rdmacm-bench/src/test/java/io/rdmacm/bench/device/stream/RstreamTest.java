// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;

import io.rdmacm.bench.report.Result;
import org.junit.jupiter.api.Test;

class RstreamTest {
    @Test
    void itDoesTheSame() {
        assertThat(String.join(" ", Rstream.options("7471", true, 64, 500)))
                .isEqualTo("rstream -T b -p 7471 -S 64 -B 524288 -C 1 -I 500");
        assertThat(String.join(" ", Rstream.options("7471", false, 65536, 9))).endsWith("-C 9 -I 1");
    }

    @Test
    void itsOutputIsRead() throws IOException {
        assertThat(Rstream.microsPerTransfer("""
                name      bytes   xfers   iters   total       time     Gb/sec    usec/xfer
                custom    64      1       500     62k         0.03s      0.02      30.25
                """)).isEqualTo(30.25);
        assertThatThrownBy(() -> Rstream.microsPerTransfer("rconnect: Connection refused"))
                .isInstanceOf(IOException.class).hasMessageContaining("refused");
    }

    @Test
    void theSummaryFindsTheWays() {
        assertThat(List.of(StreamWay.values())).extracting(Result::word).containsExactly("engine", "nio", "nio tcp",
                "netty epoll", "netty registered", "netty rdma", "netty tcp");
    }
}
