// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What there is to say of this machine. */
public final class Environment {
    private Environment() {
    }

    /** {@return its processor, and how many of them} */
    public static String machine() throws IOException {
        String model = System.getProperty("os.arch");
        for (String line : Files.readAllLines(Path.of("/proc/cpuinfo"))) {
            if (line.startsWith("model name")) {
                model = line.substring(line.indexOf(':') + 1).strip();
                break;
            }
        }
        return model + ", " + Runtime.getRuntime().availableProcessors() + " CPUs, " + System.getProperty("os.arch");
    }

    /** {@return its kernel} */
    public static String kernel() {
        return System.getProperty("os.name") + " " + System.getProperty("os.version");
    }

    /** {@return the JDK that runs this} */
    public static String jdk() {
        return System.getProperty("java.vendor") + " " + Runtime.version();
    }
}
