// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

import io.rdmacm.verbs.testing.Requirements;

/** The library of librdmacm that has the sockets of a program go over rsockets. */
public final class Preload {
    private Preload() {
    }

    /** Returns its file, wherever the distribution has put it. Skips the test if it is not installed. */
    public static Path library() throws IOException {
        try (Stream<Path> folders = Files.list(Path.of("/usr/lib"))) {
            Path library = Stream.concat(Stream.of(Path.of("/usr/lib"), Path.of("/usr/lib64")), folders)
                    .map(folder -> folder.resolve("rsocket/librspreload.so")).filter(Files::exists).findFirst()
                    .orElse(null);
            Requirements.require(library != null, "librspreload.so is not installed (package librdmacm1)");
            return library;
        }
    }
}
