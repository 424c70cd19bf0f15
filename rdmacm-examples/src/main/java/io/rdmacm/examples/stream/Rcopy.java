// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;

import io.rdmacm.examples.support.PeerProgram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The command {@code rcopy}, as rcopy(1): copies a file to a server. This class holds the options; {@link RcopyServer}
 * and {@link RcopyClient} are the two roles, {@link CopyMessage} is what they say.
 */
@Command(name = "rcopy", header = "Copies a file over RDMA.",
        description = "Without a source, a server, which writes the files that clients send to wherever they say, as"
                + " the user who runs it: do not run it where others can reach it.%nWith a source, a client that sends"
                + " this file.",
        footer = {"%nFor example, a server, and a client:",
            "  rdmacm rcopy", "  rdmacm rcopy data.bin 192.168.99.1:/tmp/data.bin"})
final class Rcopy extends PeerProgram {
    @Parameters(index = "0", arity = "0..1", paramLabel = "SOURCE", description = "The file to copy.")
    private Path source;

    @Parameters(index = "1", arity = "0..1", paramLabel = "SERVER[:DESTINATION]",
            description = "The server, and the name of the file there: the same as here if it is not given. An IPv6"
                    + " address stands in brackets.")
    private String target;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7427", description = "The port (${DEFAULT-VALUE}).")
    private int port;

    @Override
    protected void run() throws IOException, InterruptedException {
        requirePort(port, source != null);
        if (source == null) {
            new RcopyServer(new InetSocketAddress(port), this).run();
            return;
        }
        require(target != null, "the server is missing: SERVER[:DESTINATION]");
        int colon = target.indexOf(':', Math.max(0, target.startsWith("[") ? target.indexOf(']') : 0));
        String host = colon < 0 ? target : target.substring(0, colon);
        String destination = colon < 0 ? source.toString() : target.substring(colon + 1);
        require(!destination.isEmpty(), "the name of the destination is empty");
        InetSocketAddress server = new InetSocketAddress(host, port);
        require(!server.isUnresolved(), "there is no host or IP address '" + host + "'");
        new RcopyClient(server, this).run(source, destination);
    }
}
