// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;

import io.rdmacm.examples.testing.Kind;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** ibv_asyncwatch prints what the one of rdma-core prints when the link of a software device goes down and up. */
@RequiresRdma
class AsyncwatchDeviceTest {
    private static final String DEVICE = "rxewatch";
    private static final String INTERFACE = "rdmawatch";

    @BeforeEach
    void makeDevice() throws Exception {
        Assumptions.assumeTrue("root".equals(System.getProperty("user.name")), "only root can make a device");
        Assumptions.assumeTrue(run("ip", "link", "add", INTERFACE, "type", "dummy")
                && run("ip", "link", "set", INTERFACE, "up")
                && run("rdma", "link", "add", DEVICE, "type", "rxe", "netdev", INTERFACE),
                "a second software device cannot be made here");
    }

    @AfterEach
    void removeDevice() throws Exception {
        run("rdma", "link", "delete", DEVICE);
        run("ip", "link", "delete", INTERFACE);
    }

    private static boolean run(String... command) throws IOException, InterruptedException {
        return new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor() == 0;
    }

    @Test
    void theEventsOfAPortArePrinted() throws Exception {
        try (Program theirs = Kind.C.start("ibv_asyncwatch", "-d", DEVICE);
                Program ours = Kind.JAVA.start("ibv_asyncwatch", "-d", DEVICE)) {
            theirs.awaitOutput(DEVICE + ": async event FD \\d+");
            ours.awaitOutput(DEVICE + ": async event FD \\d+");
            assertThat(run("ip", "link", "set", INTERFACE, "down")).isTrue();
            assertThat(run("ip", "link", "set", INTERFACE, "up")).isTrue();
            for (Program watch : List.of(theirs, ours)) {
                watch.awaitOutput("(?s)PORT_ERR.*PORT_ACTIVE.*\n");
                assertThat(watch.output().lines()).containsSubsequence("  event_type IBV_EVENT_PORT_ERR (10), port 1",
                        "  event_type IBV_EVENT_PORT_ACTIVE (9), port 1");
            }
            ours.kill();
            assertThat(ours.result().status()).isEqualTo(130);
            assertThat(ours.result().err()).isEmpty();
        }
    }
}
