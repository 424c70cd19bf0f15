// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;

import io.rdmacm.core.PortSpace;
import io.rdmacm.core.connection.WaitPolicy;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.core.stream.StreamMapping;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.examples.testing.Addresses;
import io.rdmacm.examples.testing.Ports;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Requirements;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams between this library and the programs of librdmacm, which check the data that they receive. */
@RequiresRdma
class StreamInteropDeviceTest {
    // what the programs send in each direction before they begin
    private static final int SYNC = 16;

    @BeforeAll
    static void programs() {
        Requirements.requireProgram("rstream", "rdmacm-utils");
        Requirements.requireProgram("riostream", "rdmacm-utils");
    }

    @ParameterizedTest
    @CsvSource({"64, 1, 200, b, false", "64, 1, 200, a, false", "1, 1000, 2, b, false", "4096, 50, 5, b, true",
        "1000000, 3, 2, b, false", "100000, 10, 2, a, true"})
    void rstreamConnectsToThisLibrary(int size, int count, int iterations, String mode, boolean ipv6)
            throws Exception {
        InetAddress address = Addresses.of(ipv6);
        try (RdmaStreamServer server = RdmaStreamServer.listen(new InetSocketAddress(address, 0));
                Program client = rstream(server.localAddress().getPort(), size, count, iterations, mode, "-s",
                        address.getHostAddress());
                RdmaStream stream = server.accept(Program.LIMIT)) {
            serve(new Sequence(stream), size, count, iterations);
            assertEnds(stream);
            Program.Result result = client.result();
            assertThat(result.status()).as(result.toString()).isZero();
        }
    }

    @ParameterizedTest
    @CsvSource({"64, 1, 200, b, false", "64, 1, 200, a, false", "1, 1000, 2, b, false", "4096, 50, 5, b, true",
        "1000000, 3, 2, b, false", "100000, 10, 2, a, true"})
    void thisLibraryConnectsToRstream(int size, int count, int iterations, String mode, boolean ipv6)
            throws Exception {
        InetAddress address = Addresses.of(ipv6);
        int port = Ports.free(address, PortSpace.TCP);
        try (Program server = rstream(port, size, count, iterations, mode, "-b", address.getHostAddress())) {
            Ports.awaitListening(server, port);
            try (RdmaStream stream = RdmaStream.connect(new InetSocketAddress(address, port), Program.LIMIT)) {
                request(new Sequence(stream), size, count, iterations);
                assertEnds(stream);
            }
            Program.Result result = server.result();
            assertThat(result.status()).as(result.toString()).isZero();
        }
    }

    /** The program ends with a shutdown of both directions. */
    private static void assertEnds(RdmaStream stream) throws Exception {
        assertThat(stream.read(ByteBuffer.allocate(1), Program.LIMIT)).isEqualTo(-1);
    }

    private static Program rstream(int port, int size, int count, int iterations, String mode, String... more)
            throws Exception {
        return program("rstream", port, size, count, iterations, mode, more);
    }

    private static Program program(String name, int port, int size, int count, int iterations, String mode,
            String... more) throws Exception {
        ProcessBuilder builder = new ProcessBuilder(name, "-p", "" + port, "-S", "" + size, "-C", "" + count, "-I",
                "" + iterations, "-T", mode, "-T", "v");
        builder.command().addAll(List.of(more));
        return Program.process(builder);
    }

    private static void serve(Sequence stream, int size, int count, int iterations) throws Exception {
        stream.receive(SYNC);
        stream.send(SYNC);
        for (int i = 0; i < iterations; i++) {
            for (int j = 0; j < count; j++) {
                stream.receive(size);
            }
            for (int j = 0; j < count; j++) {
                stream.send(size);
            }
        }
    }

    private static void request(Sequence stream, int size, int count, int iterations) throws Exception {
        stream.send(SYNC);
        stream.receive(SYNC);
        for (int i = 0; i < iterations; i++) {
            for (int j = 0; j < count; j++) {
                stream.send(size);
            }
            for (int j = 0; j < count; j++) {
                stream.receive(size);
            }
        }
    }

    /** A stream that carries the numbers from 0 to 255 over and over, in each direction. */
    private static final class Sequence {
        private final RdmaStream stream;
        private byte nextSent;
        private byte nextReceived;

        Sequence(RdmaStream stream) {
            this.stream = stream;
        }

        void send(int size) throws Exception {
            ByteBuffer data = ByteBuffer.allocateDirect(size);
            while (data.hasRemaining()) {
                data.put(nextSent++);
            }
            stream.write(data.flip(), Program.LIMIT);
        }

