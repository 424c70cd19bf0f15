// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;

import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.Usage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command {@code riostream}, as riostream(1): both sides map memory for the other one, which writes to it directly.
 * {@link MappedExchange} is one connection.
 *
 * <p>Unlike in C, a transfer with wrong data ends the program, and -b works for clients too. A server uses inline data
 * of one size for all its tests.
 */
@Command(name = "riostream", sortOptions = false, header = "Measures direct writes to mapped memory of streams.",
        description = "Like rstream, but the transfers are written to memory that the peer has mapped; each side looks"
                + " at its memory until the last byte has changed. Both sides need the same -I, -C, -S and -T v.",
        footer = {"%nFor example, a server, and a client:",
            "  rdmacm riostream -T b", "  rdmacm riostream -s 192.168.99.1 -T b"})
public final class Riostream implements Callable<Integer> {
    @Mixin
    private StreamOptions options;

    @Option(names = "-T", paramLabel = "TEST", converter = TestOption.Converter.class,
            description = {"How to transfer data; may be given several times:",
                "a|async: wait before each call (as with poll)", "b|blocking: sleep while there is no room",
                "n|nonblocking: never sleep (the default)", "v|verify: check the data"})
    private List<TestOption> tests = List.of();

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    public Riostream() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        for (TestOption refused : List.of(TestOption.SOCKETS, TestOption.FORK, TestOption.RESOLVE)) {
            Usage.require(spec, !tests.contains(refused), "riostream has no test option " + refused);
        }
        options.check(false);
        Console console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        TransferMode mode = TransferMode.of(tests);
        try (RdmaConnector connector = new RdmaConnector(options, options.settings(mode).mapSlots(1).build(), mode)) {
            MappedExchange exchange = new MappedExchange(!options.isServer(), mode, options.timeout(),
                    tests.contains(TestOption.VERIFY), console);
            console.print(StreamTest.HEADER);
            for (StreamOptions.Part part : options.parts()) {
                try (RdmaStream stream = connector.stream(part.inlineSize())) {
                    exchange.run(stream, part.tests());
                }
            }
        }
        return 0;
    }
}
