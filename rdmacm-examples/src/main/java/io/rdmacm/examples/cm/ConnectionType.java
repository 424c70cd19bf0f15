// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;

import io.rdmacm.core.RdmaDevices;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.device.DeviceCapability;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The option {@code -c} of rdma_xclient and rdma_xserver, of which the first letter counts, as in C. */
final class ConnectionType {
    private boolean reliable;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec program;

    @Option(names = "-c", paramLabel = "TYPE", defaultValue = "r",
            description = "The type of the connection: r for RC, reliable connected (the default); x for XRC, extended"
                    + " reliable connected.")
    private void setType(String type) {
        if (!type.matches("(?i)[rx].*")) {
            throw new ParameterException(program.commandLine(), "Invalid type '" + type + "': r for RC or x for XRC");
        }
        reliable = type.matches("(?i)r.*");
    }

    /** Refuses XRC, with the reason. */
    void requireReliable() throws IOException {
        if (reliable) {
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
