// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import java.nio.file.Files;
import java.nio.file.Path;

/** Where the documents of the project lie. */
final class Documents {
    private Documents() {
    }

    /** The folder of README.md, from wherever in the project the tests were started. */
    static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("README.md"))) {
            folder = folder.getParent();
        }
        return folder;
    }
}
