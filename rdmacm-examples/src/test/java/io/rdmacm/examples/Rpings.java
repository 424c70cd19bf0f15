// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import io.rdmacm.core.CmId;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.Requirements;

/** Starts rping: ours, and the one of rdma-core. */
final class Rpings {
    private static final int PAUSE = 20;

    private Rpings() {
    }

    /** Which rping. */
    enum Kind {
        /** Ours, in a thread. */
        JAVA,
        /** Ours, in a process. */
        JVM,
        /** That of rdma-core. */
        C;

        Program start(String... arguments) throws IOException {
            List<String> command = new ArrayList<>(List.of("rping"));
            command.addAll(List.of(arguments));
            String[] words = command.toArray(String[]::new);
            return switch (this) {
                case JAVA -> Program.inThread(words);
                case JVM -> Program.inJvm(words);
                case C -> {
                    Requirements.requireProgram("rping", "rdmacm-utils");
                    yield Program.process(words);
                }
            };
        }
    }

    /**
     * A server that listens.
     *
     * @param program the server
     * @param address where it is
     * @param port its port
     */
    record Server(Program program, InetAddress address, int port) implements AutoCloseable {
        Program client(Kind kind, String... options) throws IOException {
            List<String> arguments = new ArrayList<>(List.of("-c", "-a", address.getHostAddress(), "-p", "" + port));
            arguments.addAll(List.of(options));
            return kind.start(arguments.toArray(String[]::new));
        }

        @Override
        public void close() {
            program.close();
        }
    }

    /** A server at the device's IPv4 address. */
    static Server server(Kind kind, String... options) throws IOException, InterruptedException {
        return server(kind, RdmaTestDevice.get().ipv4(), options);
    }

    static Server server(Kind kind, InetAddress address, String... options) throws IOException, InterruptedException {
        // Ours takes a free port and tells it; the other must be given one.
        int port = kind == Kind.C ? freePort(address) : 0;
        List<String> arguments = new ArrayList<>(List.of("-s", "-a", address.getHostAddress(), "-p", "" + port));
        arguments.addAll(List.of(options));
        Program program = kind.start(arguments.toArray(String[]::new));
        if (kind == Kind.C) {
            awaitListening(program, port);
        } else {
            port = Integer.parseInt(program.awaitOutput("server listening on port (\\d+)").group(1));
        }
        return new Server(program, address, port);
    }

    /** A port that nobody listens on. */
    static int freePort(InetAddress address) throws IOException {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            id.bindAddress(new InetSocketAddress(address, 0));
            return id.localAddress().getPort();
        }
    }

    /** The text of a ping of some size, without the zero at its end. */
    static String ping(int number, int size) {
        StringBuilder text = new StringBuilder("rdma-ping-" + number + ": ");
        for (char letter = (char) ('A' + number % 58); text.length() < size - 1; letter++) {
            letter = letter > 'z' ? 'A' : letter;
            text.append(letter);
        }
        return text.toString();
    }

    /** The lines that -v prints. */
    static List<String> lines(String prefix, int count, int size) {
        return IntStream.range(0, count).mapToObj(ping -> prefix + ping(ping, size)).toList();
    }

    private static void awaitListening(Program program, int port) throws IOException, InterruptedException {
        Requirements.requireProgram("rdma", "iproute2");
        long end = System.nanoTime() + Program.LIMIT.toNanos();
        while (!listens(program.pid(), port)) {
            if (program.hasEnded() || System.nanoTime() > end) {
                throw new AssertionError("the C server does not listen");
            }
            Thread.sleep(PAUSE);
        }
    }

    private static boolean listens(long pid, int port) throws IOException {
        Process rdma = new ProcessBuilder("rdma", "resource", "show", "cm_id")
                .redirectError(ProcessBuilder.Redirect.DISCARD).start();
        try (var output = rdma.getInputStream()) {
            return new String(output.readAllBytes(), StandardCharsets.UTF_8).lines()
                    .anyMatch(line -> line.contains("state LISTEN") && line.contains(":" + port + " ")
                            && line.contains("pid " + pid + " "));
        }
    }
}
