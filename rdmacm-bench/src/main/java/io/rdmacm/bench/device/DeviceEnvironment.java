// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.rdmacm.bench.device.machine.Cpus;
import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.stream.Rstream;
import io.rdmacm.bench.report.Environment;

/** Describes where the device part runs, which may be a guest of the machine that runs the rest. */
final class DeviceEnvironment {
    private static final Pattern LIBRARY = Pattern.compile("libibverbs\\.so\\.\\d+\\.\\d+\\.(\\d+)\\.(\\d+)");
    private static final Pattern PERFTEST = Pattern.compile("(?s)Package: perftest\n.*?\nVersion: (.*?)\n");

    private DeviceEnvironment() {
    }

    static Map<String, String> describe(Port port, Cpus cpus) throws IOException {
        Map<String, String> facts = Environment.here("device ");
        facts.put("device", port.device().name() + " (" + port.device().transportType() + ", "
                + port.attributes().linkLayer() + ", MTU " + port.attributes().activeMtu() + ")");
        facts.put("device CPUs", cpus.allowed().size() + (cpus.enoughForTwo() && cpus.pinned()
                ? ", peers pinned to one each" : ""));
        // part of the name of the loaded library
        facts.put("rdma-core", Files.readAllLines(Path.of("/proc/self/maps")).stream().map(LIBRARY::matcher)
                .filter(Matcher::find).map(match -> match.group(1) + "." + match.group(2)).findFirst()
                .orElse("unknown"));
        Path packages = Path.of("/var/lib/dpkg/status");
        Matcher perftest = PERFTEST.matcher(Files.exists(packages) ? Files.readString(packages) : "");
        facts.put("perftest", perftest.find() ? perftest.group(1) : "unknown");
        facts.put("polling of streams over RDMA before they sleep",
                TimeUnit.MICROSECONDS.convert(Rstream.polling()) + " us");
        return facts;
    }
}