        void receive(int size) throws Exception {
            ByteBuffer data = ByteBuffer.allocate(size);
            while (data.hasRemaining()) {
                assertThat(stream.read(data, Program.LIMIT)).isPositive();
            }
            for (byte value : data.array()) {
                assertThat(value).isEqualTo(nextReceived++);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 200_000})
    void riostreamConnectsToThisLibrary(int size) throws Exception {
        InetAddress address = Addresses.of(false);
        try (RdmaStreamServer server = RdmaStreamServer.listen(new InetSocketAddress(address, 0), 1, mapping());
                Program client = program("riostream", server.localAddress().getPort(), size, 2, 5, "b", "-s",
                        address.getHostAddress());
                RdmaStream stream = server.accept(Program.LIMIT);
                Arena arena = Arena.ofShared();
                Mapped mapped = new Mapped(stream, arena, size)) {
            mapped.receiveSync();
            mapped.sendSync();
            for (int i = 0; i < 5; i++) {
                mapped.receive();
                mapped.send();
                mapped.send();
            }
            Program.Result result = client.result();
            assertThat(result.status()).as(result.toString()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {64, 200_000})
    void thisLibraryConnectsToRiostream(int size) throws Exception {
        InetAddress address = Addresses.of(false);
        int port = Ports.free(address, PortSpace.TCP);
        try (Program server = program("riostream", port, size, 2, 5, "b", "-b", address.getHostAddress())) {
            Ports.awaitListening(server, port);
            try (RdmaStream stream = RdmaStream.connect(new InetSocketAddress(address, port), mapping(),
                    Program.LIMIT); Arena arena = Arena.ofShared(); Mapped mapped = new Mapped(stream, arena, size)) {
                mapped.sendSync();
                mapped.receiveSync();
                for (int i = 0; i < 5; i++) {
                    mapped.send();
                    mapped.send();
                    mapped.receive();
                }
            }
            Program.Result result = server.result();
            assertThat(result.status()).as(result.toString()).isZero();
        }
    }

    private static StreamSettings mapping() {
        return StreamSettings.builder().mapSlots(1).waiting(WaitPolicy.sleepAtOnce()).build();
    }

    /** Memory that both sides write to in turn. The last byte says which turn it is. */
    private static final class Mapped implements AutoCloseable {
        private final RdmaStream stream;
        private final int size;
        private final MemorySegment memory;
        private final MemorySegment source;
        private final StreamMapping mapping;
        private int sends;
        private byte marker;
        private byte nextSent;
        private byte nextReceived;

        Mapped(RdmaStream stream, Arena arena, int size) throws Exception {
            this.stream = stream;
            this.size = size;
            this.memory = arena.allocate(size);
            this.source = arena.allocate(size);
            memory.set(ValueLayout.JAVA_BYTE, size - 1, (byte) -1);
            source.set(ValueLayout.JAVA_BYTE, size - 1, (byte) -1);
            this.mapping = stream.map(memory, 0);
        }

        void sendSync() throws Exception {
            stream.write(ByteBuffer.allocate(SYNC), Program.LIMIT);
        }

        void receiveSync() throws Exception {
            ByteBuffer data = ByteBuffer.allocate(SYNC);
            while (data.hasRemaining()) {
                assertThat(stream.read(data, Program.LIMIT)).isPositive();
            }
        }

        /** Sends once, which the program does not look at, and the next time with data and a marker. */
        void send() throws Exception {
            if (++sends % 2 == 0) {
                for (int i = 0; i < size - 1; i++) {
                    source.set(ValueLayout.JAVA_BYTE, i, nextSent++);
                }
                source.set(ValueLayout.JAVA_BYTE, size - 1, marker++);
            }
            for (long sent = 0; sent < size;) {
                int written = stream.writeMapped(source.asSlice(sent), sent);
                if (written == 0) {
                    assertThat(stream.await(RdmaStream.WRITABLE, Program.LIMIT)).isEqualTo(RdmaStream.WRITABLE);
                }
                sent += written;
            }
        }

        /** Waits for the marker, and checks the data. */
        void receive() {
            long end = System.nanoTime() + Program.LIMIT.toNanos();
            while ((byte) ValueLayout.JAVA_BYTE.varHandle().getVolatile(memory, size - 1L) != marker) {
                assertThat(System.nanoTime()).isLessThan(end);
                Thread.yield();
            }
            marker++;
            for (int i = 0; i < size - 1; i++) {
                assertThat(memory.get(ValueLayout.JAVA_BYTE, i)).isEqualTo(nextReceived++);
            }
        }

        @Override
        public void close() throws RdmaException {
            mapping.close();
        }
    }
}
