// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Random;
import java.util.stream.Stream;

import io.rdmacm.core.PortSpace;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.WaitPolicy;
import io.rdmacm.examples.testing.Addresses;
import io.rdmacm.examples.testing.Ports;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The Valkey client with a real server: the one that the environment variable VALKEY_SERVER names, a valkey-server
 * built with BUILD_RDMA=yes.
 */
@RequiresRdma
class ValkeyServerDeviceTest {
    private static Program server;
    private static int port;

    @BeforeAll
    static void startServer() throws Exception {
        String path = System.getenv("VALKEY_SERVER");
        Assumptions.assumeTrue(path != null, "VALKEY_SERVER does not name a valkey-server built with BUILD_RDMA=yes");
        port = Ports.free(RdmaTestDevice.get().ipv4(), PortSpace.TCP);
        server = Program.process(path, "--save", "", "--appendonly", "no", "--protected-mode", "no", "--bind",
                Addresses.ipv4(), "--port", "" + freeTcpPort(), "--rdma-bind", Addresses.ipv4(), "--rdma-port",
                "" + port, "--dir", System.getProperty("java.io.tmpdir"));
        server.awaitOutput("Ready to accept connections rdma");
    }

    @AfterAll
    static void stopServer() {
        if (server != null) {
            server.close();
        }
    }

    @Test
    void repliesOfEveryType() throws Exception {
        try (ConnectionManager manager = ConnectionManager.open(); ValkeyClient client = client(manager)) {
            assertThat(client.call("DEL", "k", "l", "n")).isInstanceOf(Reply.Number.class);
            assertThat(client.call("SET", "k", "v")).hasToString("OK");
            assertThat(client.call("GET", "k")).hasToString("\"v\"");
            assertThat(client.call("GET", "n")).hasToString("(nil)");
            assertThat(client.call("RPUSH", "l", "a", "b")).hasToString("(integer) 2");
            assertThat(client.call("LRANGE", "l", "0", "-1")).hasToString("1) \"a\"\n2) \"b\"");
            assertThat(client.call("LRANGE", "k", "0", "-1").toString()).startsWith("(error) WRONGTYPE");
        }
    }

    @Test
    void bothMemoriesAreFilledAgainAndAgain() throws Exception {
        byte[] value = new byte[3_000_001];
        new Random(1).nextBytes(value);
        try (ConnectionManager manager = ConnectionManager.open(); ValkeyClient client = client(manager)) {
            for (int i = 0; i < 5; i++) {
                value[i]++;
                client.send("SET".getBytes(), "big".getBytes(), value);
                client.send("GET".getBytes(), "big".getBytes());
                client.send("GET".getBytes(), "big".getBytes());
                client.flush();
                assertThat(client.receive()).hasToString("OK");
                assertThat(((Reply.Bulk) client.receive()).bytes()).isEqualTo(value);
                assertThat(((Reply.Bulk) client.receive()).bytes()).isEqualTo(value);
            }
        }
    }

    @Test
    void theServerEndsTheConnection() throws Exception {
        try (ConnectionManager manager = ConnectionManager.open(); ValkeyClient client = client(manager);
                ValkeyClient other = client(manager)) {
            Reply id = client.call("CLIENT", "ID");
            assertThat(other.call("CLIENT", "KILL", "ID", "" + ((Reply.Number) id).value()))
                    .hasToString("(integer) 1");
            assertThatThrownBy(() -> client.call("PING"))
                    .isInstanceOf(IOException.class);
            assertThat(other.call("PING")).hasToString("PONG");
        }
    }

    @Test
    void loadOverRdma() throws Exception {
        for (String[] settings : new String[][] {{"64", "1"}, {"64", "256"}, {"20000", "16"}}) {
            Program.Result load = run("valkey_load", "--no-progress", "--tcp-port", "0", "-n", "1000", "-k",
                    "50", "-r", "50", "-S", settings[0], "-P", settings[1]);
            assertThat(load).returns(0, Program.Result::status).returns("", Program.Result::err);
        }
    }

    private static ValkeyClient client(ConnectionManager manager) throws Exception {
        return new ValkeyClient(RdmaStream.connect(manager, new InetSocketAddress(RdmaTestDevice.get().ipv4(), port),
                WaitPolicy.defaults()));
    }

    private static Program.Result run(String name, String... more) throws InterruptedException {
        String[] words = Stream.concat(Stream.of(name, "-a", Addresses.ipv4(), "-p",
                "" + port), Stream.of(more)).toArray(String[]::new);
        try (Program program = Program.inThread(words)) {
            return program.result();
        }
    }

    private static int freeTcpPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, RdmaTestDevice.get().ipv4())) {
            return socket.getLocalPort();
        }
    }
}
