// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.valkey;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import io.rdmacm.core.PortSpace;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.examples.testing.Addresses;
import io.rdmacm.examples.testing.Ports;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.Nightly;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A client on our connections with a real Valkey server, whose RDMA no distribution builds: the environment variable
 * RDMACM_TEST_VALKEY names a valkey-server that was built with BUILD_RDMA=yes, or with BUILD_RDMA=module, which leaves
 * valkey-rdma.so beside it.
 */
@Nightly
@RequiresRdma
class ValkeyServerDeviceTest {
    private static final String VARIABLE = "RDMACM_TEST_VALKEY";
    private static final int CLIENTS = 50;
    private static final int TIMES = 100;

    @TempDir
    private Path folder;

    private Program server;
    private InetSocketAddress address;
    private ConnectionManager manager;

    @BeforeEach
    void startServer() throws Exception {
        String path = System.getenv(VARIABLE);
        Assumptions.assumeTrue(path != null, VARIABLE + " names no valkey-server that was built with RDMA");
        address = new InetSocketAddress(RdmaTestDevice.get().ipv4(), Ports.free(RdmaTestDevice.get().ipv4(),
                PortSpace.TCP));
        List<String> command = new ArrayList<>(List.of(path, "--save", "", "--protected-mode", "no", "--dir",
                folder.toString(), "--bind", Addresses.ipv4(), "--port", String.valueOf(freeTcpPort())));
        Path module = Path.of(path).resolveSibling("valkey-rdma.so");
        command.addAll(Files.exists(module)
                ? List.of("--loadmodule", module.toString(), "bind=" + Addresses.ipv4(), "port=" + address.getPort())
                : List.of("--rdma-bind", Addresses.ipv4(), "--rdma-port", String.valueOf(address.getPort())));
        server = Program.process(command.toArray(String[]::new));
        server.awaitOutput("Ready to accept connections rdma");
        manager = ConnectionManager.open();
    }

    @AfterEach
    void stopServer() throws IOException {
        if (manager != null) {
            manager.close();
        }
        if (server != null) {
            server.close();
        }
    }

    private ValkeyClient client() throws IOException, InterruptedException {
        return new ValkeyClient(manager, address);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void answersOfEveryType() throws Exception {
        try (ValkeyClient client = client()) {
            assertThat(client.call("SET", "k", "v")).isEqualTo("OK");
            assertThat(client.call("GET", "k")).isEqualTo(bytes("v"));
            assertThat(client.call("GET", "n")).isNull();
            assertThat(client.call("RPUSH", "l", "a", "b")).isEqualTo(2L);
            assertThat(client.call("LRANGE", "l", "0", "-1")).isEqualTo(new Object[] {bytes("a"), bytes("b")});
            assertThat(client.call("LRANGE", "k", "0", "-1")).asString().startsWith("WRONGTYPE");
        }
    }

    @Test
    void largeValuesFillTheMemoriesAgainAndAgain() throws Exception {
        byte[] value = new byte[3_000_001];
        new Random(1).nextBytes(value);
        try (ValkeyClient client = client()) {
            for (int i = 0; i < 5; i++) {
                value[i]++;
                client.send(bytes("SET"), bytes("big"), value);
                client.send("GET", "big");
                client.send("GET", "big");
                assertThat(client.receive()).isEqualTo("OK");
                assertThat(client.receive()).isEqualTo(value);
                assertThat(client.receive()).isEqualTo(value);
            }
        }
    }

    @Test
    void answersComeInTheOrderOfTheCommands() throws Exception {
        try (ValkeyClient client = client()) {
            for (int i = 0; i < TIMES; i++) {
                client.send("SET", "k" + i, "v" + i);
                client.send("GET", "k" + i);
            }
            for (int i = 0; i < TIMES; i++) {
                assertThat(client.receive()).isEqualTo("OK");
                assertThat(client.receive()).isEqualTo(bytes("v" + i));
            }
        }
    }

    @Test
    void manyClientsAtOnce() throws Exception {
        Callable<Void> increments = () -> {
            try (ValkeyClient client = client()) {
                for (int i = 0; i < TIMES; i++) {
                    assertThat(client.call("INCR", "n")).isInstanceOf(Long.class);
                }
                return null;
            }
        };
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Void>> clients = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                clients.add(threads.submit(increments));
            }
            for (Future<Void> each : clients) {
                each.get();
            }
        }
        try (ValkeyClient client = client()) {
            assertThat(client.call("GET", "n")).isEqualTo(bytes("" + CLIENTS * TIMES));
        }
    }

    @Test
    void theServerEndsOneOfTwoConnections() throws Exception {
        try (ValkeyClient client = client(); ValkeyClient other = client()) {
            assertThat(other.call("CLIENT", "KILL", "ID", "" + client.call("CLIENT", "ID"))).isEqualTo(1L);
            assertThatThrownBy(() -> client.call("PING")).isInstanceOf(IOException.class);
            assertThat(other.call("PING")).isEqualTo("PONG");
        }
    }

    @Test
    void aServerThatIsKilledEndsTheConnection() throws Exception {
        try (ValkeyClient client = client()) {
            assertThat(client.call("PING")).isEqualTo("PONG");
            server.kill();
            assertThatThrownBy(client::receive).isInstanceOf(IOException.class);
        }
    }

    private static int freeTcpPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, RdmaTestDevice.get().ipv4())) {
            return socket.getLocalPort();
        }
    }
}
