// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.eventserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.CommandLines;
import io.rdmacm.examples.support.Kind;
import io.rdmacm.examples.support.Leaks;
import io.rdmacm.examples.support.Ports;
import io.rdmacm.examples.support.Program;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EventServerTest {
    private static final int CLIENTS = 4;
    private static final String MANY = "1000000";

    @Test
    @RequiresRdma
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
    @RequiresRdma
    void processesTalkToEachOther() throws Exception {
        try (Program server = server(Kind.JVM, "-C", "1"); Program client = client(Kind.JVM, server, "-m", "hello")) {
            assertThat(client.result()).returns(0, Program.Result::status).returns("", Program.Result::err);
            assertThat(client.result().outLines()).last()
                    .isEqualTo("the server wrote: the server has read: hello (1)");
            assertThat(server.result()).returns(0, Program.Result::status).returns("", Program.Result::err);
        }
    }

    @Test
    @RequiresRdma
    void clientKilled() throws Exception {
        // The second client comes to an end all the same, and the status tells of the first.
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
    @RequiresRdma
    void serverKilled() throws Exception {
        try (Program server = server(Kind.JVM); Program client = client(Kind.JAVA, server, "-C", MANY)) {
            client.awaitOutput("the server offers ");
            server.kill();
            assertThat(client.result().status()).isEqualTo(1);
            assertThat(client.result().errLines()).singleElement().asString().startsWith("event_client: ");
        }
    }

    @Test
    @RequiresRdma
    void strangersAreToldApart() throws Exception {
        String host = RdmaTestDevice.get().ipv4().getHostAddress();
        try (Program server = server(Kind.JAVA, "-C", "1"); Program stranger = Kind.JAVA.start("rping", "-c", "-a",
                host, "-p", port(server))) {
            assertThat(stranger.result().status()).isEqualTo(1);
            assertThat(server.result().status()).isEqualTo(1);
            assertThat(server.result().errLines()).singleElement().asString().startsWith("event_server: ");
        }
    }

    @Test
    @RequiresRdma
    void interruptedServerLetsGoOfItsClients() throws Exception {
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
    @RequiresRdma
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
    @RequiresRdma
    void nothingStaysBehind() throws Exception {
        Leaks.assertNone(() -> {
            try (Program server = server(Kind.JAVA, "-C", "" + CLIENTS)) {
                serveAtOnce(server);
                assertThat(server.result().status()).isZero();
            }
        });
    }

    @Test
    void messageTravelsInNetworkByteOrder() throws IOException {
        byte[] bytes = {0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
        RegionMessage message = RegionMessage.read(MemorySegment.ofArray(bytes));
        assertThat(message).isEqualTo(new RegionMessage(RegionMessage.Kind.DONE, 0x0102030405060708L, 0x090a0b0c,
                0x0d0e0f10));
        byte[] written = new byte[RegionMessage.BYTES];
        message.write(MemorySegment.ofArray(written));
        assertThat(written).isEqualTo(bytes);
        bytes[3] = 2;
        assertThatThrownBy(() -> RegionMessage.read(MemorySegment.ofArray(bytes))).hasMessageContaining("kind 2");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "event_server -C -1 | Invalid number of clients -1",
        "event_server -p 65536 | Invalid port 65536",
        "event_client | Missing required parameters: 'ADDR', 'PORT'",
        "event_client 127.0.0.1 0 | a client needs the server's port",
        "event_client 127.0.0.1 1 -C 0 | Invalid count 0"})
    void wrongArgumentsEndWithOneLine(String command, String reason) throws Exception {
        CommandLines.assertRefused(command, reason);
    }

    @ParameterizedTest
    @CsvSource({"event_server", "event_client"})
    void helpShowsAnExample(String name) throws Exception {
        assertThat(CommandLines.help(name)).contains("For example");
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
