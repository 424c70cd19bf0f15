// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs a short soak, and checks that a soak finds the errors that it looks for. */
@Nightly
@RequiresRdma
class SoakDeviceTest {
    private record Result(int status, String output) {
    }

    @AfterEach
    void cleanUp() throws Exception {
        InjectedBug.cleanUp();
    }

    @Test
    void nothingIsLostOrLeaked() {
        Result result = soak("--minutes", "0.1", "--only",
                "messages,handlers,endpoints,verbs,batches,regions,windows,datagrams,message-closed-by-peer,"
                        + "message-wrong-key,endpoint-rejected,endpoint-closed-by-peer,verbs-closed-twice,"
                        + "verbs-wrong-order,echoed-large-messages,echoed-streams,echoed-nio,echoed-netty,"
                        + "echoed-netty-tls,handler-closes,handler-overflows,client-after-the-answer,"
                        + "client-wrong-messages,server-wrong-answer,closed-by-another,server-closed,server-killed");
        assertThat(result.output).contains("OK: nothing lost, nothing leaked").contains("verbs-closed-twice");
        assertThat(result.status).isZero();
    }

    @Test
    void aNumberOfCyclesIsReached() {
        Result result = soak("--cycles", "20");
        assertThat(result.output).containsPattern("in all 2\\d connections").contains("OK:");
        assertThat(result.status).isZero();
        assertThat(soak("--cycles", "1000000", "--minutes", "0.02").output).contains("TOO SLOW");
    }

    @ParameterizedTest
    @CsvSource({"leaked-object, LEAK: \\d+ objects", "leaked-file, LEAK: ", "lost-message, LOSS: in lost-message",
        "wrong-byte, LOSS: in wrong-byte", "wrong-echo, LOSS: in wrong-echo",
        "failed-server, java.io.IOException: a server has failed", "leaked-buffer, buffers were not released",
        "unnoticed-end, a fault was not reported"})
    void injectedBugsAreFound(String bug, String expected) {
        Result result = soak("--minutes", "0.15", "--timeout", "5", "--only", "messages," + bug);
        assertThat(result.output).containsPattern(expected).contains("with the seed 7").doesNotContain("OK:");
        assertThat(result.status).isOne();
    }

    /** Runs in a JVM of its own, because the memory cannot be freed again. */
    @Test
    void leakedNativeMemoryIsFound() throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(Soak.class).nativeAccess().run("--minutes", "0.2", "--interval", "1",
                "--workers", "2", "--only", "leaked-memory");
        assertThat(result.output()).contains("LEAK: memory").doesNotContain("OK:");
        assertThat(result.status()).isOne();
    }

    @Test
    void aHangEndsTheProgramWithAThreadDump() throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(Soak.class).nativeAccess().run("--timeout", "1", "--only", "hang");
        assertThat(result.output()).contains("HANG: hang, scenario 0").contains("CountDownLatch.await");
        assertThat(result.status()).isEqualTo(Watchdog.HUNG);
    }

    private static Result soak(String... options) {
        List<String> all = new ArrayList<>(List.of("--seed", "7", "--workers", "2", "--interval", "1"));
        all.addAll(List.of(options));
        StringWriter output = new StringWriter();
        int status = Soak.run(new PrintWriter(output, true), all.toArray(String[]::new));
        return new Result(status, output.toString());
    }
}
