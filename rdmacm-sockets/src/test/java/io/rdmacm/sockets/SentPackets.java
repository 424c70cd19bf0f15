// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

import io.rdmacm.verbs.testing.RdmaTestDevice;

/** How many packets the device has sent: the proof that bytes went over it. */
final class SentPackets {
    /** The payload of a packet that is full. */
    static final int SIZE = 4096;

    private SentPackets() {
    }

    /** Returns the count; only SoftRoCE has it. */
    static Optional<Long> count() throws IOException {
        Path counter = Path.of("/sys/class/infiniband", RdmaTestDevice.get().name(), "ports/1/hw_counters/sent_pkts");
        return Files.exists(counter) ? Optional.of(Long.parseLong(Files.readString(counter).strip()))
                : Optional.empty();
    }
}
