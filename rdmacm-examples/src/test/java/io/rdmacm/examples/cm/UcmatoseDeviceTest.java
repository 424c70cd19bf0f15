// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import static io.rdmacm.examples.testing.Kind.C;
import static io.rdmacm.examples.testing.Kind.JAVA;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;

import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.testing.Addresses;
import io.rdmacm.examples.testing.CmServer;
import io.rdmacm.examples.testing.Kind;
import io.rdmacm.examples.testing.Leaks;
import io.rdmacm.examples.testing.Ports;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The program ucmatose, with itself and with the one of librdmacm. */
@RequiresRdma
class UcmatoseDeviceTest {
    private static final String NAME = "ucmatose";
    private static final List<String> SERVER = List.of("cmatose: starting server", "initiating data transfers",
            "completing sends", "receiving data transfers", "data transfers complete", "cmatose: disconnecting",
            "disconnected", "test complete", "return status 0");
    private static final List<String> CLIENT = List.of("cmatose: starting client", "cmatose: connecting",
            "receiving data transfers", "sending replies", "data transfers complete", "test complete",
            "return status 0");

    @ParameterizedTest
    @CsvSource({"JAVA, C, false", "C, JAVA, false", "JAVA, JAVA, false", "JAVA, C, true", "C, JAVA, true",
        "JAVA, JAVA, true"})
    void messagesTravelBothWays(Kind server, Kind client, boolean ipv6) throws Exception {
        run(server, client, ipv6, List.of("-c", "3", "-C", "20", "-S", "1000"), SERVER, CLIENT);
    }

    @ParameterizedTest
    @CsvSource({"-P ib, JAVA, C", "-P ib, C, JAVA", "-f ip -t 0x20 -a 18, JAVA, C", "-f ip -t 32 -a 18, C, JAVA",
        "-S 65536 -C 3, C, JAVA", "-S 1 -C 1, JAVA, C"})
    void optionsAreThoseOfC(String options, Kind server, Kind client) throws Exception {
        run(server, client, false, List.of(options.split(" ")), SERVER, CLIENT);
    }

    @ParameterizedTest
    @CsvSource({"JAVA, C", "C, JAVA"})
    void connectionsMoveToAnotherChannel(Kind server, Kind client) throws Exception {
        run(server, client, false, List.of("-m", "-c", "2"), with(SERVER, 5, "migrating to new event channel"),
                with(CLIENT, 5, "migrating to new event channel"));
    }

    @ParameterizedTest
    @CsvSource({"-C 0, JAVA, C", "-S 0, C, JAVA"})
    void connectionsWithoutMessages(String options, Kind server, Kind client) throws Exception {
        run(server, client, false, List.of(options.split(" ")), List.of("cmatose: starting server",
                "cmatose: disconnecting", "disconnected", "test complete", "return status 0"),
                List.of("cmatose: starting client", "cmatose: connecting", "test complete", "return status 0"));
    }

    @Test
    void nothingIsLeaked() throws Exception {
        Leaks.assertNone(() -> run(JAVA, JAVA, false, List.of("-c", "2", "-m"),
                with(SERVER, 5, "migrating to new event channel"),
                with(CLIENT, 5, "migrating to new event channel")));
    }

    @Test
    void clientFromAGivenAddress() throws Exception {
        run(C, JAVA, false, List.of("-b", Addresses.ipv4()), SERVER, CLIENT);
    }

    @Test
    void nobodyListens() throws Exception {
        String port = "" + Ports.free(Addresses.of(false), PortSpace.TCP);
        try (Program client = JAVA.start(NAME, "-s", Addresses.ipv4(), "-p", port)) {
            CmServer.assertFailed(client, NAME, "nobody listens on this port");
        }
    }

    @Test
    void theStackTraceIsPrintedOnRequestOnly() throws Exception {
        String port = "" + Ports.free(Addresses.of(false), PortSpace.TCP);
        try (Program client = JAVA.start("--debug", NAME, "-s", Addresses.ipv4(), "-p", port)) {
            Program.Result result = client.result();
            assertThat(result.status()).isEqualTo(1);
            assertThat(result.errLines()).first().asString().contains("rejected by the peer");
            assertThat(result.err()).contains("\tat io.rdmacm.examples.cm.TransferProgram.");
        }
    }

    @Test
    void noRouteToTheServer() throws Exception {
        // TEST-NET-1 is never in use. Whether there is a route to it depends on the machine.
        try (Program client = JAVA.start(NAME, "-s", "192.0.2.77")) {
            CmServer.assertFailed(client, NAME, "192.0.2.77");
        }
    }

    @Test
    void hostNamesAreRefusedIfTheFormatIsAnAddress() throws Exception {
        try (Program client = JAVA.start(NAME, "-s", "localhost", "-f", "ip")) {
            CmServer.assertFailed(client, NAME, "EAI_NONAME");
        }
    }

    @Test
    void gidsAreRefusedOnRoce() throws Exception {
        try (Program client = JAVA.start(NAME, "-s", "fe80::1234", "-f", "gid")) {
            CmServer.assertFailed(client, NAME, "rdma_resolve_");
        }
    }

    @Test
    void addressOfAnotherMachine() throws Exception {
        try (Program server = JAVA.start(NAME, "-b", "192.0.2.77")) {
            CmServer.assertFailed(server, NAME, "EADDRNOTAVAIL");
        }
    }

    @Test
    void messagesOfAnotherSize() throws Exception {
        try (CmServer server = CmServer.start(C, NAME, false, List.of("-S", "50"));
                Program client = server.client(JAVA, List.of("-S", "100"))) {
            CmServer.assertFailed(client, NAME,
                    "a message of 50 bytes arrived, not of 100: give both sides the same -S");
        }
    }

    // In the next two tests the client waits for more messages than the server sends, and the server for the client.

    @Test
    void serverKilled() throws Exception {
        try (CmServer server = CmServer.start(C, NAME, false, List.of("-C", "10"));
                Program client = server.client(JAVA, List.of("-C", "20"))) {
            server.program().awaitOutput("receiving data transfers");
            server.program().kill();
            CmServer.assertFailed(client, NAME, "the peer ended the connection before all messages were complete");
        }
    }

    @Test
    void clientKilled() throws Exception {
        try (CmServer server = CmServer.start(JAVA, NAME, false, List.of("-C", "10"));
                Program client = server.client(C, List.of("-C", "20"))) {
            server.program().awaitOutput("receiving data transfers");
            client.kill();
            CmServer.assertFailed(server.program(), NAME, "the peer ended the connection before all messages");
        }
    }

    @Test
    void silentPeer() throws Exception {
        try (CmServer server = CmServer.start(C, NAME, false, List.of("-C", "10"));
                Program client = server.client(JAVA, List.of("-C", "20", "--timeout", "1"))) {
            CmServer.assertFailed(client, NAME, " of 20 messages nothing arrived for 1 seconds");
        }
    }

    private static void run(Kind serverKind, Kind clientKind, boolean ipv6, List<String> options,
            List<String> served, List<String> printed) throws Exception {
        List<String> ofServer = new ArrayList<>(options);
        if (options.contains("-b")) {
            ofServer.clear();
        }
        try (CmServer server = CmServer.start(serverKind, NAME, ipv6, ofServer);
                Program client = server.client(clientKind, options)) {
            CmServer.assertPrinted(client, printed.toArray(String[]::new));
            CmServer.assertPrinted(server.program(), served.toArray(String[]::new));
        }
    }

    private static List<String> with(List<String> lines, int index, String line) {
        List<String> more = new ArrayList<>(lines);
        more.add(index, line);
        return more;
    }
}
