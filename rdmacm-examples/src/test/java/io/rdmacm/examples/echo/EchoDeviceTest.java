// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.echo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PipedReader;
import java.io.PipedWriter;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Scanner;

import io.rdmacm.examples.Main;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** The program echo: a server and several clients, in threads of this JVM. */
@RequiresRdma
class EchoDeviceTest {
    private static final int CLIENTS = 4;

    @Test
    void clientsGetBackWhatTheySend() throws Exception {
        String host = RdmaTestDevice.get().ipv4().getHostAddress();
        try (PipedReader output = new PipedReader(1 << 16);
                PrintWriter out = new PrintWriter(new PipedWriter(output), true);
                Background<Integer> server = Background.call(() -> Main.run(out, new PrintWriter(System.err, true),
                        "echo", "-s", "-a", host, "-p", "0", "-C", "" + CLIENTS))) {
            Scanner lines = new Scanner(output);
            String port = lines.nextLine().replaceAll(".* port ", "");
            List<Background<String>> clients = new ArrayList<>();
            for (int i = 1; i <= CLIENTS; i++) {
                String size = "" + 1000 * i;
                clients.add(Background.call(() -> run("echo", "-c", "-a", host, "-p", port, "-C", "20", "-S",
                        size)));
            }
            for (Background<String> client : clients) {
                assertThat(client.result()).startsWith("20 messages of ");
            }
            assertThat(server.result()).isZero();
            for (int i = 0; i < CLIENTS; i++) {
                assertThat(lines.nextLine()).endsWith("has left after 20 messages");
            }
        }
    }

    /** Returns what a program prints on both streams. */
    private static String run(String... arguments) {
        StringWriter all = new StringWriter();
        PrintWriter printer = new PrintWriter(all, true);
        assertThat(Main.run(printer, printer, arguments)).describedAs(all.toString()).isZero();
        return all.toString();
    }
}
