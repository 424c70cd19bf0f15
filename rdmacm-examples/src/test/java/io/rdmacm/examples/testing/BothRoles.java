// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.testing;

import java.util.ArrayList;
import java.util.List;

/**
 * Runs the server and the client of a program in one JVM: what stands in for a card moves bytes within one process
 * only. Takes the name of the program and its options, and prints what the server and then the client printed.
 */
public final class BothRoles {
    private BothRoles() {
    }

    /** Takes the name and the options. */
    public static void main(String[] arguments) throws InterruptedException {
        try (Program server = Program.inThread(with(arguments, "-p", "0"))) {
            String port = server.awaitOutput("(?:listening|waiting) on port (\\d+)").group(1);
            try (Program client = Program.inThread(with(arguments, "-p", port, "localhost"))) {
                Program.Result called = client.result();
                Program.Result answered = server.result();
                System.out.print(answered.out() + called.out());
                System.err.print(answered.err() + called.err());
                System.exit(answered.status() + called.status());
            }
        }
    }

    private static String[] with(String[] arguments, String... more) {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of(more));
        return all.toArray(String[]::new);
    }
}
