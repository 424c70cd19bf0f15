// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Path;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JucxTest {
    @TempDir
    private Path folder;

    @Test
    void withoutTheVariableThereIsNone() {
        assertThat(Jucx.named(Map.of())).isEmpty();
    }

    @Test
    void aJarThatDoesNotExistIsNamed() {
        Path jar = folder.resolve("jucx.jar");

        assertThatIllegalArgumentException().isThrownBy(() -> Jucx.named(Map.of(Jucx.JAR, jar.toString())))
                .withMessage("RDMACM_BENCH_JUCX_JAR: there is no file " + jar);
    }
}
