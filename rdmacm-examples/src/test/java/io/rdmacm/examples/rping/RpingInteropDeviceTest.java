// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.rping;

import static io.rdmacm.examples.testing.Kind.C;
import static io.rdmacm.examples.testing.Kind.JAVA;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.examples.testing.Addresses;
import io.rdmacm.examples.testing.Kind;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.examples.testing.Rpings;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The program rping, with itself and with the one of librdmacm. */
@RequiresRdma
class RpingInteropDeviceTest {
    private static final int COUNT = 100;
    private static final int SIZE = 4096;

    @ParameterizedTest
    @CsvSource({"JAVA, C, false", "C, JAVA, false", "JAVA, JAVA, false", "JAVA, C, true", "C, JAVA, true",
        "JAVA, JAVA, true"})
    void pingsAreReturned(Kind server, Kind client, boolean ipv6) throws Exception {
        pingPong(server, client, Addresses.of(ipv6), COUNT, SIZE);
    }

    @ParameterizedTest
    @CsvSource({"JAVA, C", "C, JAVA", "JAVA, JAVA"})
    void selfCreatedQueuePairs(Kind server, Kind client) throws Exception {
        RdmaTestDevice.assumeConnectedByHand();
        pingPong(server, client, Addresses.of(false), 10, 64, "-q");
    }

    @Test
    void pingsOfTheSmallestAndTheLargestSize() throws Exception {
        pingPong(JAVA, JAVA, Addresses.of(false), 3, 23);
        pingPong(JAVA, JAVA, Addresses.of(false), 3, 65_535);
    }

    @Test
    void clientFromAGivenAddress() throws Exception {
        String source = Addresses.of(false).getHostAddress();
        try (Rpings.Server server = Rpings.server(JAVA);
                Program client = server.client(JAVA, "-C", "1", "-I", source)) {
            assertThat(client.result().status()).isZero();
            assertThat(server.program().result().status()).isZero();
        }
    }

    @Test
    void persistentServerServesManyClientsInARow() throws Exception {
        try (Rpings.Server server = Rpings.server(JAVA, "-P", "-v", "-S", "" + SIZE)) {
            for (int i = 0; i < 20; i++) {
                try (Program client = server.client(C, "-C", "5", "-S", "" + SIZE, "-V", "-v")) {
                    assertPinged(client.result(), 5, SIZE);
                }
            }
            stop(server.program());
            assertThat(server.program().result().outLines()).filteredOn(line -> line.startsWith("server ping data: "))
                    .hasSize(20 * 5);
        }
    }

    @Test
    void persistentServerServesClientsAtOnce() throws Exception {
        try (Rpings.Server server = Rpings.server(JAVA, "-P", "-S", "" + SIZE)) {
            // They stay connected until all four have been served for a while.
            List<Program> clients = startFour(server);
            for (Program client : clients) {
                client.awaitOutput("rdma-ping-50: ");
            }
            for (Program client : clients) {
                client.kill();
                assertThat(client.result().outLines()).startsWith(
                        Rpings.lines("ping data: ", 50, SIZE).toArray(String[]::new));
            }
            for (Program client : startFour(server, "-C", "" + COUNT)) {
                assertPinged(client.result(), COUNT, SIZE);
            }
            stop(server.program());
        }
    }

    private static List<Program> startFour(Rpings.Server server, String... more) throws IOException {
        List<String> options = new ArrayList<>(List.of("-S", "" + SIZE, "-V", "-v"));
        options.addAll(List.of(more));
        List<Program> clients = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            clients.add(server.client(C, options.toArray(String[]::new)));
        }
        return clients;
    }

    private static void pingPong(Kind serverKind, Kind clientKind, InetAddress address, int count,
            int size, String... more) throws IOException, InterruptedException {
        List<String> options = new ArrayList<>(List.of("-S", "" + size, "-V", "-v"));
        options.addAll(List.of(more));
        try (Rpings.Server server = Rpings.server(serverKind, address, options.toArray(String[]::new))) {
            options.addAll(List.of("-C", "" + count));
            try (Program client = server.client(clientKind, options.toArray(String[]::new))) {
                Program.Result result = client.result();
                assertPinged(result, count, size);
                Program.Result served = server.program().result();
                assertThat(served.status()).as(served.err()).isZero();
                assertThat(served.outLines()).filteredOn(line -> !line.startsWith("server listening"))
                        .isEqualTo(Rpings.lines("server ping data: ", count, size));
                assertThat(served.errLines()).contains("server DISCONNECT EVENT...");
                if (clientKind != C) {
                    assertThat(result.errLines()).containsExactly("client DISCONNECT EVENT...");
                }
                if (serverKind != C) {
                    assertThat(served.errLines()).containsExactly("server DISCONNECT EVENT...");
                }
            }
        }
    }

    private static void assertPinged(Program.Result client, int count, int size) {
        assertThat(client.status()).as(client.err()).isZero();
        assertThat(client.outLines()).isEqualTo(Rpings.lines("ping data: ", count, size));
    }

    private static void stop(Program server) throws InterruptedException {
        server.kill();
        assertThat(server.result().status()).isEqualTo(130);
    }
}
