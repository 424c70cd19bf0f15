// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.testing.RdmaTestDevice;

/** Starts rping: the Java program or the one of rdma-core. */
public final class Rpings {
    private Rpings() {
    }

    /**
     * A server that is listening.
     *
     * @param program the server
     * @param address the address that it listens at
     * @param port the port that it listens on
     */
    public record Server(Program program, InetAddress address, int port) implements AutoCloseable {
        /** Starts a client of this server. */
        public Program client(Kind kind, String... options) throws IOException {
            List<String> arguments = new ArrayList<>(List.of("-c", "-a", address.getHostAddress(), "-p", "" + port));
            arguments.addAll(List.of(options));
            return kind.start("rping", arguments);
        }

        @Override
        public void close() {
            program.close();
        }
    }

    /** Starts a server at the IPv4 address of the device, and waits until it listens. */
    public static Server server(Kind kind, String... options) throws IOException, InterruptedException {
        return server(kind, RdmaTestDevice.get().ipv4(), options);
    }

    /** Starts a server at an address of the device, and waits until it listens. */
    public static Server server(Kind kind, InetAddress address, String... options)
            throws IOException, InterruptedException {
        // The Java program picks a free port and prints it; the C program must be given one.
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

    /** Returns the text of a ping of the given size, without the NUL at its end. */
    public static String ping(int number, int size) {
        StringBuilder text = new StringBuilder("rdma-ping-" + number + ": ");
        for (char letter = (char) ('A' + number % 58); text.length() < size - 1; letter++) {
            letter = letter > 'z' ? 'A' : letter;
            text.append(letter);
        }
        return text.toString();
    }

    /** Returns the lines that rping prints with -v. */
    public static List<String> lines(String prefix, int count, int size) {
        return IntStream.range(0, count).mapToObj(ping -> prefix + ping(ping, size)).toList();
    }
}
