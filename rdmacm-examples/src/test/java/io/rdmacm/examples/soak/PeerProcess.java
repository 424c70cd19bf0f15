// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.verbs.testing.ForkedJvm;

/** Starts peers in processes of their own. */
final class PeerProcess {
    private PeerProcess() {
    }

    /**
     * Starts a main class in a JVM of its own. Its standard error shows why it did not do what it should.
     *
     * @param wrapper the program that starts the JVM, with its arguments; may be empty
     * @param options more options of the JVM
     */
    static Process start(Class<?> main, List<String> wrapper, List<String> options, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>(wrapper);
        command.addAll(ForkedJvm.command());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-Xmx64m", "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path")));
        command.addAll(options);
        command.add(main.getName());
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }
}
