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

/** The program echo, server and clients, in this JVM. */
class EchoTest {
    private static final int CLIENTS = 4;

    @Test
    @RequiresRdma
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
                clients.add(Background.call(() -> run(0, "echo", "-c", "-a", host, "-p", port, "-C", "20", "-S",
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

    @Test
    void wrongArgumentsEndWithOneLine() {
        assertThat(run(1, "echo", "-a", "127.0.0.1")).startsWith("echo: either -s or -c");
        assertThat(run(1, "echo", "-s")).contains("Missing required option: '-a=ADDR'");
        assertThat(run(1, "echo", "-c", "-a", "127.0.0.1", "-p", "0")).contains("a client needs the server's port");
        assertThat(run(1, "echo", "-s", "-a", "127.0.0.1", "-S", "0")).contains("Invalid size 0");
        assertThat(run(1, "echo", "-c", "-a", "127.0.0.1", "-C", "0")).contains("Invalid count 0");
    }

    /** What a program prints, on either stream. */
    private static String run(int status, String... arguments) {
        StringWriter all = new StringWriter();
        PrintWriter printer = new PrintWriter(all, true);
        assertThat(Main.run(printer, printer, arguments)).describedAs(all.toString()).isEqualTo(status);
        return all.toString();
    }
}
