// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.util.List;

import io.rdmacm.examples.support.ExampleProgram;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.device.DeviceAttributesEx;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * The command {@code ibv_devinfo}, as ibv_devinfo(1): prints the attributes of devices and ports. This class holds the
 * options; {@link DeviceReport} prints a device, {@link PortReport} a port.
 */
@Command(name = "ibv_devinfo", header = "Prints the attributes of RDMA devices and their ports.",
        description = "Queries each device, and prints the results.",
        footer = {"%nFor example, everything about rxe0:", "  rdmacm ibv_devinfo -d rxe0 -v"})
final class IbvDevinfo extends ExampleProgram {
    @Mixin
    private DeviceChoice choice;

    @Option(names = {"-i", "--ib-port"}, paramLabel = "PORT",
            description = "Only this port, from 1 on; by default all.")
    private Integer port;

    @Option(names = {"-l", "--list"}, description = "Print only the names of the devices.")
    private boolean list;

    @Option(names = {"-v", "--verbose"}, description = "Also print limits and capabilities, and the GIDs of the ports.")
    private boolean verbose;

    @Override
    protected void run() throws IOException {
        require(port == null || port >= 1, "Invalid port " + port);
        if (list) {
            printNames();
        } else {
            for (Device device : choice.oneOrAll()) {
                print(device);
            }
        }
    }

    private void printNames() throws IOException {
        List<Device> devices = Device.list();
        print(devices.size() + (devices.size() == 1 ? " HCA" : " HCAs") + " found:");
        devices.forEach(device -> print("\t" + device.name()));
        print("");
    }

    private void print(Device device) throws IOException {
        try (VerbsContext context = device.open()) {
            DeviceAttributesEx attributes = context.queryDeviceEx();
            int ports = attributes.basic().physicalPorts();
            if (port != null && port > ports) {
                throw new IOException("Invalid port requested for device: " + device.name() + " has no port " + port);
            }
            DeviceReport report = new DeviceReport(this::print, device, attributes);
            report.print();
            if (verbose) {
                report.printLimits();
                report.printCapabilities();
                print("\tnum_comp_vectors:\t\t" + context.completionVectors());
            }
            for (int i = 1; i <= ports; i++) {
                if (port == null || port == i) {
                    new PortReport(this::print, context, i).print(verbose, device.transportType());
                }
            }
        }
    }
}
