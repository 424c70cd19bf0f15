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
 * Echo over the connections of {@code io.rdmacm.core.connection}: the shortest way to messages over RDMA. This class
 * has the options; {@link EchoServer} and {@link EchoClient} are the two roles.
 */
@Command(name = "echo", sortOptions = false, header = "An echo server, and its client.",
        description = "The server sends back each message that comes, to any number of clients at once.",
        footer = {"%nFor example, a server, and a client that sends a thousand messages:",
            "  rdmacm echo -s -a 192.168.99.1", "  rdmacm echo -c -a 192.168.99.1 -C 1000"})
public final class Echo implements Callable<Integer> {
    private static final int MOST_SIZE = 1 << 20;

    @Option(names = "-s", description = "Be the server.")
    private boolean server;

    @Option(names = "-c", description = "Be the client.")
    private boolean client;

    @Option(names = "-a", paramLabel = "ADDR", required = true, converter = HostConverter.class,
            description = "The server: where to listen. The client: the server's address or name.")
    private InetAddress address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471",
            description = "The server's port (${DEFAULT-VALUE}); a server given 0 takes a free one and prints it.")
    private int port;

    @Option(names = "-C", paramLabel = "COUNT", defaultValue = "10",
            description = "How many messages the client sends (${DEFAULT-VALUE}); the server: how many clients it"
                    + " serves, without end if not given.")
    private int count;

    @Option(names = "-S", paramLabel = "SIZE", defaultValue = "64",
            description = "Bytes of a message (${DEFAULT-VALUE}); the server: of the longest one.")
    private int size;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Made by picocli. */
    public Echo() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.require(spec, server != client, "either -s or -c: be the server or the client");
        Usage.requirePort(spec, port);
        Usage.require(spec, server || port != 0, "a client needs the server's port: -p PORT");
        Usage.require(spec, size >= 1 && size <= MOST_SIZE,
                "Invalid size " + size + " (valid range is 1 to " + MOST_SIZE + ")");
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
