// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Describes this machine and its software. */
public final class Environment {
    private Environment() {
    }

    /** {@return the CPU model and the number of CPUs} */
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

    /** {@return the name and version of the kernel} */
    public static String kernel() {
        return System.getProperty("os.name") + " " + System.getProperty("os.version");
    }

    /** {@return the vendor and version of the JDK} */
    public static String jdk() {
        return System.getProperty("java.vendor") + " " + Runtime.version();
    }
}
