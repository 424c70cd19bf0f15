// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.core.PortSpace;

/**
 * A server that is listening at an address of the device. For programs whose clients take the server's address as
 * {@code -s ADDR}, and whose both sides take {@code -p PORT}.
 *
 * @param program the server
 * @param client the name of the client program
 * @param address the address that clients connect to
 * @param port the port that the server listens on
 */
public record CmServer(Program program, String client, InetAddress address, int port) implements AutoCloseable {
    /** Starts a server that takes its own address as {@code -b ADDR} and whose client is the same program. */
    public static CmServer start(Kind kind, String name, boolean ipv6, List<String> options)
            throws IOException, InterruptedException {
        return start(kind, name, name, "-b", ipv6, options);
    }

    /**
     * Starts a server and waits until it listens.
     *
     * @param bind the option with which the server takes its own address; null if it listens at every address
     */
    public static CmServer start(Kind kind, String name, String client, String bind, boolean ipv6, List<String> options)
            throws IOException, InterruptedException {
        InetAddress address = Addresses.of(ipv6);
        int port = Ports.free(address, PortSpace.TCP);
        List<String> arguments = new ArrayList<>(List.of("-p", "" + port));
        if (bind != null) {
            arguments.addAll(List.of(bind, address.getHostAddress()));
        }
        arguments.addAll(options);
        CmServer server = new CmServer(kind.start(name, arguments), client, address, port);
        Ports.awaitListening(server.program, port);
        return server;
    }

    /** Starts a client of this server. */
    public Program client(Kind kind, List<String> options) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("-s", address.getHostAddress(), "-p", "" + port));
        arguments.addAll(options);
        return kind.start(client, arguments);
    }

    @Override
    public void close() {
        program.close();
    }

    /** Waits for a program and checks that it succeeded and printed these lines only. */
    public static void assertPrinted(Program program, String... lines) throws InterruptedException {
        Program.Result result = program.result();
        assertThat(result.status()).as(result.toString()).isZero();
        assertThat(result.outLines()).as(result.toString()).containsExactly(lines);
        assertThat(result.err()).isEmpty();
    }

    /** Waits for a program and checks that it failed with one line that gives the reason. */
    public static void assertFailed(Program program, String name, String reason) throws InterruptedException {
        Program.Result result = program.result();
        assertThat(result.status()).as(result.toString()).isEqualTo(1);
        assertThat(result.errLines()).singleElement().asString().startsWith(name + ": ").contains(reason);
    }
}
