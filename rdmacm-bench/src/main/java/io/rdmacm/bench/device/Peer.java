// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;

import io.rdmacm.bench.device.measure.Measurement;
import io.rdmacm.bench.device.measure.PeerTask;
import io.rdmacm.bench.device.measure.Trial;
import io.rdmacm.bench.device.stream.StreamTask;
import io.rdmacm.bench.device.stream.StreamTrial;

/**
 * One of the two processes of the Java side. It reads commands from standard input and answers each with one line:
 * <pre>
 * open verbs|connection|tcp|jucx|stream|many client|server WARMUP MEASUREMENT   address ADDRESS
 * connect ADDRESS                 ready
 * run                             latencies HISTOGRAM, throughput MESSAGES-PER-SECOND or done;
 *                                 of many: took SET-UP EXCHANGE in seconds, or used USAGE
 * allocated                       allocated BYTES-PER-OPERATION
 * close                           closed
 * listen ADDRESS                  port PORT
 * establish ADDRESS PORT COUNT    stages NAME=MICROSECONDS, ...
 * accept own|loop ADDRESS         port PORT
 * connectall own|loop ADDRESS PORT COUNT   took MICROSECONDS
 * </pre>
 * A failure is answered with {@code failed} and its message. The process ends with its input.
 */
final class Peer {
    private final PrintStream out;
    private final Map<String, ConnectionSetUp> setUps = new HashMap<>();
    private PeerTask task;

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
            // The controlling process gets the message; the log has the stack trace.
            System.getLogger(Peer.class.getName()).log(System.Logger.Level.ERROR, line, e);
            return "failed " + e;
        }
    }

    private String execute(String[] command) throws Exception {
        switch (command[0]) {
            case "open":
                close();
                task = open(command[1].split(" ", 4));
                return "address " + task.address();
            case "connect":
                task.connect(command[1]);
                return "ready";
            case "run":
                return task.run();
            case "allocated":
                return "allocated " + task.allocated();
            case "close":
                close();
                return "closed";
            case "listen":
                return "port " + ConnectionServer.start(InetAddress.getByName(command[1]));
            case "establish":
                return establish(command[1].split(" "));
            case "accept":
                return accept(command[1].split(" "));
            case "connectall":
                return connectAll(command[1].split(" "));
            default:
                throw new IllegalArgumentException(String.join(" ", command));
        }
    }

    private static String establish(String[] words) throws IOException, InterruptedException {
        InetSocketAddress server = new InetSocketAddress(words[0], Integer.parseInt(words[1]));
        return "stages " + ConnectionClient.run(server, Integer.parseInt(words[2])).entrySet().stream()
                .map(stage -> stage.getKey() + "=" + stage.getValue()).collect(Collectors.joining(", "));
    }

    private static PeerTask open(String[] words) throws Exception {
        boolean client = words[1].equals("client");
        int warmUp = Integer.parseInt(words[2]);
        return switch (words[0]) {
            case "verbs" -> new VerbsTask(Measurement.parse(words[3]), client, warmUp);
            case "connection" -> ConnectionTask.open(Trial.parse(words[3]), client, warmUp);
            case "tcp", "jucx" -> new MessageTask(Trial.parse(words[3]), client, warmUp);
            case "stream" -> new StreamTask(StreamTrial.parse(words[3]), client, warmUp);
            case "many" -> ManyConnectionsTask.open(words[3], client);
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    private String accept(String[] words) throws IOException {
        return "port " + setUp(words[0]).accept(InetAddress.getByName(words[1]));
    }

    private String connectAll(String[] words) throws IOException, InterruptedException {
        return "took " + setUp(words[0]).connect(new InetSocketAddress(words[1], Integer.parseInt(words[2])),
                Integer.parseInt(words[3]));
    }

    private ConnectionSetUp setUp(String kind) throws IOException {
        ConnectionSetUp setUp = setUps.get(kind);
        if (setUp == null) {
            setUp = new ConnectionSetUp(ConnectionSetUp.Receives.of(kind));
            setUps.put(kind, setUp);
        }
        return setUp;
    }

    private void close() throws IOException {
        if (task != null) {
            task.close();
            task = null;
        }
    }
}
