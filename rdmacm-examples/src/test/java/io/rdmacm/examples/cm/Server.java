// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.cm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.core.PortSpace;
import io.rdmacm.examples.support.Addresses;
import io.rdmacm.examples.support.Kind;
import io.rdmacm.examples.support.Ports;
import io.rdmacm.examples.support.Program;

/**
 * A server that listens at an address of the device, for programs that take {@code -s ADDR} for a client, and
 * {@code -p PORT} on both sides.
 *
 * @param program the server
 * @param client the name of the client's program
 * @param address where it is
 * @param port its port
 */
record Server(Program program, String client, InetAddress address, int port) implements AutoCloseable {
    /** A server with the option -b for its own address, and its client, of one name. */
    static Server start(Kind kind, String name, boolean ipv6, List<String> options)
            throws IOException, InterruptedException {
        return start(kind, name, name, "-b", ipv6, options);
    }

    /** With the option for its own address; null for programs that listen at every address. */
    static Server start(Kind kind, String name, String client, String bind, boolean ipv6, List<String> options)
            throws IOException, InterruptedException {
        InetAddress address = Addresses.of(ipv6);
        int port = Ports.free(address, PortSpace.TCP);
        List<String> arguments = new ArrayList<>(List.of("-p", "" + port));
        if (bind != null) {
            arguments.addAll(List.of(bind, address.getHostAddress()));
        }
        arguments.addAll(options);
        Server server = new Server(kind.start(name, arguments), client, address, port);
        Ports.awaitListening(server.program, port);
        return server;
    }

    Program client(Kind kind, List<String> options) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("-s", address.getHostAddress(), "-p", "" + port));
        arguments.addAll(options);
        return kind.start(client, arguments);
    }

    @Override
    public void close() {
        program.close();
    }

    /** It ended well, and said no more than this. */
    static void assertPrinted(Program program, String... lines) throws InterruptedException {
        Program.Result result = program.result();
        assertThat(result.status()).as(result.toString()).isZero();
        assertThat(result.outLines()).as(result.toString()).containsExactly(lines);
        assertThat(result.err()).isEmpty();
    }

    /** It ended with one line that says why. */
    static void assertFailed(Program program, String name, String reason) throws InterruptedException {
        Program.Result result = program.result();
        assertThat(result.status()).as(result.toString()).isEqualTo(1);
        assertThat(result.errLines()).singleElement().asString().startsWith(name + ": ").contains(reason);
    }
}
