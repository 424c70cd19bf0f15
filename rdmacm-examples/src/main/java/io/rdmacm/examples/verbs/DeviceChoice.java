// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.util.List;

import io.rdmacm.verbs.Device;
import picocli.CommandLine.Option;

/** The option {@code -d} of all programs: the device. */
final class DeviceChoice {
    @Option(names = {"-d", "--ib-dev"}, paramLabel = "DEVICE", description = "The device, such as rxe0.")
    private String name;

    /** Returns the chosen device, or the first one if none was chosen. */
    Device one() throws IOException {
        List<Device> devices = all();
        return name == null ? devices.getFirst() : devices.stream().filter(device -> device.name().equals(name))
                .findFirst().orElseThrow(() -> new IOException("IB device " + name + " not found"));
    }

    /** Returns the chosen device, or all if none was chosen. */
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
