// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.examples.testing.OpenChannel;
import io.rdmacm.examples.testing.Program;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs on a machine without one of the libraries: the dynamic linker finds an empty file first and refuses it. */
class MissingLibraryTest {
    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"librdmacm.so.1", "libibverbs.so.1"})
    void aProgramSaysSoInOneLine(String library) throws Exception {
        Path broken = Files.createFile(folder.resolve(library));
        String message = "cannot load " + library + ", which rdma_create_event_channel needs, although it is"
                + " installed: " + broken + ": file too short";
        Program.Result rping = run(Main.class, "rping", "-s");
        assertThat(rping.status()).isEqualTo(1);
        assertThat(rping.out()).isEmpty();
        assertThat(rping.errLines()).containsExactly("rping: " + message);

        Program.Result doctor = run(Main.class, "doctor");
        assertThat(doctor.status()).isEqualTo(1);
        assertThat(doctor.outLines()).contains("  WRONG    cannot open " + library)
                .contains("           -> install the package " + library.replace(".so.", "")
                        + " (rdma-core on other systems than Debian and Ubuntu)");

        Program.Result api = run(OpenChannel.class);
        assertThat(api.outLines()).containsExactly("NativeLibraryException of " + library + ": " + message);
    }

    private Program.Result run(Class<?> main, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(Program.javaCommand(main));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("LD_LIBRARY_PATH", folder.toString());
        try (Program program = Program.process(builder)) {
            return program.result();
        }
    }
}
