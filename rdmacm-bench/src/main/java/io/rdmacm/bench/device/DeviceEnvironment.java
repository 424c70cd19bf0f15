// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.rdmacm.bench.device.machine.Commands;
import io.rdmacm.bench.device.machine.Cpus;
import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.stream.Rstream;
import io.rdmacm.bench.device.stream.StreamWay;
import io.rdmacm.bench.report.Environment;

/** Describes where the device part runs, which may be a guest of the machine that runs the rest. */
final class DeviceEnvironment {
    private static final Pattern LIBRARY = Pattern.compile("libibverbs\\.so\\.\\d+\\.\\d+\\.(\\d+)\\.(\\d+)");
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private DeviceEnvironment() {
    }

    static Map<String, String> describe(Port port, Cpus cpus) throws IOException, InterruptedException {
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("date", Environment.today());
        facts.put("device", port.device().name() + " (" + port.device().transportType() + ", "
                + port.attributes().linkLayer() + ", MTU " + port.attributes().activeMtu() + ")");
        facts.put("device kernel", Environment.kernel());
        facts.put("device machine", Environment.machine());
        facts.put("device CPUs", cpus.allowed().size() + (cpus.enoughForTwo() && cpus.pinned()
                ? ", peers pinned to one each" : ""));
        facts.put("rdma-core", rdmaCore());
        facts.put("perftest", perftest());
        facts.put("polling of streams before they sleep", "rstream "
                + TimeUnit.MICROSECONDS.convert(Rstream.polling()) + " us, "
                + Arrays.stream(StreamWay.values()).map(way -> way.id() + " " + way.spinMicros() + " us")
                .collect(Collectors.joining(", ")));
        facts.put("JDK", Environment.jdk());
        return facts;
    }

    /** Returns the version of rdma-core, which is part of the file name of the loaded library. */
    private static String rdmaCore() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/maps")).stream().map(LIBRARY::matcher)
                .filter(Matcher::find).map(match -> match.group(1) + "." + match.group(2)).findFirst()
                .orElse("unknown");
    }

    private static String perftest() throws InterruptedException {
        try {
            return Commands.run(LIMIT, Map.of(), List.of("dpkg-query", "-W", "-f", "${Version}", "perftest"));
        } catch (IOException e) {
            return "unknown";
        }
    }
}
