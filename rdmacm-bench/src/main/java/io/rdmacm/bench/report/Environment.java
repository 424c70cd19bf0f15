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

    /**
     * {@return the day in UTC and this machine, for what is measured on it now}
     *
     * @param prefix stands before what another part of the run may have measured on another machine
     */
    public static Map<String, String> here(String prefix) throws IOException {
        String model = Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
                .filter(line -> line.startsWith("model name")).findFirst()
                .map(line -> line.substring(line.indexOf(':') + 1).strip()).orElse(System.getProperty("os.arch"));
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("date", LocalDate.now(ZoneOffset.UTC).toString());
        int cpus = Runtime.getRuntime().availableProcessors();
        facts.put(prefix + "machine", model + ", " + cpus + (cpus == 1 ? " CPU, " : " CPUs, ")
                + System.getProperty("os.arch"));
        facts.put(prefix + "kernel", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        facts.put("JDK", System.getProperty("java.vendor") + " " + Runtime.version());
        return facts;
    }
}
