// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.Usage;
import io.rdmacm.verbs.queue.QueuePairType;
import picocli.CommandLine.Model.CommandSpec;

/** The port spaces of programs that send datagrams: by their names, or by the numbers that C has for them. */
final class DatagramSpaces {
    private DatagramSpaces() {
    }

    /** The space of the number, if one is given, else the named one. */
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
