// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.util.List;

import io.rdmacm.examples.support.ExampleProgram;
import io.rdmacm.verbs.Device;
import picocli.CommandLine.Command;

/** The command {@code ibv_devices}, as ibv_devices(1): lists the RDMA devices of this machine. */
@Command(name = "ibv_devices", header = "The RDMA devices of this machine.",
        description = "Prints a line per device: its name and its GUID.",
        footer = {"%nFor example:", "  rdmacm ibv_devices"})
final class IbvDevices extends ExampleProgram {
    private static final String LINE = "    %-16s\t%s";

    @Override
    protected void run() throws IOException {
        List<Device> devices = Device.list();
        print(String.format(LINE, "device", "   node GUID"));
        print(String.format(LINE, "------", "----------------"));
        for (Device device : devices) {
            print(String.format(LINE, device.name(), String.format("%016x", device.guid().value())));
        }
    }
}
