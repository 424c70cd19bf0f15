// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.echo;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

import io.rdmacm.examples.support.ExampleProgram;
import io.rdmacm.examples.support.HostConverter;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code echo}: messages over {@code io.rdmacm.core.connection}. This class holds the options;
 * {@link EchoServer} and {@link EchoClient} are the two roles.
 */
@Command(name = "echo", header = "An echo server and its client.",
        description = "The server sends each message back. It serves any number of clients at once.",
        footer = {"%nFor example, a server, and a client that sends a thousand messages:",
            "  rdmacm echo -s -a 192.168.99.1", "  rdmacm echo -c -a 192.168.99.1 -C 1000"})
final class Echo extends ExampleProgram {
    private static final int MAX_SIZE = 1 << 20;

    @Option(names = "-s", description = "Run as the server.")
    private boolean server;

    @Option(names = "-c", description = "Run as the client.")
    private boolean client;

    @Option(names = "-a", paramLabel = "ADDR", required = true, converter = HostConverter.class,
            description = "Server: the address to listen on. Client: the server's address or name.")
    private InetAddress address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471",
            description = "The server's port (${DEFAULT-VALUE}); with 0, the server chooses a free one and prints it.")
    private int port;

    @Option(names = "-C", paramLabel = "COUNT",
            description = "Client: how many messages to send (10). Server: how many clients to serve;"
                    + " unlimited if not given.")
    private Integer count;

    @Option(names = "-S", paramLabel = "SIZE", defaultValue = "64",
            description = "The length of a message in bytes (${DEFAULT-VALUE}); on the server, the maximum length.")
    private int size;

    @Override
    protected void run() throws IOException, InterruptedException {
        require(server != client, "either -s or -c: be the server or the client");
        requirePort(port, client);
        require(size >= 1 && size <= MAX_SIZE, "Invalid size " + size + " (valid range is 1 to " + MAX_SIZE + ")");
        require(count == null || count >= 1, "Invalid count " + count);
        InetSocketAddress where = new InetSocketAddress(address, port);
        if (client) {
            new EchoClient(where, count == null ? 10 : count, size, this).run();
        } else {
            new EchoServer(where, count == null ? Integer.MAX_VALUE : count, Math.max(size, 4096), this).run();
        }
    }
}
