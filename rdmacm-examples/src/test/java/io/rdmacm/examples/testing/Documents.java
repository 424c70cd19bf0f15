// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Finds README.md and the pages of docs. */
public final class Documents {
    private Documents() {
    }

    /** Returns the root folder of the project, whichever of its folders the tests were started in. */
    public static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("README.md"))) {
            folder = folder.getParent();
        }
        return folder;
    }

    /** Returns the pages in the root folder and in docs. */
    public static List<Path> pages() throws IOException {
        try (Stream<Path> root = Files.list(root())) {
            return Stream.concat(root.filter(file -> file.toString().endsWith(".md")), below("docs").stream())
                    .sorted().toList();
        }
    }

    /** Returns the pages of a folder and those below it. */
    public static List<Path> below(String folder) throws IOException {
        try (Stream<Path> files = Files.walk(root().resolve(folder))) {
            return files.filter(file -> file.toString().endsWith(".md")).sorted().toList();
        }
    }
}
