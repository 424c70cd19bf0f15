// SPDX-License-Identifier: Apache-2.0

import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.concurrent.Callable;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import javax.management.openmbean.TabularData;

/**
 * Two programs that know nothing of RDMA: {@code serve ADDRESS} prints its port and serves until its standard input
 * ends, {@code ask ADDRESS PORT} sends data there and compares what comes back. Afterwards they print what the agent,
 * if there is one, tells of their connections.
 */
interface Program {
    byte[] DATA = data(300_000);

    /** Starts to serve, and returns the port. */
    int serve(String address) throws Exception;

    /** Asks a server. */
    void ask(String address, int port) throws Exception;

    /** Runs one of the two. */
    static void run(Program program, String... arguments) throws Exception {
        if (arguments[0].equals("serve")) {
            System.out.println("port " + program.serve(arguments[1]));
            System.in.transferTo(OutputStream.nullOutputStream());
        } else {
            program.ask(arguments[1], Integer.parseInt(arguments[2]));
        }
        MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName("io.rdmacm.sockets:type=Connections");
        if (arguments[0].equals("ask")
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

    /** Data of which no part is like another. */
    static byte[] data(int size) {
        byte[] data = new byte[size];
        for (int i = 0; i < size; i++) {
            data[i] = (byte) (i * 7 + (i >> 9));
        }
        return data;
    }

    /** Fails if an answer is not what was sent. */
    static void check(byte[] answer) {
        if (!Arrays.equals(DATA, answer)) {
            throw new IllegalStateException("wrong answer of " + (answer == null ? -1 : answer.length) + " bytes");
        }
    }

    /** Asks an HTTP server that echoes, by both clients of the JDK. */
    static void askHttp(String address, int port) throws Exception {
        URI uri = URI.create("http://" + address + ":" + port + "/");
        try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
            for (int i = 0; i < 3; i++) {
                HttpRequest request = HttpRequest.newBuilder(uri)
                        .POST(HttpRequest.BodyPublishers.ofByteArray(DATA)).build();
                check(client.send(request, HttpResponse.BodyHandlers.ofByteArray()).body());
            }
        }
        HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
        connection.setDoOutput(true);
        connection.setFixedLengthStreamingMode(DATA.length);
        try (OutputStream out = connection.getOutputStream()) {
            out.write(DATA);
        }
        check(connection.getInputStream().readAllBytes());
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
