// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.io.IOException;
import java.util.Locale;

import io.rdmacm.core.RdmaDevices;
import io.rdmacm.examples.support.Usage;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.device.DeviceCapability;
import picocli.CommandLine.Model.CommandSpec;

/** The option {@code -c} of rdma_xclient and rdma_xserver. */
final class TransportChoice {
    static final String DESCRIPTION = "The type of the connection: r for RC, reliable connected (the default); x for"
            + " XRC, extended reliable connected.";

    private TransportChoice() {
    }

    /** Accepts RC, and refuses XRC with the reason. */
    static void requireReliable(CommandSpec program, String type) throws IOException {
        // As in C the first letter counts.
        String letter = type.isEmpty() ? "" : type.substring(0, 1).toLowerCase(Locale.ROOT);
        Usage.require(program, "r".equals(letter) || "x".equals(letter), "Invalid type '" + type
                + "': r for RC or x for XRC");
        if ("r".equals(letter)) {
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
