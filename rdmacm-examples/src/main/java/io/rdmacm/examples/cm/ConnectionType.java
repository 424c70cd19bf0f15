// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;

import io.rdmacm.core.RdmaDevices;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.device.DeviceCapability;
import picocli.CommandLine.Option;

/** The option {@code -c} of rdma_xclient and rdma_xserver, of which the first letter counts, as in C. */
final class ConnectionType {
    @Option(names = "-c", paramLabel = "TYPE", defaultValue = "r",
            description = "The type of the connection: r for RC, reliable connected (the default); x for XRC, extended"
                    + " reliable connected.")
    private String type;

    boolean isValid() {
        return type.matches("(?i)[rx].*");
    }

    String invalid() {
        return "Invalid type '" + type + "': r for RC or x for XRC";
    }

    /** Refuses XRC, with the reason. */
    void requireReliable() throws IOException {
        if (type.matches("(?i)r.*")) {
            return;
        }
        for (VerbsContext device : RdmaDevices.list()) {
            if (device.queryDevice().capabilities().contains(DeviceCapability.XRC)) {
                throw new IOException("the endpoints of this library do not support XRC connections; the device "
                        + device.deviceName() + " does: use XrcDomain and its queue pairs");
            }
        }
        throw new IOException("no RDMA device of this machine supports XRC: use -c r");
    }
}
