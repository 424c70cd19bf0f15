// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.testing;

import java.nio.file.Files;
import java.nio.file.Path;

/** Finds README.md and the files of docs. */
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
}
