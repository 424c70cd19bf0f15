// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.support;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.verbs.testing.Requirements;

/** Which of the programs of one name. */
public enum Kind {
    /** Ours, in a thread. */
    JAVA,
    /** Ours, in a process. */
    JVM,
    /** That of rdma-core. */
    C;

    /** Starts it; a test is skipped where the one of rdma-core is not installed. */
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
                // Else what it prints is seen only at its end. The process becomes the program.
                command.addAll(0, List.of("stdbuf", "-oL"));
                yield Program.process(command.toArray(String[]::new));
            }
        };
    }

    /** Starts it; a test is skipped where the one of rdma-core is not installed. */
    public Program start(String name, String... arguments) throws IOException {
        return start(name, List.of(arguments));
    }
}
