// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

import io.rdmacm.bench.device.machine.Cpus;
import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.machine.Programs;
import io.rdmacm.bench.report.Results;

/**
 * The device part of the benchmark: {@code DeviceBenchmark [--quick] [--only TEXT] FILE}. It prints its progress to
 * standard error, and writes the results to the file.
 */
public final class DeviceBenchmark {
    private DeviceBenchmark() {
    }

    /**
     * Runs the benchmark.
     *
     * @param args see the class
     * @throws Exception if there is no usable device, or the results cannot be written
     */
    public static void main(String[] args) throws Exception {
        List<String> words = Arrays.asList(args);
        if (words.isEmpty() || words.getLast().startsWith("-")) {
            System.err.println("DeviceBenchmark [--quick] [--only TEXT] FILE");
            System.exit(2);
        }
        int option = words.indexOf("--only");
        String only = option < 0 ? "" : words.get(option + 1);
        Port port = Port.find();
        Cpus cpus = Cpus.find();
        Plan plan = new Plan(words.contains("--quick"), cpus.enoughForTwo());
        Rounds rounds = new Rounds();
        try (Programs programs = new Programs(cpus); JavaSide java = new JavaSide(cpus)) {
            List<Trial.Group> groups = plan.groups(port, programs).stream().filter(group -> group.has(only)).toList();
            for (int i = 0; i < groups.size(); i++) {
                Rounds.say("[%d/%d]", i + 1, groups.size());
                rounds.run(groups.get(i), java);
            }
        }
        new Results(DeviceEnvironment.describe(port, cpus), rounds.results()).write(Path.of(words.getLast()));
    }
}
