// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A short soak, and that a soak finds what it is there to find. */
@RequiresRdma
class SoakDeviceTest {
    private record Result(int status, String output) {
    }

    @AfterEach
    void repair() throws Exception {
        Sabotage.repair();
    }

    @Test
    void nothingIsLostAndNothingIsLeft() {
        Result result = soak("--minutes", "0.1", "--only",
                "messages,endpoints,verbs,batches,regions,windows,datagrams,message-closed-by-peer,message-wrong-key,"
                        + "endpoint-rejected,endpoint-closed-by-peer,verbs-closed-twice,verbs-wrong-order");
        assertThat(result.output).contains("well: nothing lost, nothing left").contains("verbs-closed-twice");
        assertThat(result.status).isZero();
    }

    @Test
    void aNumberOfCyclesIsReached() {
        Result result = soak("--cycles", "20");
        assertThat(result.output).containsPattern("in all 2\\d connections").contains("well:");
        assertThat(result.status).isZero();
        assertThat(soak("--cycles", "1000000", "--minutes", "0.02").output).contains("TOO SLOW");
    }

    @ParameterizedTest
    @CsvSource({"leaked-object, LEAK: 0 objects before", "leaked-file, LEAK: ", "lost-message, LOSS: in lost-message",
        "wrong-byte, LOSS: in wrong-byte"})
    void whatIsDoneWrongOnPurposeIsFound(String act, String told) {
        Result result = soak("--minutes", "0.15", "--patience", "5", "--only", "messages," + act);
        assertThat(result.output).contains(told).contains("with the seed 7").doesNotContain("well:");
        assertThat(result.status).isOne();
    }

    /** In a JVM of its own, for it cannot be repaired. */
    @Test
    void memoryThatIsLostOutsideTheHeapIsFound() throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(Soak.class).nativeAccess().run("--minutes", "0.6", "--shift", "1",
                "--workers", "2", "--only", "leaked-memory");
        assertThat(result.output()).contains("LEAK: memory").doesNotContain("well:");
        assertThat(result.status()).isOne();
    }

    @Test
    void aHangIsToldWithAllThreadsAndEnded() throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(Soak.class).nativeAccess().run("--patience", "1", "--only", "hang");
        assertThat(result.output()).contains("HANG: hang, act 0").contains("CountDownLatch.await");
        assertThat(result.status()).isEqualTo(Watchdog.HUNG);
    }

    private static Result soak(String... options) {
        List<String> all = new ArrayList<>(List.of("--seed", "7", "--workers", "2", "--shift", "1"));
        all.addAll(List.of(options));
        StringWriter output = new StringWriter();
        int status = Soak.run(new PrintWriter(output, true), all.toArray(String[]::new));
        return new Result(status, output.toString());
    }
}
