// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.rping;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.Kind;
import io.rdmacm.examples.support.Ports;
import io.rdmacm.examples.support.Program;
import io.rdmacm.verbs.testing.RdmaTestDevice;

/** Starts rping: ours, and the one of rdma-core. */
final class Rpings {
    private Rpings() {
    }

    /**
     * A server that listens.
     *
     * @param program the server
     * @param address where it is
     * @param port its port
     */
    record Server(Program program, InetAddress address, int port) implements AutoCloseable {
        Program client(Kind kind, String... options) throws IOException {
            List<String> arguments = new ArrayList<>(List.of("-c", "-a", address.getHostAddress(), "-p", "" + port));
            arguments.addAll(List.of(options));
            return kind.start("rping", arguments);
        }

        @Override
        public void close() {
            program.close();
        }
    }

    /** A server at the device's IPv4 address. */
    static Server server(Kind kind, String... options) throws IOException, InterruptedException {
        return server(kind, RdmaTestDevice.get().ipv4(), options);
    }

    static Server server(Kind kind, InetAddress address, String... options) throws IOException, InterruptedException {
        // Ours takes a free port and tells it; the other must be given one.
        int port = kind == Kind.C ? Ports.free(address, PortSpace.TCP) : 0;
        List<String> arguments = new ArrayList<>(List.of("-s", "-a", address.getHostAddress(), "-p", "" + port));
        arguments.addAll(List.of(options));
        Program program = kind.start("rping", arguments);
        if (kind == Kind.C) {
            Ports.awaitListening(program, port);
        } else {
            port = Integer.parseInt(program.awaitOutput("server listening on port (\\d+)").group(1));
        }
        return new Server(program, address, port);
    }

    /** The text of a ping of some size, without the zero at its end. */
    static String ping(int number, int size) {
        StringBuilder text = new StringBuilder("rdma-ping-" + number + ": ");
        for (char letter = (char) ('A' + number % 58); text.length() < size - 1; letter++) {
            letter = letter > 'z' ? 'A' : letter;
            text.append(letter);
        }
        return text.toString();
    }

    /** The lines that -v prints. */
    static List<String> lines(String prefix, int count, int size) {
        return IntStream.range(0, count).mapToObj(ping -> prefix + ping(ping, size)).toList();
    }
}
