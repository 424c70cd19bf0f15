// SPDX-License-Identifier: Apache-2.0

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;

/**
 * Two programs that know nothing of RDMA: {@code serve ADDRESS} prints its port and serves until its standard input
 * ends, {@code ask ADDRESS PORT SECONDS} sends data there and compares what comes back, once and then for so long, and
 * measures it; {@code each ADDRESS PORT} sends it once for each line of its standard input, and at its end waits until
 * nothing of that is missing anywhere. Afterwards they print what the agent, if there is one, tells of their
 * connections.
 */
interface Program {
    byte[] DATA = data(300_000);
    byte[] LITTLE = data(100);
    /** No client takes that long, even on a slow machine. */
    Duration LIMIT = Duration.ofMinutes(20);

    /** Starts to serve, and returns the port. */
    int serve(String address) throws Exception;

    /** Makes a client of a server. */
    Client client(String address, int port) throws Exception;

    /** How many times {@link #DATA} is exchanged at once. */
    default int times() {
        return 20;
    }

    /** Who asks a server. */
    @FunctionalInterface
    interface Client extends AutoCloseable {
        /** Has data carried there and back so many times, and fails if something else comes back. */
        void exchange(byte[] data, int times) throws Exception;

        /** Waits until all servers have what was exchanged, and fails if any of it is lost. */
        default void complete() throws Exception {
        }

        @Override
        default void close() throws Exception {
        }
    }

    /** Runs one of the two. */
    static void run(Program program, String... arguments) throws Exception {
        if (arguments[0].equals("serve")) {
            System.out.println("port " + program.serve(arguments[1]));
            System.in.transferTo(OutputStream.nullOutputStream());
        } else if (arguments[0].equals("each")) {
            endInTime();
            try (Client client = program.client(arguments[1], Integer.parseInt(arguments[2]))) {
                BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
                while (input.readLine() != null) {
                    client.exchange(DATA, program.times());
                    System.out.println("asked");
                }
                client.complete();
                System.out.println("complete");
            }
        } else {
            endInTime();
            try (Client client = program.client(arguments[1], Integer.parseInt(arguments[2]))) {
                client.exchange(DATA, program.times());
                System.out.println("asked");
                measure(client, program.times(), Duration.ofSeconds(Integer.parseInt(arguments[3])));
            }
        }
        MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName("io.rdmacm.sockets:type=Connections");
        if (!arguments[0].equals("serve")
                && ManagementFactory.getRuntimeMXBean().getInputArguments().toString().contains("-javaagent:")) {
            // It comes some time after the first connection.
            eventually(() -> beans.getMBeanInfo(name));
        }
        if (beans.isRegistered(name)) {
            for (Object count : ((TabularData) beans.getAttribute(name, "Counts")).values()) {
                System.out.println(((CompositeData) count).get("value") + " " + ((CompositeData) count).get("key"));
            }
        }
        // Some leave threads behind.
        System.exit(0);
    }

    /** Ends this client if it hangs, with the stacks of its threads. */
    private static void endInTime() {
        Thread.ofPlatform().daemon().start(() -> {
            try {
                Thread.sleep(LIMIT);
            } catch (InterruptedException e) {
                return;
            }
            Thread.getAllStackTraces().forEach((thread, stack) -> System.err.println(
                    thread + Arrays.stream(stack).map(call -> "\n\tat " + call).collect(Collectors.joining())));
            Runtime.getRuntime().halt(1);
        });
    }

    private static void measure(Client client, int times, Duration time) throws Exception {
        if (time.isPositive()) {
            // The first of each warms up.
            new Measurement(client, DATA, times, time);
            Measurement much = new Measurement(client, DATA, times, time);
            new Measurement(client, LITTLE, 1, time);
            Measurement little = new Measurement(client, LITTLE, 1, time);
            System.out.printf("measured: %.1f MB/s, %.1f ms of CPU/MB; %d bytes: p50 %.0f us, p99 %.0f us, "
                    + "%.0f us of CPU%n", much.megabytesPerSecond(), much.cpuPerMegabyte() * 1e3, LITTLE.length,
                    little.percentile(50), little.percentile(99), little.cpu() * 1e6);
        }
    }

    /** Data of which no part is like another. */
    static byte[] data(int size) {
        byte[] data = new byte[size];
        for (int i = 0; i < size; i++) {
            data[i] = (byte) (i * 7 + (i >> 9));
        }
        return data;
    }

    /** Fails if an answer is not what was sent. */
    static void check(byte[] data, byte[] answer) {
        if (!Arrays.equals(data, answer)) {
            throw new IllegalStateException("wrong answer of " + (answer == null ? -1 : answer.length) + " bytes");
        }
    }

    /** Makes a client of an HTTP server that echoes, with the newer client of the JDK, after a word by the older. */
    static Client http(String address, int port) throws Exception {
        URI uri = URI.create("http://" + address + ":" + port + "/");
        HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
        connection.setDoOutput(true);
        connection.setFixedLengthStreamingMode(DATA.length);
        try (OutputStream out = connection.getOutputStream()) {
            out.write(DATA);
        }
        check(DATA, connection.getInputStream().readAllBytes());
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        return (data, times) -> {
            HttpRequest request = HttpRequest.newBuilder(uri)
                    .POST(HttpRequest.BodyPublishers.ofByteArray(data)).build();
            for (int i = 0; i < times; i++) {
                check(data, answer(client, request));
            }
        };
    }

    /** Asks again when the client takes an answer for data between two requests, as it does in a race (JDK-8357639). */
    private static byte[] answer(HttpClient client, HttpRequest request) throws IOException, InterruptedException {
        for (;;) {
            try {
                return client.send(request, HttpResponse.BodyHandlers.ofByteArray()).body();
            } catch (IOException e) {
                Throwable reason = e;
                while (reason.getCause() != null) {
                    reason = reason.getCause();
                }
                if (!"Data received while in pool".equals(reason.getMessage())) {
                    throw e;
                }
                System.err.println(reason.getMessage());
            }
        }
    }

    /** Tries again until it succeeds: what a cluster does only some time after its start. */
    static <T> T eventually(Callable<T> attempt) throws InterruptedException {
        for (;;) {
            try {
                return attempt.call();
            } catch (Exception e) {
                System.err.println("not yet: " + e);
                Thread.sleep(500);
            }
        }
    }
}
