// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.rping;

import static io.rdmacm.examples.testing.Kind.C;
import static io.rdmacm.examples.testing.Kind.JAVA;
import static io.rdmacm.examples.testing.Kind.JVM;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;

import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.testing.Ports;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.examples.testing.Rpings;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.Requirements;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** Failures of rping: each ends with one line and status 1. */
@RequiresRdma
class RpingFailureDeviceTest {
    private static final String CLIENT_DISCONNECT = "client DISCONNECT EVENT...";
    private static final String SERVER_DISCONNECT = "server DISCONNECT EVENT...";

    @Test
    void nobodyListens() throws Exception {
        InetAddress address = RdmaTestDevice.get().ipv4();
        try (Program client = JAVA.start("rping", "-c", "-a", address.getHostAddress(), "-p",
                "" + Ports.free(address, PortSpace.TCP))) {
            assertFailed(client.result(), "nobody listens on this port");
        }
    }

    @Test
    void aClientWaitsForItsServer() throws Exception {
        InetAddress address = RdmaTestDevice.get().ipv4();
        String port = "" + Ports.free(address, PortSpace.TCP);
        try (Program client = JAVA.start("rping", "-c", "-a", address.getHostAddress(), "-p", port, "-C", "3", "-d",
                "--wait-server", "600")) {
            client.awaitOutput("no server listens yet");
            try (Program server = JAVA.start("rping", "-s", "-a", address.getHostAddress(), "-p", port)) {
                assertThat(client.result().status()).isZero();
                assertThat(server.result().status()).isZero();
            }
        }
    }

    @Test
    void addressOfNobody() throws Exception {
        // TEST-NET-1 is never in use. Whether there is a route to it depends on the machine.
        try (Program client = JAVA.start("rping", "-c", "-a", "192.0.2.77")) {
            Program.Result result = client.result();
            assertThat(result.status()).isEqualTo(1);
            assertThat(result.errLines()).singleElement().asString().startsWith("rping: ");
        }
    }

    @Test
    void addressOfAnotherMachine() throws Exception {
        try (Program server = JAVA.start("rping", "-s", "-a", "192.0.2.77")) {
            assertFailed(server.result(), "EADDRNOTAVAIL");
        }
    }

    @Test
    void portInUse() throws Exception {
        try (Rpings.Server first = Rpings.server(JAVA);
                Program second = JAVA.start("rping", "-s", "-a", first.address().getHostAddress(), "-p",
                        "" + first.port())) {
            assertFailed(second.result(), "EADDRINUSE");
        }
    }

    @Test
    void pingsTooLargeForTheServer() throws Exception {
        try (Rpings.Server server = Rpings.server(JAVA); Program client = server.client(JAVA, "-S", "4096")) {
            Program.Result served = server.program().result();
            assertThat(served.status()).isEqualTo(1);
            assertThat(served.errLines()).containsExactly(SERVER_DISCONNECT, "rping: the client's pings of 4096 bytes"
                    + " do not fit into the 64 of this server: start it with -S 4096");
            assertThat(client.result().status()).isEqualTo(1);
        }
    }

    @Test
    void serverKilled() throws Exception {
        try (Rpings.Server server = Rpings.server(C); Program client = server.client(JAVA, "-v", "-V")) {
            client.awaitOutput("rdma-ping-50: ");
            server.program().kill();
            Program.Result result = client.result();
            assertThat(result.status()).isEqualTo(1);
            assertThat(result.errLines()).filteredOn(line -> !line.equals(CLIENT_DISCONNECT)).singleElement()
                    .asString().startsWith("rping: ");
        }
    }

    @Test
    void clientKilled() throws Exception {
        try (Rpings.Server server = Rpings.server(JAVA, "-v"); Program client = server.client(C)) {
            server.program().awaitOutput("rdma-ping-50: ");
            client.kill();
            Program.Result result = server.program().result();
            // Between two pings a killed client looks like one that has finished.
            assertThat(result.status()).isIn(0, 1);
            assertThat(result.errLines()).contains(SERVER_DISCONNECT).hasSize(1 + result.status());
        }
    }

    @Test
    void failedClientDoesNotEndAPersistentServer() throws Exception {
        try (Rpings.Server server = Rpings.server(JAVA, "-P")) {
            try (Program tooLarge = server.client(JAVA, "-S", "4096")) {
                assertThat(tooLarge.result().status()).isEqualTo(1);
            }
            try (Program good = server.client(C, "-C", "3", "-V")) {
                assertThat(good.result().status()).isZero();
            }
            server.program().kill();
            assertThat(server.program().result().errLines()).filteredOn(line -> line.startsWith("rping: "))
                    .singleElement().asString().contains("start it with -S 4096");
        }
    }

    @Test
    void anInterruptFromTheTerminalEndsItQuietly() throws Exception {
        Requirements.requireProgram("kill", "procps");
        try (Rpings.Server server = Rpings.server(JVM)) {
            Process kill = new ProcessBuilder("kill", "-INT", "" + server.program().pid()).start();
            assertThat(kill.waitFor()).isZero();
            Program.Result result = server.program().result();
            assertThat(result.status()).isEqualTo(130);
            assertThat(result.err()).isEmpty();
        }
    }

    private static void assertFailed(Program.Result result, String reason) {
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.out()).isEmpty();
        assertThat(result.errLines()).singleElement().asString().startsWith("rping: ").contains(reason);
    }
}
