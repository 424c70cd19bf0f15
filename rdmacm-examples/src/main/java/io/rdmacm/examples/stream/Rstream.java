// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.IOException;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.stream.StreamSettings;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code rstream}, as rstream(1): a client sends transfers of some size and the server sends as many back,
 * over RDMA or over TCP. {@link StreamExchange} is one connection.
 *
 * <p>Unlike in C, a transfer with wrong data ends the program. A server uses inline data of one size for all its tests.
 */
@Command(name = "rstream", header = "Measures streams of bytes over RDMA.",
        description = "The client sends transfers, and the server sends as many back: a series of sizes, first one"
                + " transfer at a time, then many. Both sides need the same -I, -C, -S and -T v.",
        footer = {"%nFor example, a server, and a client:",
            "  rdmacm rstream -T b", "  rdmacm rstream -s 192.168.99.1 -T b"})
final class Rstream extends StreamProgram {
    @Option(names = "-k", paramLabel = "SECONDS", defaultValue = "0",
            description = "How often an idle connection is checked; 0, the default, for never.")
    private int keepAlive;

    @Override
    protected void run() throws IOException, InterruptedException {
        require(keepAlive >= 0, "Invalid keep-alive time " + keepAlive);
        checkOptions();
        boolean forks = wants(TestOption.FORK);
        StreamSettings settings = settings().keepAlive(Duration.ofSeconds(keepAlive)).build();
        boolean sockets = forks || wants(TestOption.SOCKETS);
        try (RdmaStreamServer listener = sockets ? null : listen(settings);
                ServerSocketChannel socket = sockets && isServer() ? SocketEnd.listen(this) : null) {
            StreamExchange exchange = new StreamExchange(this);
            print(StreamTest.HEADER);
            for (Part part : parts()) {
                reportKeepAlive();
                try (StreamEnd end = sockets ? SocketEnd.next(socket, this, keepAlive)
                        : new RdmaEnd(stream(listener, settings, part.inlineSize()), this)) {
                    if (isServer()) {
                        reportKeepAlive();
                    }
                    if (forks && isServer()) {
                        inThread(() -> exchange.run(end, part.tests()));
                    } else {
                        exchange.run(end, part.tests());
                    }
                }
            }
        }
    }

    /** Prints what C prints whenever it sets the options of a socket: those of a listener too. */
    private void reportKeepAlive() {
        if (keepAlive > 0) {
            print("Keepalive: ON");
            print("  time: " + keepAlive);
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
