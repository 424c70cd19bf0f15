// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

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

/** The program srq_example, server and client. */
@RequiresRdma
class SrqExampleDeviceTest {
    private static final String MANY = "1000000";

    @Test
    void allMessagesArriveInOneQueue() throws Exception {
        // More than the queue holds, so that receives are posted again.
        run("6", "40");
    }

    @Test
    void clientKilled() throws Exception {
        try (Program server = server(Kind.JAVA, "-c", "3", "-C", MANY); Program client = client(Kind.JVM, server,
                "-c", "3", "-C", MANY)) {
            client.awaitOutput("3 connections with ");
            client.kill();
            assertThat(server.result().status()).isEqualTo(1);
            assertThat(server.result().errLines()).singleElement().asString()
                    .matches("srq_example: connection [0-2] ended after \\d+ of " + MANY + " messages");
        }
    }

    @Test
    void serverKilled() throws Exception {
        try (Program server = server(Kind.JVM, "-c", "3", "-C", MANY); Program client = client(Kind.JAVA, server,
                "-c", "3", "-C", MANY)) {
            client.awaitOutput("3 connections with ");
            server.kill();
            assertThat(client.result().status()).isEqualTo(1);
            assertThat(client.result().errLines()).singleElement().asString().startsWith("srq_example: ");
        }
    }

    @Test
    void aClientWithMoreConnectionsIsRejected() throws Exception {
        try (Program server = server(Kind.JAVA, "-c", "1"); Program client = client(Kind.JAVA, server, "-c", "2")) {
            assertThat(client.result().status()).isEqualTo(1);
            assertThat(client.result().errLines()).singleElement().asString().contains("rejected");
            assertThat(server.result().status()).isEqualTo(1);
            assertThat(server.result().errLines()).containsExactly(
                    "srq_example: connection 0 ended after 0 of 10 messages");
        }
    }

    @Test
    void nobodyListens() throws Exception {
        int port = Ports.free(RdmaTestDevice.get().ipv4(), PortSpace.TCP);
        try (Program client = start(Kind.JAVA, "-p", "" + port)) {
            assertThat(client.result().status()).isEqualTo(1);
            assertThat(client.result().errLines()).singleElement().asString().contains("rejected");
        }
    }

    @Test
    void nothingIsLeaked() throws Exception {
        Leaks.assertNone(() -> run("3", "2"));
    }

    private static void run(String connections, String count) throws Exception {
        try (Program server = server(Kind.JAVA, "-c", connections, "-C", count);
                Program client = client(Kind.JAVA, server, "-c", connections, "-C", count)) {
            assertThat(client.result()).returns(0, Program.Result::status).returns("", Program.Result::err);
            assertThat(client.result().outLines()).last().isEqualTo("the server received " + count
                    + " messages on each");
            assertThat(server.result()).returns(0, Program.Result::status).returns("", Program.Result::err);
            assertThat(server.result().outLines()).last().isEqualTo(connections + " connections sent " + count
                    + " messages each, received from one queue");
            for (int i = 0; i < Integer.parseInt(connections); i++) {
                assertThat(server.result().outLines()).contains("connection " + i + ": " + count + " messages");
            }
        }
    }

    private static Program server(Kind kind, String... more) throws Exception {
        List<String> words = new ArrayList<>(List.of("-s", "-p", "0"));
        words.addAll(List.of(more));
        return start(kind, words.toArray(String[]::new));
    }

    private static Program client(Kind kind, Program server, String... more) throws Exception {
        List<String> words = new ArrayList<>(List.of("-p", server.awaitOutput("listening on port (\\d+)").group(1)));
        words.addAll(List.of(more));
        return start(kind, words.toArray(String[]::new));
    }

    private static Program start(Kind kind, String... more) throws Exception {
        List<String> words = new ArrayList<>(List.of("-a", RdmaTestDevice.get().ipv4().getHostAddress()));
        words.addAll(List.of(more));
        return kind.start("srq_example", words);
    }
}
