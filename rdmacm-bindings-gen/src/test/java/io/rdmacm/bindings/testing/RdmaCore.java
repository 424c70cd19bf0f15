// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bindings.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.stream.Stream;

/**
 * Releases of rdma-core. The headers are the installed ones, or those of a source tree that was built, if
 * {@code RDMA_CORE_BUILD} is the path of its build directory.
 */
public final class RdmaCore {
    /** The oldest version supported. */
    public static final int OLDEST = 44;
    /** The version that the bindings were generated from. */
    public static final int GENERATED_FROM = generatedFrom();

    private static final String BUILD = Objects.requireNonNullElse(System.getenv("RDMA_CORE_BUILD"), "");

    private RdmaCore() {
    }

    private static int generatedFrom() {
        try (var reader = Files.newBufferedReader(Path.of("src/generated/GENERATED.properties"))) {
            Properties provenance = new Properties();
            provenance.load(reader);
            return major(provenance.getProperty("rdma-core"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the options with which a compiler finds the headers. */
    public static List<String> includeOptions() {
        return BUILD.isEmpty() ? List.of() : List.of("-I", BUILD + "/include");
    }

    /** Returns the version of the headers. libibverbs.pc of rdma-core 44.0 has 1.14.44.0. */
    public static int installedVersion() throws IOException {
        try (Stream<Path> files = Files.find(Path.of(BUILD.isEmpty() ? "/usr" : BUILD), 4,
                (file, attributes) -> file.endsWith("pkgconfig/libibverbs.pc"))) {
            Path file = files.findFirst().orElseThrow(() -> new AssertionError("headers without libibverbs.pc"));
            return major(Files.readString(file).replaceAll("(?s).*\nVersion: \\d+\\.\\d+\\.(\\S+).*", "$1"));
        }
    }

    private static int major(String version) {
        return Integer.parseInt(version.substring(0, version.indexOf('.')));
    }
}
