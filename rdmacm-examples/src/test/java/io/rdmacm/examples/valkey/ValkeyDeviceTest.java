// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.PortSpace;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.WaitPolicy;
import io.rdmacm.examples.Main;
import io.rdmacm.examples.testing.Addresses;
import io.rdmacm.examples.testing.Leaks;
import io.rdmacm.examples.testing.Ports;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The Valkey client over RDMA, with a server of the tests. {@code ValkeyServerDeviceTest} has the real one. */
@RequiresRdma
class ValkeyDeviceTest {
    @ParameterizedTest
    // a piece of a command, less than a command, and the size that Valkey has
    @ValueSource(ints = {10, 1000, 1 << 20})
    void theMemoryOfTheServerIsFilledAgainAndAgain(int bufferBytes) throws Exception {
        try (RdmaTestServer server = commandServer(bufferBytes); ConnectionManager manager = ConnectionManager.open();
                ValkeyClient client = client(manager, server)) {
            for (int i = 0; i < 100; i++) {
                assertThat(client.call("ECHO", "x".repeat(i))).hasToString("\"" + "x".repeat(i) + "\"");
            }
        }
    }

    @Test
    void theMemoryOfTheClientIsFilledAgainAndAgain() throws Exception {
        byte[] value = new byte[300_001];
        new Random(1).nextBytes(value);
        try (RdmaTestServer server = commandServer(1 << 20); ConnectionManager manager = ConnectionManager.open();
                ValkeyClient client = client(manager, server)) {
            client.send("SET".getBytes(), "k".getBytes(), value);
            for (int i = 0; i < 20; i++) {
                client.send("GET".getBytes(), "k".getBytes());
            }
            client.flush();
            assertThat(client.receive()).hasToString("OK");
            for (int i = 0; i < 20; i++) {
                assertThat(((Reply.Bulk) client.receive()).bytes()).isEqualTo(value);
            }
        }
    }

    @Test
    void manyAnswersBeforeTheClientLooks() throws Exception {
        try (RdmaTestServer server = commandServer(1 << 20); ConnectionManager manager = ConnectionManager.open();
                ValkeyClient client = client(manager, server)) {
            for (int i = 0; i < 500; i++) {
                client.send("PING".getBytes());
            }
            client.flush();
            for (int i = 0; i < 500; i++) {
                assertThat(client.receive()).hasToString("PONG");
            }
        }
    }

