// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.testing;

import static org.assertj.core.api.Assertions.assertThat;

/** Runs programs with command lines that are refused, or that ask for help. */
public final class CommandLines {
    private CommandLines() {
    }

    /** Checks that a command fails with one line that gives the reason and names the help. */
    public static void assertRefused(String command, String reason) throws InterruptedException {
        String[] words = command.split(" ");
        Program.Result result = run(words);
        assertThat(result.status()).isEqualTo(1);
        assertThat(result.out()).isEmpty();
        assertThat(result.errLines()).containsExactly(words[0] + ": " + reason + " (see rdmacm " + words[0]
                + " --help)");
    }

    /** Returns the help of a program, and checks that it has an example. */
    public static String help(String name) throws InterruptedException {
        Program.Result result = run(name, "--help");
        assertThat(result.status()).isZero();
        assertThat(result.err()).isEmpty();
        assertThat(result.outLines()).anyMatch(line -> line.startsWith("  rdmacm " + name));
        return result.out();
    }

    private static Program.Result run(String... words) throws InterruptedException {
        try (Program program = Program.inThread(words)) {
            return program.result();
        }
    }
}
