// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.IOException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import io.rdmacm.examples.support.Console;
import io.rdmacm.examples.support.Usage;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The command {@code rstream}, as rstream(1): a client sends transfers of some size and the server sends as many back,
 * over RDMA or over TCP. {@link StreamExchange} is one connection.
 *
 * <p>Unlike in C, a transfer with wrong data ends the program. A server uses inline data of one size for all its tests.
 */
@Command(name = "rstream", sortOptions = false, header = "Measures streams of bytes over RDMA.",
        description = "The client sends transfers, and the server sends as many back: a series of sizes, first one"
                + " transfer at a time, then many. Both sides need the same -I, -C, -S and -T v.",
        footer = {"%nFor example, a server, and a client:",
            "  rdmacm rstream -T b", "  rdmacm rstream -s 192.168.99.1 -T b"})
public final class Rstream implements Callable<Integer> {
    @Mixin
    private StreamOptions options;

    @Option(names = "-k", paramLabel = "SECONDS", defaultValue = "0",
            description = "How often an idle connection is checked; 0, the default, for never.")
    private int keepAlive;

    @Option(names = "-T", paramLabel = "TEST", converter = TestOption.Converter.class,
            description = {"How to transfer data; may be given several times:",
                "s|sockets: over TCP", "a|async: wait before each call (as with poll)",
                "b|blocking: sleep while there is nothing to do",
                "f|fork: over TCP, a server serves each connection in a thread of its own, since a JVM cannot fork",
                "n|nonblocking: never sleep (the default)", "r|resolve: resolve addresses with librdmacm",
                "v|verify: check the data"})
    private List<TestOption> tests = List.of();

    @Option(names = {"-h", "--help"}, usageHelp = true, description = "Show this.")
    private boolean help;

    @Spec
    private CommandSpec spec;

    /** Created by picocli. */
    public Rstream() {
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        Set<TestOption> wanted = EnumSet.noneOf(TestOption.class);
        wanted.addAll(tests);
        Usage.require(spec, keepAlive >= 0, "Invalid keep-alive time " + keepAlive);
        options.check(wanted.contains(TestOption.RESOLVE));
        Console console = new Console(spec.commandLine().getOut(), spec.commandLine().getErr(), false);
        boolean forks = wanted.contains(TestOption.FORK);
        try (StreamConnector connector = connector(forks || wanted.contains(TestOption.SOCKETS))) {
            StreamExchange exchange = new StreamExchange(!options.isServer(), options.longest(),
                    wanted.contains(TestOption.VERIFY), console);
            console.print(StreamTest.HEADER);
            for (StreamOptions.Part part : options.parts()) {
                reportKeepAlive(console);
                try (StreamEnd end = connector.next(part.inlineSize())) {
                    if (options.isServer()) {
                        reportKeepAlive(console);
                    }
                    if (forks && options.isServer()) {
                        inThread(() -> exchange.run(end, part.tests()));
                    } else {
                        exchange.run(end, part.tests());
                    }
                }
            }
        }
        return 0;
    }

    private StreamConnector connector(boolean sockets) throws IOException {
        TransferMode mode = TransferMode.of(tests);
        return sockets ? new SocketConnector(options, mode, keepAlive)
                : new RdmaConnector(options, options.settings(mode).keepAlive(Duration.ofSeconds(keepAlive)).build(),
                        mode);
    }

    /** Prints what C prints whenever it sets the options of a socket: those of a listener too. */
    private void reportKeepAlive(Console console) {
        if (keepAlive > 0) {
            console.print("Keepalive: ON");
            console.print("  time: " + keepAlive);
        }
    }

    /** What a thread does. */
    @FunctionalInterface
    private interface Body {
        void run() throws IOException, InterruptedException;
    }

    private static void inThread(Body body) throws IOException, InterruptedException {
        FutureTask<Void> task = new FutureTask<>(() -> {
            body.run();
            return null;
        });
        Thread thread = Thread.ofPlatform().daemon().name("rstream-connection").start(task);
        try {
            task.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof IOException cause ? cause : new IOException(e.getCause());
        } finally {
            thread.interrupt();
            thread.join();
        }
    }
}
