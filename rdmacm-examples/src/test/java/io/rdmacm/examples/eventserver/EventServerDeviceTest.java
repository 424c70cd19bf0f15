// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.eventserver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;

import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.testing.Kind;
import io.rdmacm.examples.testing.Leaks;
import io.rdmacm.examples.testing.Ports;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** The programs event_server and event_client, in threads and in processes. */
@RequiresRdma
class EventServerDeviceTest {
    private static final int CLIENTS = 4;
    private static final String MANY = "1000000";

    @Test
    void servesClientsAtOnce() throws Exception {
        try (Program server = server(Kind.JAVA, "-C", "" + CLIENTS)) {
            serveAtOnce(server);
            Program.Result result = server.result();
            assertThat(result).returns(0, Program.Result::status).returns("", Program.Result::err);
            for (int i = 0; i < CLIENTS; i++) {
                assertThat(result.out()).contains(" wrote: this is client " + i + " (50)");
            }
            assertThat(result.outLines()).filteredOn(line -> line.endsWith(" has left")).hasSize(CLIENTS);
        }
    }

    @Test
    void clientKilled() throws Exception {
        // The second client is served to its end; the exit status reports that the first was not.
        try (Program server = server(Kind.JAVA, "-C", "2"); Program client = client(Kind.JVM, server, "-C", MANY)) {
            client.awaitOutput("the server offers ");
            client.kill();
            try (Program other = client(Kind.JAVA, server)) {
                assertThat(other.result()).returns(0, Program.Result::status);
            }
            assertThat(server.result().status()).isEqualTo(1);
            assertThat(server.result().errLines()).singleElement().asString()
                    .startsWith("event_server: the client at /").endsWith(" left before it was done");
        }
    }

    @Test
    void serverKilled() throws Exception {
        try (Program server = server(Kind.JVM); Program client = client(Kind.JAVA, server, "-C", MANY)) {
            client.awaitOutput("the server offers ");
            server.kill();
            assertThat(client.result().status()).isEqualTo(1);
            assertThat(client.result().errLines()).singleElement().asString().startsWith("event_client: ");
        }
    }

    @Test
    void aClientOfAnotherProtocolIsRefused() throws Exception {
        String host = RdmaTestDevice.get().ipv4().getHostAddress();
        try (Program server = server(Kind.JAVA, "-C", "1"); Program stranger = Kind.JAVA.start("rping", "-c", "-a",
                host, "-p", port(server))) {
            assertThat(stranger.result().status()).isEqualTo(1);
            assertThat(server.result().status()).isEqualTo(1);
            assertThat(server.result().errLines()).singleElement().asString().startsWith("event_server: ");
        }
    }

    @Test
    void anInterruptedServerDisconnectsItsClients() throws Exception {
        try (Program server = server(Kind.JAVA); Program client = client(Kind.JAVA, server, "-C", MANY)) {
            client.awaitOutput("the server offers ");
            server.kill();
            assertThat(client.result().status()).isEqualTo(1);
            assertThat(server.result()).as(client.output()).returns(130, Program.Result::status)
                    .returns("", Program.Result::err);
            assertThat(client.result().errLines()).hasSize(1);
        }
    }

    @Test
    void nobodyListens() throws Exception {
        String host = RdmaTestDevice.get().ipv4().getHostAddress();
        int port = Ports.free(RdmaTestDevice.get().ipv4(), PortSpace.TCP);
        try (Program client = Program.inThread("event_client", host, "" + port)) {
            assertThat(client.result().status()).isEqualTo(1);
            assertThat(client.result().errLines()).singleElement().asString()
                    .startsWith("event_client: connecting to " + host + " port " + port).contains("rejected");
        }
    }

    @Test
    void nothingIsLeaked() throws Exception {
        Leaks.assertNone(() -> {
            try (Program server = server(Kind.JAVA, "-C", "" + CLIENTS)) {
                serveAtOnce(server);
                assertThat(server.result().status()).isZero();
            }
        });
    }

    private static void serveAtOnce(Program server) throws Exception {
        List<Program> clients = new ArrayList<>();
        try {
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(client(Kind.JAVA, server, "-C", "50", "-m", "this is client " + i));
            }
            for (int i = 0; i < CLIENTS; i++) {
                Program.Result result = clients.get(i).result();
                assertThat(result).returns(0, Program.Result::status).returns("", Program.Result::err);
                assertThat(result.outLines()).contains("50 rounds: each read returned what was written",
                        "the server wrote: the server has read: this is client " + i + " (50)");
            }
        } finally {
            clients.forEach(Program::close);
        }
    }

    private static Program server(Kind kind, String... more) throws Exception {
        List<String> words = new ArrayList<>(List.of("-a", RdmaTestDevice.get().ipv4().getHostAddress()));
        words.addAll(List.of(more));
        return kind.start("event_server", words);
    }

    private static Program client(Kind kind, Program server, String... more) throws Exception {
        List<String> words = new ArrayList<>(List.of(RdmaTestDevice.get().ipv4().getHostAddress(), port(server)));
        words.addAll(List.of(more));
        return kind.start("event_client", words);
    }

    private static String port(Program server) throws InterruptedException {
        return server.awaitOutput("listening on port (\\d+)").group(1);
    }
}
