// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.rdmacm.bench.device.machine.Commands;
import io.rdmacm.bench.device.machine.Cpus;
import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.core.CmId;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;

/** The C side of streams: {@code rstream -T b} of librdmacm, as a server and a client. */
public final class Rstream {
    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final Duration START = Duration.ofSeconds(60);
    // what rsocket.c of librdmacm begins with, and the file that can change it: rsocket(7)
    private static final Duration POLLING = Duration.of(10, ChronoUnit.MICROS);
    private static final Path POLLING_TIME = Path.of("/etc/rdma/rsocket/polling_time");
    private static final int TRIES = 50;
    private static final int PAUSE_MILLIS = 20;
    private static final double MICROS_PER_SECOND = 1e6;

    private final Port port;
    private final Cpus cpus;

    /** Prepares measurements over a port. */
    public Rstream(Port port, Cpus cpus) {
        this.port = port;
        this.cpus = cpus;
    }

    /**
     * Measures once.
     *
     * @param trial the round trip, or the transfers
     * @return the mean time of a round trip in microseconds, or the transfers in a second
     */
    public double run(StreamTrial trial) throws IOException, InterruptedException {
        int service = freePort();
        List<String> options = options(trial, service);
        Path output = Files.createTempFile("rdmacm-bench", ".server");
        Process server = Commands.start(Map.of(), output, command(cpus.server(), options, "-b"));
        try {
            double micros = RstreamOutput.microsPerTransfer(client(server, command(cpus.client(), options, "-s")));
            server.waitFor(START.toSeconds(), TimeUnit.SECONDS);
            // A round trip is two transfers.
            return trial.isLatency() ? 2 * micros : MICROS_PER_SECOND / micros;
        } finally {
            server.destroyForcibly().waitFor();
            Files.delete(output);
        }
    }

    /** Runs the client; the server may not listen yet. */
    private static String client(Process server, List<String> command) throws IOException, InterruptedException {
        IOException failure = null;
        for (int i = 0; i < TRIES && server.isAlive(); i++) {
            try {
                return Commands.run(LIMIT, Map.of(), command);
            } catch (IOException e) {
                failure = e;
                Thread.sleep(PAUSE_MILLIS);
            }
        }
        throw failure == null ? new IOException("the server of rstream ended") : failure;
    }

    private int freePort() throws IOException {
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            id.bindAddress(new InetSocketAddress(port.requireAddress(), 0));
            return id.localAddress().getPort();
        }
    }

    private List<String> command(List<String> prefix, List<String> options, String role) throws IOException {
        List<String> command = new ArrayList<>(prefix);
        command.addAll(options);
        command.addAll(List.of(role, port.requireAddress().getHostAddress()));
        return command;
    }

    /** {@return how long rsockets poll before they sleep} */
    public static Duration polling() {
        try {
            return Files.isReadable(POLLING_TIME)
                    ? Duration.of(Long.parseLong(Files.readString(POLLING_TIME).strip()), ChronoUnit.MICROS) : POLLING;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** {@return the program with its options, the same for both sides} */
    public static List<String> options(StreamTrial trial, int service) {
        return List.of("rstream", "-T", "b", "-p", Integer.toString(service), "-S", Integer.toString(trial.size()),
                "-B", Integer.toString(StreamTrial.BUFFER), "-C", Integer.toString(trial.count()), "-I",
                Integer.toString(trial.iterations()));
    }
}
