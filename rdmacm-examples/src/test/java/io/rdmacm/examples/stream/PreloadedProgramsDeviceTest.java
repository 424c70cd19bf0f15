// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.PortSpace;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.examples.testing.Addresses;
import io.rdmacm.examples.testing.Ports;
import io.rdmacm.examples.testing.Preload;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.testing.Requirements;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.Seed;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Programs that know only sockets, with librspreload.so of librdmacm: curl as a client, netcat-traditional as a client
 * and as a server, which receive and send. What is sent is compared with what arrives by its hash. The property
 * {@code io.rdmacm.preloadedBytes} says how many bytes are sent.
 *
 * <p>A netcat that sends has a file as its standard input: the select(2) of librspreload does not report the end of a
 * pipe, which is POLLHUP without POLLIN, so that netcat would wait for ever.
 */
@RequiresRdma
class PreloadedProgramsDeviceTest {
    private static final long BYTES = Long.getLong("io.rdmacm.preloadedBytes", 3_000_017);
    private static final int PIECE = 1 << 16;
    private static final String NETCAT = "nc.traditional";

    private static Path library;

    @BeforeAll
    static void programs() throws IOException {
        Requirements.requireProgram("curl", "curl");
        Requirements.requireProgram(NETCAT, "netcat-traditional");
        library = Preload.library();
    }

    @Test
    void curlDownloads() throws Exception {
        try (RdmaStreamServer server = listen(); Preloaded curl = new Preloaded("curl", "-sS", "-0", url(server));
                RdmaStream stream = server.accept(Program.LIMIT)) {
            FutureTask<String> received = curl.hashOutput();
            InputStream in = new BufferedInputStream(input(stream));
            assertThat(header(in)).startsWith("GET / HTTP/1.0");
            write(stream, "HTTP/1.0 200 OK\r\nContent-Length: " + BYTES + "\r\n\r\n");
            String sent = send(stream);
            assertThat(get(received)).isEqualTo(sent);
            assertThat(in.read()).as("curl closes the connection").isEqualTo(-1);
            curl.assertSucceeds();
        }
    }

