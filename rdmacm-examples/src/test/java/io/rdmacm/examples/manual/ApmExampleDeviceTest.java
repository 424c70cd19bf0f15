// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;

import io.rdmacm.examples.testing.Kind;
import io.rdmacm.examples.testing.Leaks;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** The program apm_example on RoCE, where devices refuse alternate paths. */
@RequiresRdma
class ApmExampleDeviceTest {
    private static final String MANY = "1000000";

    @Test
    void messagesStayOnOnePathOnRoce() throws Exception {
        roundTrip();
    }

    @Test
    void clientKilled() throws Exception {
        try (Program server = server(Kind.JAVA); Program client = client(Kind.JVM, server, "-C", MANY)) {
            server.awaitOutput("no alternate path: ");
            client.kill();
            assertThat(server.result().status()).isEqualTo(1);
            assertThat(server.result().errLines()).singleElement().asString().startsWith("apm_example: ");
        }
    }

    @Test
    void serverKilled() throws Exception {
        try (Program server = server(Kind.JVM); Program client = client(Kind.JAVA, server, "-C", MANY)) {
            client.awaitOutput("no alternate path: ");
            server.kill();
            assertThat(client.result().status()).isEqualTo(1);
            assertThat(client.result().errLines()).singleElement().asString().startsWith("apm_example: ");
        }
    }

    @Test
    void nothingIsLeaked() throws Exception {
        Leaks.assertNone(ApmExampleDeviceTest::roundTrip);
    }

    private static void roundTrip() throws Exception {
        try (Program server = server(Kind.JAVA); Program client = client(Kind.JAVA, server, "-C", "6")) {
            assertThat(client.result().outLines()).contains("6 messages came back");
            assertRefused(client.result());
            assertThat(server.result().outLines()).contains("sent back 6 messages");
            assertRefused(server.result());
        }
    }

    private static void assertRefused(Program.Result result) {
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.errLines()).singleElement().asString()
                .startsWith("apm_example: the messages stayed on one path: " + RdmaTestDevice.get().name()
                        + " refused an alternate path (ibv_modify_qp: EINVAL")
                .contains("path migration exists on InfiniBand only");
    }

    private static Program server(Kind kind) throws Exception {
        return start(kind, "-s", "-p", "0");
    }

    private static Program client(Kind kind, Program server, String... more) throws Exception {
        List<String> words = new ArrayList<>(List.of("-p", server.awaitOutput("listening on port (\\d+)").group(1)));
        words.addAll(List.of(more));
        return start(kind, words.toArray(String[]::new));
    }

    private static Program start(Kind kind, String... more) throws Exception {
        List<String> words = new ArrayList<>(List.of("-a", RdmaTestDevice.get().ipv4().getHostAddress()));
        words.addAll(List.of(more));
        return kind.start("apm_example", words);
    }
}