    @Test
    void keepalivesMayComeAtAnyTime() throws Exception {
        try (RdmaTestServer server = server(stream -> {
            for (int i = 0; i < 100; i++) {
                stream.control(control(QueuePairStream.KEEPALIVE));
                ByteBuffer ping = ByteBuffer.allocate("*1\r\n$4\r\nPING\r\n".length());
                while (ping.hasRemaining()) {
                    stream.read(ping);
                }
                stream.write(ByteBuffer.wrap("+PO".getBytes()));
                stream.control(control(QueuePairStream.KEEPALIVE));
                stream.write(ByteBuffer.wrap("NG\r\n".getBytes()));
            }
        }); ConnectionManager manager = ConnectionManager.open(); ValkeyClient client = client(manager, server)) {
            for (int i = 0; i < 100; i++) {
                assertThat(client.call("PING")).hasToString("PONG");
            }
            assertThatThrownBy(() -> client.call("PING")).isInstanceOf(IOException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 2, 31, 32})
    void unknownControlMessages(int length) throws Exception {
        byte[] message = new byte[length];
        if (length > 1) {
            message[1] = 9;
        }
        try (RdmaTestServer server = server(stream -> {
            stream.control(message);
            stream.read(ByteBuffer.allocate(1));
            stream.read(ByteBuffer.allocate(100));
        }); ConnectionManager manager = ConnectionManager.open(); ValkeyClient client = client(manager, server)) {
            assertThatThrownBy(() -> client.call("PING"))
                    .hasMessage("the server sent an unknown control message of " + length + " bytes");
        }
    }

    @Test
    void theServerEndsTheConnection() throws Exception {
        try (RdmaTestServer server = server(stream -> stream.read(ByteBuffer.allocate(1)));
                ConnectionManager manager = ConnectionManager.open(); ValkeyClient client = client(manager, server)) {
            assertThatThrownBy(() -> client.call("PING")).isInstanceOf(DisconnectedException.class);
        }
    }

    @Test
    void nobodyListens() throws Exception {
        int port = Ports.free(RdmaTestDevice.get().ipv4(), PortSpace.TCP);
        try (Program program = Program.inThread("valkey_cli", "-a", Addresses.ipv4(), "-p", "" + port, "PING")) {
            assertThat(program.result().status()).isEqualTo(1);
            assertThat(program.result().errLines()).singleElement().asString().startsWith("valkey_cli: ")
                    .contains("rejected");
        }
    }

    @Test
    void theProgramsLeakNothing() throws Exception {
        Leaks.assertNone(() -> {
            try (RdmaTestServer server = commandServer(100_000)) {
                assertThat(run("valkey_cli", server, "ECHO", "hello"))
                        .isEqualTo(new Program.Result(0, "\"hello\"\n", ""));
                Program.Result load = run("valkey_load", server, "--no-progress", "--tcp-port", "0", "-n", "300",
                        "-k", "20", "-P", "8", "-r", "50", "-S", "3000");
                assertThat(load).returns(0, Program.Result::status).returns("", Program.Result::err);
                assertThat(load.outLines().getFirst()).isEqualTo("300 operations, 50 % of them gets, by 4 clients with"
                        + " 8 requests at once on 20 keys with values of 3000 bytes, through "
                        + RdmaTestDevice.get().name());
                assertThat(load.outLines().get(4)).matches("RDMA +\\d+( +\\d+\\.\\d){6}");
            }
        });
    }

    @Test
    void commandsOnStandardInput() throws Exception {
        try (RdmaTestServer server = commandServer(1000)) {
            List<String> command = new ArrayList<>(Program.javaCommand(Main.class));
            command.addAll(words("valkey_cli", server));
            ProcessBuilder builder = new ProcessBuilder(command);
            Path input = Files.createTempFile("commands", ".txt");
            Files.writeString(input, "SET k v\n\n  GET  k \nNONE\n");
            builder.redirectInput(input.toFile());
            try (Program cli = Program.process(builder)) {
                assertThat(cli.result().outLines()).containsExactly("OK", "\"v\"",
                        "(error) ERR unknown command 'NONE'");
                assertThat(cli.result().status()).isEqualTo(1);
            } finally {
                Files.delete(input);
            }
        }
    }

    private static byte[] control(int kind) {
        return ByteBuffer.allocate(QueuePairStream.CONTROL).putShort(0, (short) kind).array();
    }

    private static RdmaTestServer commandServer(int bufferBytes) throws IOException {
        Commands commands = new Commands();
        return new RdmaTestServer(bufferBytes, stream -> {
            stream.register();
            commands.serve(stream);
        });
    }

    private static RdmaTestServer server(Session<QueuePairStream> session) throws IOException {
        return new RdmaTestServer(1 << 20, stream -> {
            stream.register();
            session.serve(stream);
        });
    }

    private static ValkeyClient client(ConnectionManager manager, RdmaTestServer server) throws Exception {
        return new ValkeyClient(RdmaStream.connect(manager, server.address(), WaitPolicy.defaults()));
    }

    private static List<String> words(String name, RdmaTestServer server, String... more) {
        List<String> words = new ArrayList<>(List.of(name, "-a", server.address().getAddress().getHostAddress(), "-p",
                "" + server.address().getPort()));
        words.addAll(List.of(more));
        return words;
    }

    private static Program.Result run(String name, RdmaTestServer server, String... more) throws InterruptedException {
        try (Program program = Program.inThread(words(name, server, more).toArray(String[]::new))) {
            return program.result();
        }
    }
}
