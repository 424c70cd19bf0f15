// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.doctor;

import java.io.IOException;
import java.util.List;

import io.rdmacm.examples.support.ExampleProgram;
import io.rdmacm.verbs.Device;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code doctor}: examines libraries, devices and permissions, connects each device with itself, and says
 * what to do about what is wrong.
 */
@Command(name = "doctor", header = "Tells whether this machine can use RDMA, and what to do if not.",
        description = {"Examines libraries, permissions, limits, devices, ports and addresses, and connects each device"
                    + " with itself to measure 1,000 messages and 1,000 writes. Each line is 'ok', a 'warning' or"
                    + " 'WRONG', the last two with what to do.",
            "The exit status is 0 if nothing is wrong, and 1 otherwise."},
        footer = {"%nFor example, for a script:", "  rdmacm doctor --json"})
final class Doctor extends ExampleProgram {
    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Option(names = {"-d", "--ib-dev"}, paramLabel = "DEVICE", description = "Only this device, such as rxe0.")
    private String name;

    @Option(names = "--no-loopback", description = "Connect nothing, and measure nothing.")
    private boolean noLoopback;

    @Override
    protected void run() throws IOException, InterruptedException {
        Findings findings = new Findings();
        Machine machine = Machine.here();
        new Surroundings(machine, findings).examine();
        for (Device device : devices(machine, findings)) {
            new DeviceExamination(device, machine, findings).examine(!noLoopback);
        }
        if (json) {
            print(findings.toJson());
        } else {
            findings.lines().forEach(this::print);
        }
        if (findings.problems() > 0) {
            throw new IOException(findings.problems() == 1 ? "1 thing is wrong" : findings.problems()
                    + " things are wrong");
        }
    }

    /** Returns the devices that libibverbs knows. Those that only the kernel knows are a problem. */
    private List<Device> devices(Machine machine, Findings findings) {
        if (machine.devices().isEmpty()) {
            // as has been said
            return List.of();
        }
        List<Device> devices;
        try {
            devices = Device.list().stream().filter(device -> name == null || device.name().equals(name)).toList();
        } catch (IOException e) {
            findings.problem("devices", describe(e), "see what is wrong above");
            return List.of();
        }
        List<String> known = devices.stream().map(Device::name).toList();
        List<String> wanted = name == null ? machine.devices() : List.of(name);
        wanted.stream().filter(device -> !known.contains(device)).forEach(device ->
                findings.problem(device, machine.devices().contains(device)
                        ? "the kernel has this device, libibverbs does not know it" : "there is no such device",
                        "install the drivers of libibverbs (package ibverbs-providers or rdma-core); see `rdma link`"));
        return devices;
    }
}
