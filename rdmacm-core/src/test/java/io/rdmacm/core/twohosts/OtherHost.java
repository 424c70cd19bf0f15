// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.twohosts;

import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The other host, and the wire to it. */
public final class OtherHost {
    static final String WIRE = "eth0";
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final Duration PAUSE = Duration.ofMillis(100);

    private OtherHost() {
    }

    /** An address on its wire. */
    static InetSocketAddress address(int port) throws IOException {
        return new InetSocketAddress(InetAddress.getByName(System.getenv("RDMACM_PEER_ADDRESS")), port);
    }

    /** The address of this host on the wire, with any port. */
    static InetSocketAddress here() {
        return new InetSocketAddress(System.getenv("RDMACM_LOCAL_ADDRESS"), 0);
    }

    /** An address of the wire's network, by its last byte. */
    static InetSocketAddress neighbour(int last) {
        String here = System.getenv("RDMACM_LOCAL_ADDRESS");
        return new InetSocketAddress(here.substring(0, here.lastIndexOf('.') + 1) + last, Partner.PORT);
    }

    /** Has it play a role. */
    static Line play(Class<? extends Role> role, Object... arguments) throws IOException, InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (true) {
            try {
                Line line = new Line(connect(PATIENCE));
                line.say(Stream.concat(Stream.of(role.getName()), Arrays.stream(arguments).map(Object::toString))
                        .collect(Collectors.joining(" ")));
                return line;
            } catch (ConnectException e) {
                // it takes its time to start, and nothing tells when it has
                if (System.nanoTime() > end) {
                    throw e;
                }
                Thread.sleep(PAUSE);
            }
        }
    }

    private static Socket connect(Duration limit) throws IOException {
        Socket socket = new Socket();
        boolean connected = false;
        try {
            socket.connect(new InetSocketAddress(System.getenv("RDMACM_PEER_CONTROL_ADDRESS"), Partner.PORT),
                    Math.toIntExact(limit.toMillis()));
            connected = true;
            return socket;
        } finally {
            if (!connected) {
                socket.close();
            }
        }
    }

    /** Has it run a command of the shell; what that printed. */
    public static String shell(String command) throws IOException, InterruptedException {
        try (Line line = play(Shell.class, command)) {
            StringBuilder output = new StringBuilder();
            for (String text = line.hear(); text != null; text = line.hear()) {
                output.append(text);
            }
            return output.toString();
        }
    }

    /**
     * Has it run a program until that is closed here, or the test ends.
     *
     * @param output a file there for what it prints
     * @param command its words, without spaces in them
     */
    public static Closeable start(String output, List<String> command) throws IOException, InterruptedException {
        Line line = play(Running.class, Stream.concat(Stream.of(output), command.stream()).toArray());
        if (line.hear() == null) {
            throw new IOException("the other host has hung up");
        }
        return line;
    }

    /** Runs a command of the shell here; what it printed. */
    static String shellHere(String command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder("sh", "-c", command).redirectErrorStream(true).start();
        try (var input = process.getInputStream()) {
            String output = new String(input.readAllBytes(), StandardCharsets.UTF_8);
            if (process.waitFor() != 0) {
                throw new IOException(command + ": " + output);
            }
            return output;
        }
    }

    /** Makes the wire bad in both directions, by words of netem. */
    static void netem(String words) throws IOException, InterruptedException {
        both("tc qdisc replace dev " + WIRE + " root netem " + words);
    }

    /** Cuts the wire: nothing gets through in either direction, and no interface notices. */
    public static void cut() throws IOException, InterruptedException {
        netem("loss 100%");
    }

    /** Makes the wire good again. */
    public static void mend() throws IOException, InterruptedException {
        both("tc qdisc del dev " + WIRE + " root 2>/dev/null || true");
    }

    private static void both(String command) throws IOException, InterruptedException {
        shell(command);
        shellHere(command);
    }

    /** How many packets of both hosts the wire has lost since it was made bad. */
    public static long lostPackets() throws IOException, InterruptedException {
        String command = "tc -s qdisc show dev " + WIRE;
        Matcher dropped = Pattern.compile("dropped (\\d+)").matcher(shellHere(command) + shell(command));
        return dropped.results().mapToLong(result -> Long.parseLong(result.group(1))).sum();
    }

    /** Powers it off, at once and without a word to anybody, and asks until it does not answer. */
    static void powerOff() throws IOException, InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        try (Line _ = play(Shell.class, "echo o >/proc/sysrq-trigger")) {
            while (answers()) {
                if (System.nanoTime() > end) {
                    throw new IOException("the other host is still there");
                }
                Thread.sleep(PAUSE);
            }
        }
    }

    private static boolean answers() throws IOException {
        try {
            connect(Duration.ofSeconds(1)).close();
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        }
    }

    /** Runs a command, and says what it prints. */
    static final class Shell implements Role {
        @Override
        public void play(Line line, String... arguments) throws Exception {
            line.say(shellHere(String.join(" ", arguments)));
        }
    }

    /** Runs a program, and what that starts, until the test hangs up. */
    static final class Running implements Role {
        @Override
        public void play(Line line, String... arguments) throws Exception {
            Process process = new ProcessBuilder(Arrays.copyOfRange(arguments, 1, arguments.length))
                    .redirectErrorStream(true).redirectOutput(new File(arguments[0])).start();
            try {
                line.say("started");
                line.awaitEnd();
            } finally {
                process.descendants().forEach(ProcessHandle::destroyForcibly);
                process.destroyForcibly().waitFor();
            }
        }
    }
}
