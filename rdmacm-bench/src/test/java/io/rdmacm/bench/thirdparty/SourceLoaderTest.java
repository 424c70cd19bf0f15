// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.thirdparty;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.IntToLongFunction;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SourceLoaderTest {
    @TempDir
    private Path folder;

    @Test
    void aResourceIsCompiledAndSeesTheJar() throws IOException, ReflectiveOperationException {
        Path jar = folder.resolve("some.jar");
        try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar))) {
            out.putNextEntry(new JarEntry("numbers.txt"));
            out.write("7".getBytes(StandardCharsets.US_ASCII));
        }
        try (SourceLoader loader = new SourceLoader(jar, Map.of("known", Path.of("/there/libknown.so")))) {
            Class<?> type = loader.compile(SourceLoaderTest.class, "CompiledLoop");

            assertThat(type.getClassLoader()).isSameAs(loader);
            IntToLongFunction loop = (IntToLongFunction) type.getConstructor().newInstance();
            assertThat(loop.applyAsLong(6)).isEqualTo(42);
            assertThat(loader.findLibrary("known")).isEqualTo("/there/libknown.so");
            assertThat(loader.findLibrary("unknown")).isNull();
        }
    }
}
