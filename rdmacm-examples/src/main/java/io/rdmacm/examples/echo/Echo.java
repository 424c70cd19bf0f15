// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.echo;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;

import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.HostConverter;
import io.rdmacm.examples.support.Usage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command {@code echo}: messages over {@code io.rdmacm.core.connection}. This class holds the options;
 * {@link EchoServer} and {@link EchoClient} are the two roles.
 */
@Command(name = "echo", sortOptions = false, header = "An echo server and its client.",
        description = "The server sends each message back. It serves any number of clients at once.",
        footer = {"%nFor example, a server, and a client that sends a thousand messages:",
            "  rdmacm echo -s -a 192.168.99.1", "  rdmacm echo -c -a 192.168.99.1 -C 1000"})
public final class Echo implements Callable<Integer> {
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

    @Option(names = "-C", paramLabel = "COUNT", defaultValue = "10",
            description = "Client: how many messages to send (${DEFAULT-VALUE}). Server: how many clients to serve;"
                    + " unlimited if not given.")
    private int count;

    @Option(names = "-S", paramLabel = "SIZE", defaultValue = "64",
            description = "The length of a message in bytes (${DEFAULT-VALUE}); on the server, the maximum length.")
    private int size;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    public Echo() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.require(spec, server != client, "either -s or -c: be the server or the client");
        Usage.requirePort(spec, port);
        Usage.require(spec, server || port != 0, "a client needs the server's port: -p PORT");
        Usage.require(spec, size >= 1 && size <= MAX_SIZE,
                "Invalid size " + size + " (valid range is 1 to " + MAX_SIZE + ")");
        Usage.require(spec, count >= 1, "Invalid count " + count);
        InetSocketAddress where = new InetSocketAddress(address, port);
        Console console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        if (client) {
            new EchoClient(where, count, size, console).run();
        } else {
            boolean limited = spec.commandLine().getParseResult().hasMatchedOption("-C");
            new EchoServer(where, limited ? count : Integer.MAX_VALUE, Math.max(size, 4096), console).run();
        }
        return 0;
    }
}
