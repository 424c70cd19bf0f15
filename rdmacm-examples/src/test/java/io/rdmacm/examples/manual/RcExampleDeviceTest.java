// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Arrays;
import java.util.List;

import io.rdmacm.examples.testing.Leaks;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The program rc_example, server and client. */
@RequiresRdma
class RcExampleDeviceTest {
    private static final String LISTENING = "waiting on port (\\d+) for a TCP connection";

    @Test
    void dataTravelsInAllFourWays() throws Exception {
        try (Program server = start(false, "-p", "0"); Program client = start(false, "-p",
                server.awaitOutput(LISTENING).group(1), "127.0.0.1")) {
            assertThat(client.result().outLines()).contains(
                    "received: sent by the server",
                    "read from the server: put there by the server, to be read",
                    "wrote: put there by the client, with a write");
            assertThat(client.result()).returns(0, Program.Result::status).returns("", Program.Result::err);
            assertThat(server.result().outLines()).contains("sent: sent by the server",
                    "written by the client: put there by the client, with a write");
            assertThat(server.result()).returns(0, Program.Result::status).returns("", Program.Result::err);
        }
    }

    @Test
    void deviceAndGidCanBeChosen() throws Exception {
        String[] chosen = {"-d", RdmaTestDevice.get().name(), "-i", "1", "-g", "0", "-p"};
        try (Program server = start(true, with(chosen, "0")); Program client = start(false, with(chosen,
                server.awaitOutput(LISTENING).group(1), "127.0.0.1"))) {
            assertThat(client.result().status()).as(client.output()).isZero();
            assertThat(client.result().outLines()).startsWith("device name: " + RdmaTestDevice.get().name(),
                    "device port: 1", "server:      127.0.0.1").contains("GID index:   0");
            assertThat(server.result().status()).isZero();
        }
    }

    /**
     * The peer echoes the data of this side, so that the queue pair gets connected to itself and no message ever
     * comes; then it closes the TCP connection.
     */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void peerDiesInTheMiddle(boolean isServer) throws Exception {
        if (isServer) {
            try (Program server = start(false, "-p", "0")) {
                int port = Integer.parseInt(server.awaitOutput(LISTENING).group(1));
                try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
                    echo(socket);
                }
                assertFailed(server.result());
            }
        } else {
            try (ServerSocket listener = new ServerSocket(0);
                    Program client = start(false, "-p", "" + listener.getLocalPort(), "127.0.0.1")) {
                try (Socket socket = listener.accept()) {
                    echo(socket);
                    client.awaitOutput("connected: RTS");
                }
                assertFailed(client.result());
                assertThat(client.result().errLines()).containsExactly(
                        "rc_example: the peer has gone in the middle of the example");
            }
        }
    }

    @Test
    void peerDiesBeforeItSaysAnything() throws Exception {
        try (Program server = start(false, "-p", "0")) {
            new Socket(InetAddress.getLoopbackAddress(),
                    Integer.parseInt(server.awaitOutput(LISTENING).group(1))).close();
            assertThat(server.result()).returns(1, Program.Result::status);
            assertThat(server.result().errLines()).containsExactly(
                    "rc_example: the peer has ended the TCP connection");
        }
    }

    @Test
    void nobodyListens() throws Exception {
        int port;
        try (ServerSocket unused = new ServerSocket(0)) {
            port = unused.getLocalPort();
        }
        try (Program client = start(false, "-p", "" + port, "127.0.0.1")) {
            assertFailed(client.result());
            assertThat(client.result().err()).contains("nobody listens at ");
        }
    }

    @Test
    void waitForAClientEndsByInterrupt() throws Exception {
        try (Program server = start(false, "-p", "0")) {
            server.awaitOutput(LISTENING);
            server.kill();
            assertThat(server.result()).returns(130, Program.Result::status).returns("", Program.Result::err);
        }
    }

    @Test
    void wrongDevice() throws Exception {
        try (Program server = start(false, "-d", "nonsense0")) {
            assertFailed(server.result());
            assertThat(server.result().err()).contains("there is no RDMA device nonsense0, but "
                    + RdmaTestDevice.get().name());
        }
    }

    @Test
    void nothingIsLeaked() throws Exception {
        Leaks.assertNone(() -> {
            try (Program server = start(false, "-p", "0"); Program client = start(false, "-p",
                    server.awaitOutput(LISTENING).group(1), "127.0.0.1")) {
                assertThat(List.of(client.result().status(), server.result().status())).containsExactly(0, 0);
            }
        });
    }

    /** Sends back what it receives, up to the step after which both queue pairs would be connected. */
    private static void echo(Socket socket) throws Exception {
        InputStream input = socket.getInputStream();
        // The address, then the byte that tells that the queue pair is connected.
        for (int length : new int[] {RcAddress.BYTES, 1}) {
            socket.getOutputStream().write(input.readNBytes(length));
        }
    }

    private static void assertFailed(Program.Result result) {
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.errLines()).singleElement().asString().startsWith("rc_example: ");
    }

    private static Program start(boolean inJvm, String... arguments) throws Exception {
        String[] words = with(new String[] {"rc_example"}, arguments);
        return inJvm ? Program.inJvm(words) : Program.inThread(words);
    }

    private static String[] with(String[] first, String... more) {
        String[] all = Arrays.copyOf(first, first.length + more.length);
        System.arraycopy(more, 0, all, first.length, more.length);
        return all;
    }
}
