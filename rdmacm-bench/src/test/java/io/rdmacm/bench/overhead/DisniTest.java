// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.jar.JarOutputStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DisniTest {
    @TempDir
    private Path folder;

    @Test
    void withoutTheVariablesThereIsNone() {
        assertThat(Disni.named(Map.of())).isEmpty();
        assertThat(Disni.named(Map.of(Disni.JAR, "", Disni.LIBRARY, ""))).isEmpty();
    }

    @Test
    void oneVariableNeedsTheOther() {
        assertThatIllegalArgumentException().isThrownBy(() -> Disni.named(Map.of(Disni.JAR, "disni.jar")))
                .withMessage("RDMACM_BENCH_DISNI_LIB must be set too: all of RDMACM_BENCH_DISNI_JAR, "
                        + "RDMACM_BENCH_DISNI_LIB are needed");
    }

    @Test
    void aJarThatDoesNotExistIsNamed() {
        Path jar = folder.resolve("disni.jar");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> Disni.named(Map.of(Disni.JAR, jar.toString(), Disni.LIBRARY, "libdisni.so")))
                .withMessage("RDMACM_BENCH_DISNI_JAR: there is no file " + jar);
    }

    @Test
    void anotherJarIsRefused() throws IOException {
        Path jar = folder.resolve("other.jar");
        new JarOutputStream(Files.newOutputStream(jar)).close();
        Path library = Files.createFile(folder.resolve("libdisni.so"));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> Disni.named(Map.of(Disni.JAR, jar.toString(), Disni.LIBRARY, library.toString())))
                .withMessageStartingWith(jar + " lacks what is compared:")
                .withMessageContaining("com.ibm.disni.verbs");
    }
}
