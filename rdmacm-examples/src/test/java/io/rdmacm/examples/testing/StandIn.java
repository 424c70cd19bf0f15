// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Assumptions;

/** What stands in for the kernel and a card, so that the real driver runs without one: built with rdmacm-verbs. */
public enum StandIn {
    EFA("fakeefa", "libfakeefa.so");

    private final Path folder;
    private final Path library;

    StandIn(String folder, String library) {
        this.folder = Path.of("..", "rdmacm-verbs", "target", folder).toAbsolutePath();
        this.library = this.folder.resolve(library);
    }

    /** Skips the test if there is no stand-in. */
    public void assume() throws IOException {
        Path reason = folder.resolve("missing.txt");
        Assumptions.assumeTrue(Files.exists(library), "there is no stand-in for " + this + ": "
                + (Files.exists(reason) ? Files.readString(reason).strip() : "rdmacm-verbs was not built"));
    }

    /** Runs a program in a process that has the card, until it ends. */
    public Program.Result run(Class<?> main, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(Program.javaCommand(main));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("LD_PRELOAD", library.toString());
        builder.environment().put("SYSFS_PATH", folder.resolve("sys").toString());
        try (Program program = Program.process(builder)) {
            return program.result();
        }
    }
}
