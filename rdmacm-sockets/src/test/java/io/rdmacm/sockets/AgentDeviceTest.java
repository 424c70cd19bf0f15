// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

import io.rdmacm.sockets.forked.HttpProgram;
import io.rdmacm.sockets.forked.PlainProgram;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs that know nothing of RDMA, in JVMs with the agent. */
@RequiresRdma
class AgentDeviceTest {
    private static final String ADDRESS = RdmaTestDevice.get().ipv4().getHostAddress();
    // What HttpProgram sends, in both directions.
    private static final int PACKETS = 8 * 300_000 / SentPackets.SIZE;

    // On a slow machine, TCP would often win.
    private static final String PATIENT = "=beside:240000";

    @TempDir
    private Path folder;

    private static void assertHttp(ForkedJvm jvm) throws Exception {
        Optional<Long> before = SentPackets.count();
        ForkedJvm.Result result = jvm.run("0.0.0.0", ADDRESS, "127.0.0.1");

        assertThat(result.status()).as(result.errors()).isZero();
        assertThat(result.output().lines()).hasSize(8).allMatch(line -> line.endsWith(" true"));
        assertThat(AgentJar.lines(result)).hasSize(1)
                .allMatch(line -> line.startsWith("rdmacm-sockets: INFO ") && line.contains(ADDRESS));
        if (before.isPresent()) {
            assertThat(SentPackets.count().orElseThrow() - before.get()).isGreaterThan(PACKETS);
        }
    }

    @Test
    void theHttpServerAndClientOfTheJdkGoOverRdma() throws Exception {
        assertHttp(ForkedJvm.of(HttpProgram.class).options("-javaagent:" + AgentJar.in(folder) + PATIENT));
    }

    @Test
    void theJarHasEverything() throws Exception {
        Optional<Path> jar = AgentJar.packaged();
        assumeTrue(jar.isPresent(), "the jar was not made yet");
        String tests = Path.of(HttpProgram.class.getProtectionDomain().getCodeSource().getLocation().toURI())
                .toString();
        assertHttp(ForkedJvm.of(HttpProgram.class).options("-javaagent:" + jar.get() + PATIENT).classPath(tests));
    }

    @Test
    void plainSocketsGoOverRdma() throws Exception {
        ForkedJvm.Result result = ForkedJvm.of(PlainProgram.class)
                .options("-javaagent:" + AgentJar.in(folder) + PATIENT).run(ADDRESS);

        assertThat(result.status()).as(result.output() + result.errors()).isZero();
        assertThat(result.output().lines()).containsSequence(Stream.of("connect RDMA", "accept RDMA", "echo true",
                "interrupted true", "timeout true", "option true", "local TCP", "echo true", "refused true",
                "accept timeout true", "closed true", "asynchronous RDMA").toList());
    }
}
