// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;

import io.rdmacm.verbs.Device;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command {@code ibv_devices}, as ibv_devices(1): lists the RDMA devices of this machine. */
@Command(name = "ibv_devices", header = "The RDMA devices of this machine.",
        description = "Prints a line per device: its name and its GUID.",
        footer = {"%nFor example:", "  rdmacm ibv_devices"})
public final class IbvDevices implements Callable<Integer> {
    private static final String LINE = "    %-16s\t%s%n";

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    public IbvDevices() {
    }

    @Override
    public Integer call() throws IOException {
        List<Device> devices = Device.list();
        PrintWriter out = spec.commandLine().getOut();
        out.printf(LINE, "device", "   node GUID");
        out.printf(LINE, "------", "----------------");
        for (Device device : devices) {
            out.printf(LINE, device.name(), String.format("%016x", device.guid().value()));
        }
        return 0;
    }
}
