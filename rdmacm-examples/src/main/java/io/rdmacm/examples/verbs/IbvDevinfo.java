// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;

import io.rdmacm.examples.support.Usage;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.device.DeviceAttributesEx;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command {@code ibv_devinfo}, as ibv_devinfo(1): prints the attributes of devices and ports. This class holds the
 * options; {@link DeviceReport} prints a device, {@link PortReport} a port.
 */
@Command(name = "ibv_devinfo", sortOptions = false, header = "Prints the attributes of RDMA devices and their ports.",
        description = "Queries each device, and prints the results.",
        footer = {"%nFor example, everything about rxe0:", "  rdmacm ibv_devinfo -d rxe0 -v"})
public final class IbvDevinfo implements Callable<Integer> {
    @Mixin
    private DeviceChoice choice;

    @Option(names = {"-i", "--ib-port"}, paramLabel = "PORT",
            description = "Only this port, from 1 on; by default all.")
    private Integer port;

    @Option(names = {"-l", "--list"}, description = "Print only the names of the devices.")
    private boolean list;

    @Option(names = {"-v", "--verbose"}, description = "Also print limits and capabilities, and the GIDs of the ports.")
    private boolean verbose;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    public IbvDevinfo() {
    }

    @Override
    public Integer call() throws IOException {
        Usage.require(spec, port == null || port >= 1, "Invalid port " + port);
        PrintWriter out = spec.commandLine().getOut();
        if (list) {
            printNames(out);
        } else {
            for (Device device : choice.oneOrAll()) {
                print(device, out);
            }
        }
        return 0;
    }

    private static void printNames(PrintWriter out) throws IOException {
        List<Device> devices = Device.list();
        out.println(devices.size() + (devices.size() == 1 ? " HCA" : " HCAs") + " found:");
        devices.forEach(device -> out.println("\t" + device.name()));
        out.println();
    }

    private void print(Device device, PrintWriter out) throws IOException {
        try (VerbsContext context = device.open()) {
            DeviceAttributesEx attributes = context.queryDeviceEx();
            int ports = attributes.basic().physicalPorts();
            if (port != null && port > ports) {
                throw new IOException("Invalid port requested for device: " + device.name() + " has no port " + port);
            }
            DeviceReport report = new DeviceReport(out, device, attributes);
            report.print();
            if (verbose) {
                report.printLimits();
                report.printCapabilities();
                out.println("\tnum_comp_vectors:\t\t" + context.completionVectors());
            }
            for (int i = 1; i <= ports; i++) {
                if (port == null || port == i) {
                    new PortReport(out, context, i).print(verbose, device.transportType());
                }
            }
        }
    }
}
