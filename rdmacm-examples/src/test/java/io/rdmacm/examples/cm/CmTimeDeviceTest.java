// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import static io.rdmacm.examples.testing.Kind.C;
import static io.rdmacm.examples.testing.Kind.JAVA;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.testing.Addresses;
import io.rdmacm.examples.testing.CmServer;
import io.rdmacm.examples.testing.Kind;
import io.rdmacm.examples.testing.Ports;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.ResourceCounts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The program cmtime, with itself and with the one of librdmacm. */
@RequiresRdma
class CmTimeDeviceTest {
    private static final String NAME = "cmtime";
    private static final List<String> ROWS = List.of("create id    ", "resolve addr ", "resolve route",
            "create qp    ", "connect      ", "disconnect   ", "destroy      ");
    private static final List<String> STEPS = List.of("creating id", "resolving address", "resolving route",
            "creating qp", "connecting", "disconnecting", "destroying id",
            "step              total ms     max ms     min us  us / conn");
    // The server does not always hear at once of clients that are killed while they connect: sometimes only when its
    // kernel stops repeating its answer, after 69 s.
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    @ParameterizedTest
    @CsvSource({"JAVA, C, false", "C, JAVA, false", "JAVA, JAVA, false", "JAVA, C, true", "C, JAVA, true",
        "JAVA, JAVA, true"})
    void everyStepIsMeasured(Kind serverKind, Kind clientKind, boolean ipv6) throws Exception {
        try (CmServer server = CmServer.start(serverKind, NAME, ipv6, List.of());
                Program client = server.client(clientKind, List.of("-c", "20"))) {
            assertMeasured(client, STEPS, ROWS);
        }
    }

    @ParameterizedTest
    @CsvSource({"JAVA, C", "C, JAVA"})
    void bindingIsMeasuredToo(Kind serverKind, Kind clientKind) throws Exception {
        List<String> steps = new ArrayList<>(STEPS);
        steps.add(1, "binding source address");
        List<String> rows = new ArrayList<>(ROWS);
        rows.add(1, "bind addr    ");
        try (CmServer server = CmServer.start(serverKind, NAME, false, List.of()); Program client = server.client(
                clientKind, List.of("-c", "3", "-b", Addresses.ipv4(), "-r", "3", "-t", "5000"))) {
            assertMeasured(client, steps, rows);
        }
    }

    @Test
    void nobodyListens() throws Exception {
        String port = "" + Ports.free(Addresses.of(false), PortSpace.TCP);
        try (Program client = JAVA.start(NAME, "-s", Addresses.ipv4(), "-p", port, "-c", "3")) {
            CmServer.assertFailed(client, NAME, "3 of 3 connections failed, the first: ");
            assertThat(client.result().err()).contains("nobody listens on this port");
        }
    }

    @Test
    void noRouteToTheServer() throws Exception {
        try (Program client = JAVA.start(NAME, "-s", "192.0.2.77", "-c", "3")) {
            CmServer.assertFailed(client, NAME, "3 of 3 connections failed");
        }
    }

    @Test
    void serverSurvivesItsClientsAndKeepsNothingOfThem() throws Exception {
        try (CmServer server = CmServer.start(JAVA, NAME, false, List.of())) {
            long idle = ResourceCounts.now().objects();
            for (int i = 0; i < 3; i++) {
                try (Program client = server.client(C, List.of("-c", "50"))) {
                    client.awaitOutput("connecting");
                    client.kill();
                    client.result();
                }
            }
            try (Program client = server.client(JAVA, List.of("-c", "10"))) {
                assertMeasured(client, STEPS, ROWS);
            }
            assertThat(ResourceCounts.await(counts -> counts.objects() == idle, PATIENCE).objects()).isEqualTo(idle);
            server.program().kill();
            assertThat(server.program().result().status()).isEqualTo(130);
        }
    }

    private static void assertMeasured(Program client, List<String> steps, List<String> rows)
            throws InterruptedException {
        Program.Result result = client.result();
        assertThat(result.status()).as(result.toString()).isZero();
        assertThat(result.outLines()).startsWith(steps.toArray(String[]::new)).hasSize(steps.size() + rows.size());
        for (int i = 0; i < rows.size(); i++) {
            assertThat(result.outLines().get(steps.size() + i)).matches(rows.get(i) + ": ( *\\d+\\.\\d\\d){4}");
        }
    }
}
