// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.util.List;

import io.rdmacm.verbs.Device;
import picocli.CommandLine.Option;

/** The option -d of all programs: which device. */
final class DeviceChoice {
    @Option(names = {"-d", "--ib-dev"}, paramLabel = "DEVICE", description = "Which device, such as rxe0.")
    private String name;

    /** The one of the option, or the first one. */
    Device one() throws IOException {
        List<Device> devices = all();
        return name == null ? devices.getFirst() : devices.stream().filter(device -> device.name().equals(name))
                .findFirst().orElseThrow(() -> new IOException("IB device " + name + " not found"));
    }

    /** The one of the option, or all. */
    List<Device> oneOrAll() throws IOException {
        return name == null ? all() : List.of(one());
    }

    private static List<Device> all() throws IOException {
        List<Device> devices = Device.list();
        if (devices.isEmpty()) {
            throw new IOException("No IB devices found");
        }
        return devices;
    }
}
