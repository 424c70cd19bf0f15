// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.concurrent.Callable;

import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.PeerTimeout;
import io.rdmacm.examples.support.Usage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * The command {@code rcopy}, as rcopy(1): copies a file to a server. This class holds the options; {@link RcopyServer}
 * and {@link RcopyClient} are the two roles, {@link CopyMessage} is what they say.
 */
@Command(name = "rcopy", sortOptions = false, header = "Copies a file over RDMA.",
        description = "Without a source, a server, which writes the files that clients send to wherever they say, as"
                + " the user who runs it: do not run it where others can reach it.%nWith a source, a client that sends"
                + " this file.",
        footer = {"%nFor example, a server, and a client:",
            "  rdmacm rcopy", "  rdmacm rcopy data.bin 192.168.99.1:/tmp/data.bin"})
public final class Rcopy implements Callable<Integer> {
    @Parameters(index = "0", arity = "0..1", paramLabel = "SOURCE", description = "The file to copy.")
    private Path source;

    @Parameters(index = "1", arity = "0..1", paramLabel = "SERVER[:DESTINATION]",
            description = "The server, and the name of the file there: the same as here if it is not given. An IPv6"
                    + " address stands in brackets.")
    private String target;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7427", description = "The port (${DEFAULT-VALUE}).")
    private int port;

    @Mixin
    private PeerTimeout timeout;

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    public Rcopy() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Usage.requirePort(spec, port);
        Console console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        if (source == null) {
            new RcopyServer(new InetSocketAddress(port), timeout.duration(), console).run();
            return 0;
        }
        Usage.require(spec, target != null, "the server is missing: SERVER[:DESTINATION]");
        Usage.require(spec, port != 0, "a client needs the server's port: -p PORT");
        int colon = target.indexOf(':', Math.max(0, target.startsWith("[") ? target.indexOf(']') : 0));
        String host = colon < 0 ? target : target.substring(0, colon);
        String destination = colon < 0 ? source.toString() : target.substring(colon + 1);
        Usage.require(spec, !destination.isEmpty(), "the name of the destination is empty");
        new RcopyClient(new InetSocketAddress(find(host), port), timeout.duration(), console).run(source, destination);
        return 0;
    }

    private InetAddress find(String host) {
        try {
            return InetAddress.getByName(host);
        } catch (UnknownHostException e) {
            Usage.require(spec, false, "there is no host or IP address '" + host + "'");
            throw new IllegalStateException(e);
        }
    }
}
