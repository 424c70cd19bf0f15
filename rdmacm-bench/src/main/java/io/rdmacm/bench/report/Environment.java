// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.Map;

/** Describes this machine and its software. */
public final class Environment {
    private Environment() {
    }

    /** {@return the day and this machine, for what is measured on it now} */
    public static Map<String, String> here() throws IOException {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("date", today());
        facts.put("machine", machine());
        facts.put("kernel", kernel());
        facts.put("JDK", jdk());
        return facts;
    }

    /** {@return the day, in UTC} */
    public static String today() {
        return LocalDate.now(ZoneOffset.UTC).toString();
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
