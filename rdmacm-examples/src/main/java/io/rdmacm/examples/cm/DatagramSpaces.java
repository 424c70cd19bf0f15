// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.Usage;
import io.rdmacm.verbs.queue.QueuePairType;
import picocli.CommandLine.Model.CommandSpec;

/** The port spaces of datagram programs, by name or by their number in C. */
final class DatagramSpaces {
    private DatagramSpaces() {
    }

    /** Returns the port space of the number if one is given, otherwise the named one. */
    static PortSpace choose(CommandSpec program, Integer number, PortSpace named) {
        PortSpace chosen = named;
        if (number != null) {
            chosen = null;
            for (PortSpace space : PortSpace.values()) {
                chosen = space.value() == number ? space : chosen;
            }
        }
        Usage.require(program, chosen != null && chosen.queuePairType() == QueuePairType.UD, "Invalid port space "
                + (number == null ? named : number) + ": udp (0x111) or ipoib (2)");
        return chosen;
    }
}
