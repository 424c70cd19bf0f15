// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;
import java.util.List;

import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.examples.support.ProgramThread;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * The command {@code rstream}, as rstream(1): a client sends transfers of some size and the server sends as many back,
 * over RDMA or over TCP. {@link StreamEnd} is one end of a connection.
 *
 * <p>Unlike in C, a transfer with wrong data ends the program. A server uses inline data of one size for all its tests.
 */
@Command(name = "rstream", header = "Measures streams of bytes over RDMA.",
        description = "The client sends transfers, and the server sends as many back: a series of sizes, first one"
                + " transfer at a time, then many. Both sides need the same -I, -C, -S and -T v.",
        footer = {"%nFor example, a server, and a client:",
            "  rdmacm rstream -T b", "  rdmacm rstream -s 192.168.99.1 -T b"})
final class Rstream extends StreamProgram {
    // what each side sends before a test begins
    private static final int SYNC = 16;

    @Option(names = "-k", paramLabel = "SECONDS", defaultValue = "0",
            description = "How often an idle connection is checked; 0, the default, for never.")
    private int keepAlive;

    private ByteBuffer buffer;
    // null if the data do not matter
    private CountingData data;

    @Override
    protected void run() throws IOException, InterruptedException {
        require(keepAlive >= 0, "Invalid keep-alive time " + keepAlive);
        checkOptions();
        boolean forks = wants(TestOption.FORK);
        StreamSettings settings = settings().keepAlive(Duration.ofSeconds(keepAlive)).build();
        boolean sockets = forks || wants(TestOption.SOCKETS);
        try (RdmaStreamServer listener = sockets ? null : listen(settings);
                ServerSocketChannel socket = sockets && isServer() ? ServerSocketChannel.open() : null) {
            if (socket != null) {
                SocketEnd.listen(socket, this);
            }
            buffer = ByteBuffer.allocateDirect(Math.max(longest(), SYNC));
            data = wants(TestOption.VERIFY) ? new CountingData() : null;
            print(StreamTest.HEADER);
            for (Part part : parts()) {
                reportKeepAlive();
                try (StreamEnd end = sockets ? SocketEnd.next(socket, this, keepAlive)
                        : new RdmaEnd(stream(listener, settings, part.inlineSize()), this)) {
                    if (isServer()) {
                        reportKeepAlive();
                    }
                    if (forks && isServer()) {
                        try (ProgramThread thread = new ProgramThread("rstream-connection",
                                () -> exchange(end, part.tests()))) {
                            thread.await(FOREVER);
                        }
                    } else {
                        exchange(end, part.tests());
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

    /** Runs tests, and prints their results. */
    private void exchange(StreamEnd end, List<StreamTest> tests) throws IOException, InterruptedException {
        boolean client = !isServer();
        for (StreamTest test : tests) {
            transfer(end, client, SYNC, 1);
            transfer(end, !client, SYNC, 1);
            long start = System.nanoTime();
            for (int i = 0; i < test.iterations(); i++) {
                transfer(end, client, test.size(), test.count());
                transfer(end, !client, test.size(), test.count());
            }
            print(test.report(System.nanoTime() - start));
        }
        if (!client) {
            end.awaitPeer();
        }
    }

    private void transfer(StreamEnd end, boolean send, int size, int count) throws IOException, InterruptedException {
        for (int i = 0; i < count; i++) {
            buffer.clear().limit(size);
            if (send) {
                if (data != null) {
                    data.fill(buffer);
                }
                end.send(buffer);
            } else {
                end.receive(buffer);
                if (data != null) {
                    data.verify(buffer.flip());
                }
            }
        }
    }
}
