// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.stream;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.rdmacm.bench.device.machine.Port;
import io.rdmacm.bench.device.machine.Programs;
import io.rdmacm.bench.device.measure.Outcome;
import io.rdmacm.bench.report.Summary;

/** The C side of streams: {@code rstream -T b} of librdmacm, as a server and a client. */
public final class Rstream {
    /** The size of the buffers of a stream: its default. */
    static final int BUFFER = 1 << 19;

    // what rsocket.c of librdmacm begins with, and the file that can change it: rsocket(7)
    private static final Duration POLLING = Duration.of(10, ChronoUnit.MICROS);
    private static final Path POLLING_TIME = Path.of("/etc/rdma/rsocket/polling_time");
    private static final double MICROS_PER_SECOND = 1e6;

    private Rstream() {
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

    /** {@return the mean of round trips, or the throughput of transfers} */
    public static Outcome run(Port port, Programs programs, boolean roundTrips, int size, int count)
            throws IOException, InterruptedException {
        List<String> options = options(Programs.anyPort(), roundTrips, size, count);
        String address = port.address().getHostAddress();
        double micros = programs.besideServer(Map.of(), with(options, "-b", address), with(options, "-s", address),
                Rstream::microsPerTransfer);
        // A round trip is two transfers.
        return roundTrips ? Outcome.none().and(Summary.TIME, Outcome.MICROS, 2 * micros)
                : Outcome.throughput(MICROS_PER_SECOND / micros, size);
    }

    private static List<String> with(List<String> options, String... more) {
        List<String> command = new ArrayList<>(options);
        command.addAll(List.of(more));
        return command;
    }

    /** {@return the program with its options, the same for both sides} */
    static List<String> options(String service, boolean roundTrips, int size, int count) {
        return List.of("rstream", "-T", "b", "-p", service, "-S", Integer.toString(size), "-B",
                Integer.toString(BUFFER), "-C", Integer.toString(roundTrips ? 1 : count), "-I",
                Integer.toString(roundTrips ? count : 1));
    }

    /** Reads what it prints about one test: all its time, and what it was for each transfer. */
    static double microsPerTransfer(String output) throws IOException {
        String row = output.lines().filter(line -> line.startsWith("custom ")).findFirst()
                .orElseThrow(() -> new IOException("rstream printed " + output));
        String[] words = row.strip().split(" +");
        return Double.parseDouble(words[words.length - 1]);
    }
}
