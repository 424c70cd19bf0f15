// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.testing;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

import io.rdmacm.core.CmId;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.testing.Requirements;

/** Finds free ports, and waits for servers to listen. */
public final class Ports {
    private static final int PAUSE = 20;
    private static final String LISTENS = "0A";
    private static final Pattern THREAD = Pattern.compile(" pid (\\d+) ");

    private Ports() {
    }

    /** Returns a port that nobody listens on. */
    public static int free(InetAddress address, PortSpace portSpace) throws IOException {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, portSpace)) {
            id.bindAddress(new InetSocketAddress(address, 0));
            return id.localAddress().getPort();
        }
    }

    /** Waits until a server that does not print so is listening, by asking the kernel. */
    public static void awaitListening(Program server, int port) throws IOException, InterruptedException {
        Requirements.requireProgram("rdma", "iproute2");
        await(server, () -> listens(server.pid(), port));
    }

    /** Says whether a server listens. */
    @FunctionalInterface
    private interface Listens {
        boolean now() throws IOException;
    }

    private static void await(Program server, Listens listens) throws IOException, InterruptedException {
        long end = System.nanoTime() + Program.LIMIT.toNanos();
        while (!listens.now()) {
            if (server.hasEnded() || System.nanoTime() > end) {
                throw new AssertionError("the server does not listen: " + server.output());
            }
            Thread.sleep(PAUSE);
        }
    }

    private static boolean listens(long pid, int port) throws IOException {
        Process rdma = new ProcessBuilder("rdma", "resource", "show", "cm_id")
                .redirectError(ProcessBuilder.Redirect.DISCARD).start();
        try (var output = rdma.getInputStream()) {
            return new String(output.readAllBytes(), StandardCharsets.UTF_8).lines()
                    .filter(line -> line.contains("state LISTEN") && line.contains(":" + port + " "))
                    .map(THREAD::matcher)
                    .anyMatch(thread -> thread.find() && isThreadOf(pid, thread.group(1)));
        }
    }

    // The kernel reports the thread that created the listener, not the process.
    private static boolean isThreadOf(long pid, String thread) {
        return Files.exists(Path.of("/proc/" + pid + "/task/" + thread));
    }

    /** Returns a TCP port that nobody listens on. */
    public static int freeTcp() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    /**
     * Waits until a server listens on a TCP port. Some C programs accept a single connection, so connecting to find out
     * would use that up.
     */
    public static void awaitTcp(Program server, int port) throws IOException, InterruptedException {
        await(server, () -> listens("/proc/net/tcp", port) || listens("/proc/net/tcp6", port));
    }

    private static boolean listens(String table, int port) throws IOException {
        String end = String.format(":%04X", port);
        return Files.exists(Path.of(table)) && Files.readString(Path.of(table)).lines()
                .map(line -> line.strip().split("\\s+"))
                .anyMatch(words -> words[1].endsWith(end) && words[3].equals(LISTENS));
    }
}