    @Test
    void curlUploads() throws Exception {
        try (RdmaStreamServer server = listen();
                Preloaded curl = new Preloaded("curl", "-sS", "-H", "Expect:", "-T", "-", url(server) + "file");
                RdmaStream stream = server.accept(Program.LIMIT)) {
            FutureTask<String> sent = curl.feed();
            InputStream in = new BufferedInputStream(input(stream), PIECE);
            assertThat(header(in)).startsWith("PUT /file HTTP/1.1");
            String received = hashChunks(in);
            write(stream, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            stream.shutdownOutput();
            assertThat(received).isEqualTo(get(sent));
            assertThat(in.read()).as("curl closes the connection").isEqualTo(-1);
            curl.assertSucceeds();
        }
    }

    @Test
    void netcatReceivesFromAServer() throws Exception {
        try (RdmaStreamServer server = listen();
                Preloaded netcat = new Preloaded(NETCAT, Addresses.ipv4(), "" + server.localAddress().getPort());
                RdmaStream stream = server.accept(Program.LIMIT)) {
            FutureTask<String> received = netcat.hashOutput();
            String sent = send(stream);
            stream.shutdownOutput();
            assertThat(get(received)).isEqualTo(sent);
            netcat.assertSucceeds();
        }
    }

    @Test
    void netcatServesAndReceives() throws Exception {
        int port = Ports.free(Addresses.of(false), PortSpace.TCP);
        try (Preloaded netcat = new Preloaded(NETCAT, "-l", "-p", "" + port, "-s", Addresses.ipv4());
                RdmaStream stream = connect(netcat, port)) {
            FutureTask<String> received = netcat.hashOutput();
            String sent = send(stream);
            stream.shutdownOutput();
            assertThat(get(received)).isEqualTo(sent);
            netcat.assertSucceeds();
        }
    }

    @Test
    void netcatSendsToAServer(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("sent");
        String sent = write(file);
        try (RdmaStreamServer server = listen();
                Preloaded netcat = new Preloaded(file.toFile(), NETCAT, "-q", "0", Addresses.ipv4(),
                        "" + server.localAddress().getPort());
                RdmaStream stream = server.accept(Program.LIMIT)) {
            assertThat(hash(input(stream))).isEqualTo(sent);
            netcat.assertSucceeds();
        }
    }

    @Test
    void netcatServesAndSends(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("sent");
        String sent = write(file);
        int port = Ports.free(Addresses.of(false), PortSpace.TCP);
        try (Preloaded netcat = new Preloaded(file.toFile(), NETCAT, "-q", "0", "-l", "-p", "" + port, "-s",
                Addresses.ipv4());
                RdmaStream stream = connect(netcat, port)) {
            assertThat(hash(input(stream))).isEqualTo(sent);
            netcat.assertSucceeds();
        }
    }

    /** Writes data to a file, and returns their hash. */
    private static String write(Path file) throws Exception {
        try (OutputStream out = Files.newOutputStream(file)) {
            return produce((bytes, length) -> out.write(bytes, 0, length));
        }
    }

    private static RdmaStreamServer listen() throws IOException {
        return RdmaStreamServer.listen(new InetSocketAddress(Addresses.of(false), 0));
    }

    private static String url(RdmaStreamServer server) {
        return "http://" + Addresses.ipv4() + ":" + server.localAddress().getPort() + "/";
    }

    private static RdmaStream connect(Preloaded server, int port) throws Exception {
        server.awaitAccept();
        return RdmaStream.connect(new InetSocketAddress(Addresses.of(false), port), Program.LIMIT);
    }

    private static void write(RdmaStream stream, String text) throws IOException, InterruptedException {
        stream.write(ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)), Program.LIMIT);
    }

    /** Sends data, and returns their hash. */
    private static String send(RdmaStream stream) throws Exception {
        return produce((bytes, length) -> stream.write(ByteBuffer.wrap(bytes, 0, length), Program.LIMIT));
    }

    /** Takes data. */
    @FunctionalInterface
    private interface Taker {
        void take(byte[] bytes, int length) throws Exception;
    }

    private static String produce(Taker taker) throws Exception {
        Random random = Seed.random(11);
        MessageDigest digest = digest();
        byte[] piece = new byte[PIECE];
        for (long left = BYTES; left > 0; left -= Math.min(left, PIECE)) {
            int length = (int) Math.min(left, PIECE);
            random.nextBytes(piece);
            digest.update(piece, 0, length);
            taker.take(piece, length);
        }
        return text(digest);
    }

    private static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String text(MessageDigest digest) {
        return HexFormat.of().formatHex(digest.digest());
    }

    /** Reads to the end. */
    private static String hash(InputStream in) throws IOException {
        MessageDigest digest = digest();
        byte[] piece = new byte[PIECE];
        for (int length = in.read(piece); length >= 0; length = in.read(piece)) {
            digest.update(piece, 0, length);
        }
        return text(digest);
    }

    /** Reads a body in chunks, as HTTP/1.1 sends it when its length is not known. */
    private static String hashChunks(InputStream in) throws IOException {
        MessageDigest digest = digest();
        for (int length = chunk(in); length > 0; length = chunk(in)) {
            byte[] bytes = in.readNBytes(length);
            assertThat(bytes).hasSize(length);
            digest.update(bytes);
            assertThat(line(in)).isEmpty();
        }
        assertThat(line(in)).isEmpty();
        return text(digest);
    }

    private static int chunk(InputStream in) throws IOException {
        return Integer.parseInt(line(in), 16);
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new EOFException("after " + line);
            }
            line.append((char) next);
        }
        return line.toString().strip();
    }

    /** Reads the header of a request. */
    private static String header(InputStream in) throws IOException {
        StringBuilder header = new StringBuilder();
        for (String line = line(in); !line.isEmpty(); line = line(in)) {
            header.append(line).append('\n');
        }
        return header.toString();
    }

    private static InputStream input(RdmaStream stream) {
        return new InputStream() {
            @Override
            public int read() throws IOException {
                byte[] one = new byte[1];
                return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
            }

            @Override
            public int read(byte[] bytes, int offset, int length) throws IOException {
                try {
                    return stream.read(ByteBuffer.wrap(bytes, offset, length), Program.LIMIT);
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
        };
    }

    private static String get(FutureTask<String> task) throws Exception {
        return task.get(Program.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    }

    /** A program with the library. */
    private static final class Preloaded implements AutoCloseable {
        private final Process process;
        private final File errors;

        Preloaded(String... command) throws IOException {
            this(null, command);
        }

        /** Starts a program with a file, if there is one, as its standard input. */
        Preloaded(File input, String... command) throws IOException {
            errors = File.createTempFile("preloaded", ".err");
            ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors);
            if (input != null) {
                builder.redirectInput(input);
            }
            builder.environment().put("LD_PRELOAD", library.toString());
            process = builder.start();
        }

        /** Writes data to its standard input, in a thread; returns their hash. */
        FutureTask<String> feed() {
            return start(() -> {
                try (OutputStream out = process.getOutputStream()) {
                    return produce((bytes, length) -> out.write(bytes, 0, length));
                }
            });
        }

        /** Returns the hash of its standard output, which a thread reads. */
        FutureTask<String> hashOutput() {
            return start(() -> hash(process.getInputStream()));
        }

        private static FutureTask<String> start(Callable<String> body) {
            FutureTask<String> task = new FutureTask<>(body);
            Thread.ofPlatform().daemon().start(task);
            return task;
        }

        /**
         * Waits until the program accepts connections. A connection that is there before gets a lower number than the
         * descriptor that the program sees, and select(2) of librspreload then reports it under that lower number: the
         * program would never read.
         */
        void awaitAccept() throws Exception {
            long end = System.nanoTime() + Program.LIMIT.toNanos();
            while (placeholders() < 2) {
                assertThat(process.isAlive()).isTrue();
                assertThat(System.nanoTime()).as("the program accepts no connections").isLessThan(end);
                Thread.sleep(5);
            }
        }

        /** Returns the number of its sockets: librspreload opens /dev/null for each, also for one to be accepted. */
        private long placeholders() throws IOException {
            long count = 0;
            for (String name : new File("/proc/" + process.pid() + "/fd").list()) {
                Path file = Path.of("/proc/" + process.pid() + "/fd", name);
                try {
                    count += Files.readSymbolicLink(file).equals(Path.of("/dev/null")) ? 1 : 0;
                } catch (NoSuchFileException e) {
                    continue;    // closed meanwhile
                }
            }
            return count;
        }

        void assertSucceeds() throws Exception {
            assertThat(process.waitFor(Program.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
            String output = Files.readString(errors.toPath());
            assertThat(process.exitValue()).as(output).isZero();
        }

        @Override
        public void close() throws IOException {
            process.toHandle().destroyForcibly();
            Files.delete(errors.toPath());
        }
    }
}
