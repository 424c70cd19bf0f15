// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Assumptions;

/** What tests need of the machine: a skip with the reason where it may lack, a failure where it may not. */
public final class Requirements {
    /** The environment variable that says that there is a device, with all that its tests need. */
    public static final String VARIABLE = "RDMACM_REQUIRE_DEVICE";

    private Requirements() {
    }

    /** Whether tests must not be skipped for the want of a device or its tools. */
    public static boolean deviceRequired() {
        return Boolean.parseBoolean(System.getenv(VARIABLE));
    }

    /**
     * Skips the test, or fails it, when a condition does not hold.
     *
     * @param met whether it does
     * @param reason what is missing
     */
    public static void require(boolean met, String reason) {
        if (!met && deviceRequired()) {
            throw new AssertionError(reason + ", but " + VARIABLE + "=true");
        }
        Assumptions.assumeTrue(met, reason);
    }

    /**
     * Skips the test, or fails it, when a program is not installed.
     *
     * @param program its name, looked for in PATH
     * @param debianPackage what it is in
     */
    public static void requireProgram(String program, String debianPackage) {
        require(isInstalled(program), "the program " + program + " is not installed (package " + debianPackage + ")");
    }

    /** Whether a program is in PATH. */
    public static boolean isInstalled(String program) {
        for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)) {
            if (!folder.isEmpty() && Files.isExecutable(Path.of(folder, program))) {
                return true;
            }
        }
        return false;
    }
}
