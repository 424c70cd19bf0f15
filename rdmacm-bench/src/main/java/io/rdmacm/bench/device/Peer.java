// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.stream.Collectors;

import org.HdrHistogram.Histogram;

/**
 * One of the two processes of the Java side. It reads commands from standard input and answers each with one line:
 * <pre>
 * open client|server WARMUP MEASUREMENT   address ADDRESS
 * connect ADDRESS                         ready
 * run                                     latencies HISTOGRAM, throughput MESSAGES-PER-SECOND or done
 * close                                   closed
 * listen ADDRESS                          port PORT
 * establish ADDRESS PORT COUNT            stages NAME=MICROSECONDS, ...
 * </pre>
 * A failure is answered with {@code failed} and its message. The process ends with its input.
 */
final class Peer {
    private final PrintStream out;
    private End end;
    private boolean client;
    private int warmUp;

    private Peer(PrintStream out) {
        this.out = out;
    }

    /** Reads commands until the input ends. */
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Peer peer = new Peer(System.out);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            peer.out.println(peer.answer(line));
            peer.out.flush();
        }
        peer.close();
    }

    private String answer(String line) {
        try {
            return execute(line.split(" ", 2));
        } catch (Exception e) {
            // the controlling process gets the message; the stack trace goes to standard error
            e.printStackTrace();
            return "failed " + e;
        }
    }

    private String execute(String[] command) throws Exception {
        switch (command[0]) {
            case "open":
                close();
                String[] words = command[1].split(" ", 3);
                client = words[0].equals("client");
                warmUp = Integer.parseInt(words[1]);
                Measurement measurement = Measurement.parse(words[2]);
                end = new End(measurement, warmUp + measurement.iterations());
                return "address " + end.address().encode();
            case "connect":
                end.connect(PeerAddress.parse(command[1]));
                return "ready";
            case "run":
                return run();
            case "close":
                close();
                return "closed";
            case "listen":
                return "port " + ConnectionServer.start(InetAddress.getByName(command[1]));
            case "establish":
                return establish(command[1].split(" "));
            default:
                throw new IllegalArgumentException(String.join(" ", command));
        }
    }

    private static String establish(String[] words) throws IOException, InterruptedException {
        InetSocketAddress server = new InetSocketAddress(words[0], Integer.parseInt(words[1]));
        return "stages " + ConnectionClient.run(server, Integer.parseInt(words[2])).entrySet().stream()
                .map(stage -> stage.getKey() + "=" + stage.getValue()).collect(Collectors.joining(", "));
    }

    private String run() throws IOException, InterruptedException {
        Measurement measurement = end.measurement();
        int count = measurement.iterations();
        if (measurement.figure() == Measurement.Figure.LATENCY) {
            long[] times = new LatencyLoop(end, client).run(warmUp + count);
            return times == null ? "done" : latencies(times, measurement);
        }
        BandwidthLoop loop = new BandwidthLoop(end);
        if (client) {
            if (warmUp > 0) {
                loop.send(warmUp);
            }
            return "throughput " + count * 1e9 / loop.send(count);
        }
        if (measurement.operation() == Operation.SEND) {
            loop.receive(warmUp + count);
        }
        return "done";
    }

    private String latencies(long[] times, Measurement measurement) {
        int parts = measurement.operation().isAnswered() ? 2 : 1;
        Histogram histogram = Outcome.Latencies.between(times, warmUp, parts).nanos();
        ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
        int length = histogram.encodeIntoCompressedByteBuffer(buffer);
        return "latencies " + Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), length));
    }

    private void close() throws IOException {
        if (end != null) {
            end.close();
            end = null;
        }
    }
}
