// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import java.util.Arrays;

import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.queue.QueuePairType;

/** The port spaces of datagram programs, by name or by their number in C. */
final class DatagramSpaces {
    private DatagramSpaces() {
    }

    /** Returns the port space of the number if one is given, otherwise the named one; null if it has no datagrams. */
    static PortSpace choose(Integer number, PortSpace named) {
        return Arrays.stream(PortSpace.values()).filter(space -> number == null ? space == named
                : space.value() == number).filter(space -> space.queuePairType() == QueuePairType.UD).findFirst()
                .orElse(null);
    }

    /** Says that there is no such port space. */
    static String invalid(Integer number, PortSpace named) {
        return "Invalid port space " + (number == null ? named : number) + ": udp (0x111) or ipoib (2)";
    }
}
