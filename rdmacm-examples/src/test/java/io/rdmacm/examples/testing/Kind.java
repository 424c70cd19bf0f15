// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.testing;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.verbs.testing.Requirements;

/** The implementations of a program: the Java one, started in either of two ways, and the one of rdma-core. */
public enum Kind {
    /** The Java program, in a thread of this JVM. */
    JAVA,
    /** The Java program, in a JVM of its own. */
    JVM,
    /** The C program of rdma-core. */
    C;

    /** Starts the program. Skips the test if the C program is wanted and not installed. */
    public Program start(String name, List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(name));
        command.addAll(arguments);
        String[] words = command.toArray(String[]::new);
        return switch (this) {
            case JAVA -> Program.inThread(words);
            case JVM -> Program.inJvm(words);
            case C -> {
                Requirements.requireProgram(name, name.startsWith("ibv_") ? "ibverbs-utils" : "rdmacm-utils");
                Requirements.requireProgram("stdbuf", "coreutils");
                // Without stdbuf the output would be buffered until the program ends. stdbuf execs the program.
                command.addAll(0, List.of("stdbuf", "-oL"));
                yield Program.process(command.toArray(String[]::new));
            }
        };
    }

    /** Starts the program. Skips the test if the C program is wanted and not installed. */
    public Program start(String name, String... arguments) throws IOException {
        return start(name, List.of(arguments));
    }
}
