// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.examples.testing.Kind;
import io.rdmacm.examples.testing.Leaks;
import io.rdmacm.examples.testing.PingPongs;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** The program rc_example, server and client. */
@RequiresRdma
class RcExampleDeviceTest {
    private static final String LISTENING = "listening on port (\\d+)";

    private static Program start(String... more) throws Exception {
        return Kind.JAVA.start("rc_example", PingPongs.options(more));
    }

    private static Program client(Program server, String... more) throws Exception {
        List<String> options = new ArrayList<>(List.of(more));
        options.addAll(List.of("-p", server.awaitOutput(LISTENING).group(1), "127.0.0.1"));
        return start(options.toArray(String[]::new));
    }

    @Test
    void dataTravelsInAllFourWays() throws Exception {
        try (Program server = start("-p", "0"); Program client = client(server)) {
            assertThat(client.result().outLines()).contains("connected: RTS", "received: sent by the server",
                    "read from the server: put there by the server, to be read",
                    "wrote: put there by the client, with a write");
            assertThat(client.result()).returns(0, Program.Result::status).returns("", Program.Result::err);
            assertThat(server.result().outLines()).contains("sent: sent by the server",
                    "written by the client: put there by the client, with a write");
            assertThat(server.result()).returns(0, Program.Result::status).returns("", Program.Result::err);
        }
    }

    @Test
    void aPeerThatSaysNothing() throws Exception {
        try (Program server = start("-p", "0")) {
            new Socket(InetAddress.getLoopbackAddress(), port(server)).close();
            assertFailed(server, "the peer closed the connection before it sent its whole address");
        }
    }

    /** The peer echoes the data of this side, so that its queue pair is connected to itself and gets no message. */
    @Test
    void aServerThatDiesInTheMiddle() throws Exception {
        try (ServerSocket listener = new ServerSocket(0);
                Program client = start("--timeout", "1", "-p", "" + listener.getLocalPort(), "127.0.0.1")) {
            try (Socket socket = listener.accept()) {
                echo(socket);
                client.awaitOutput("connected: RTS");
            }
            assertFailed(client, "the peer closed the connection before it sent where its memory is");
        }
    }

    @Test
    void aClientThatDiesInTheMiddle() throws Exception {
        try (Program server = start("--timeout", "1", "-p", "0")) {
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port(server))) {
                echo(socket);
                server.awaitOutput("connected: RTS");
            }
            assertThat(server.result().status()).isEqualTo(1);
            assertThat(server.result().errLines()).singleElement().asString().startsWith("rc_example: ");
        }
    }

    @Test
    void nothingIsLeaked() throws Exception {
        Leaks.assertNone(() -> {
            try (Program server = start("-p", "0"); Program client = client(server)) {
                assertThat(List.of(client.result().status(), server.result().status())).containsExactly(0, 0);
            }
        });
    }

    /** Sends back what it receives, up to the step after which both queue pairs would be connected. */
    private static void echo(Socket socket) throws Exception {
        for (int length : new int[] {Destination.BYTES, 1}) {
            socket.getOutputStream().write(socket.getInputStream().readNBytes(length));
        }
    }

    private static int port(Program server) throws InterruptedException {
        return Integer.parseInt(server.awaitOutput(LISTENING).group(1));
    }

    private static void assertFailed(Program program, String reason) throws InterruptedException {
        assertThat(program.result().status()).isEqualTo(1);
        assertThat(program.result().errLines()).containsExactly("rc_example: " + reason);
    }
}
