// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.life;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;

import io.rdmacm.verbs.forked.LoseObjects;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.Test;

/** Objects that become unreachable without having been closed are reported, if leak detection is on. */
@WithFakeVerbs
class LeakDetectionTest {
    @Test
    void leakedObjectsAreReportedOnceWithTheStackTraceOfTheirCreation() throws IOException, InterruptedException {
        ForkedJvm.Result result = ForkedJvm.of(LoseObjects.class).nativeAccess()
                .property("io.rdmacm.leakDetection", "true").run("detect");

        List<String> lines = result.output().lines().toList();
        List<String> reports = lines.stream().filter(line -> line.contains("was lost without close()")).toList();
        assertThat(reports).describedAs(result.output() + result.errors())
                .allSatisfy(line -> assertThat(line).contains("WARN io.rdmacm.leaks - "))
                .satisfiesOnlyOnce(line -> assertThat(line).contains("MemoryRegion[1234 bytes, lkey "))
                .satisfiesOnlyOnce(line -> assertThat(line).contains("MemoryRegion[2345 bytes, lkey "))
                .satisfiesOnlyOnce(line -> assertThat(line).contains("AsyncEvent[PORT_ACTIVE of port 1 of fake0] "))
                .satisfiesOnlyOnce(line -> assertThat(line).contains("RegisteredPool[slices of 448 bytes, "))
                .satisfiesOnlyOnce(line -> assertThat(line).contains("RegisteredSlice[448 bytes at 0 of "))
                .noneSatisfy(line -> assertThat(line).contains("4321"))
                .noneSatisfy(line -> assertThat(line).contains("RegisteredSlice[448 bytes at 448 of "))
                .noneSatisfy(line -> assertThat(line).contains("320 bytes"));
        assertThat(reports.stream().filter(line -> line.contains("VerbsContext[fake0] was lost")))
                .describedAs("the four that were not closed").hasSizeBetween(1, 4);
        assertThat(trace(lines, "MemoryRegion[1234 bytes"))
                .anyMatch(line -> line.contains("at io.rdmacm.verbs.ProtectionDomain.allocate("))
                .anyMatch(line -> line.contains("at io.rdmacm.verbs.forked.LoseObjects.lose("));
        assertThat(trace(lines, "RegisteredSlice["))
                .anyMatch(line -> line.contains("at io.rdmacm.verbs.pool.RegisteredPool.take("))
                .anyMatch(line -> line.contains("at io.rdmacm.verbs.forked.LoseObjects.loseSlice("));
    }

    private static List<String> trace(List<String> lines, String object) {
        List<String> after = lines.stream().dropWhile(line -> !line.contains(" - " + object)).skip(1).toList();
        assertThat(after).first().asString().contains("created here");
        return after.stream().skip(1).takeWhile(line -> line.startsWith("\tat ")).toList();
    }

    @Test
    void nothingIsReportedByDefault() throws IOException, InterruptedException {
        ForkedJvm.Result result = ForkedJvm.of(LoseObjects.class).nativeAccess().run("ignore");

        assertThat(result.status()).describedAs(result.errors()).isZero();
        assertThat(result.output()).isEmpty();
    }
}
