// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bindings.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.stream.Stream;

/** Major versions of rdma-core. */
public final class RdmaCore {
    /** The version that the bindings were generated from. */
    public static final int GENERATED_FROM = generatedFrom();

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

    /** Returns the version of the installed headers. libibverbs.pc of rdma-core 44.0 has 1.14.44.0. */
    public static int installedVersion() throws IOException {
        try (Stream<Path> files = Files.find(Path.of("/usr"), 4,
                (file, attributes) -> file.endsWith("pkgconfig/libibverbs.pc"))) {
            Path file = files.findFirst().orElseThrow(() -> new AssertionError("headers without libibverbs.pc"));
            return major(Files.readString(file).replaceAll("(?s).*\nVersion: \\d+\\.\\d+\\.(\\S+).*", "$1"));
        }
    }

    private static int major(String version) {
        return Integer.parseInt(version.substring(0, version.indexOf('.')));
    }
}
