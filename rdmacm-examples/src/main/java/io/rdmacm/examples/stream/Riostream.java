// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.IOException;
import java.util.List;

import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.stream.StreamSettings;
import picocli.CommandLine.Command;

/**
 * The command {@code riostream}, as riostream(1): both sides map memory for the other one, which writes to it directly.
 * {@link MappedExchange} is one connection.
 *
 * <p>Unlike in C, a transfer with wrong data ends the program, and -b works for clients too. A server uses inline data
 * of one size for all its tests.
 */
@Command(name = "riostream", header = "Measures direct writes to mapped memory of streams.",
        description = "Like rstream, but the transfers are written to memory that the peer has mapped; each side looks"
                + " at its memory until the last byte has changed. Both sides need the same -I, -C, -S and -T v.",
        footer = {"%nFor example, a server, and a client:",
            "  rdmacm riostream -T b", "  rdmacm riostream -s 192.168.99.1 -T b"})
final class Riostream extends StreamProgram {
    @Override
    protected void run() throws IOException, InterruptedException {
        for (TestOption refused : List.of(TestOption.SOCKETS, TestOption.FORK, TestOption.RESOLVE)) {
            require(!wants(refused), "riostream has no test option " + refused);
        }
        checkOptions();
        StreamSettings settings = settings().mapSlots(1).build();
        try (RdmaStreamServer listener = listen(settings)) {
            MappedExchange exchange = new MappedExchange(this);
            print(StreamTest.HEADER);
            for (Part part : parts()) {
                try (RdmaStream stream = stream(listener, settings, part.inlineSize())) {
                    exchange.run(stream, part.tests());
                }
            }
        }
    }
}
