// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.rping;

import static io.rdmacm.examples.testing.Kind.C;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

import io.rdmacm.core.ScatterGatherList;
import io.rdmacm.core.connection.Connection;
import io.rdmacm.core.connection.ConnectionManager;
import io.rdmacm.core.connection.ConnectionSettings;
import io.rdmacm.core.connection.Message;
import io.rdmacm.core.connection.Reconnector;
import io.rdmacm.examples.testing.Program;
import io.rdmacm.examples.testing.Rpings;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.address.GlobalRoute;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Connections with C programs as their servers, which read and write the memory that they are told of. */
@RequiresRdma
class ConnectionInteropDeviceTest {
    private static final Duration TIMEOUT = Duration.ofMinutes(4);
    private static final int SIZE = 64;
    private static final int PINGS = 20;

    /** How the client sends where its memory is. */
    private enum Way {
        COPY,
        INLINE,
        SCATTER_LIST,
        SCATTER_LIST_ASYNC
    }

    private static ConnectionSettings settings(Way way) {
        return ConnectionSettings.builder().inlineSize(way == Way.INLINE ? RemoteMemory.COMPACT_BYTES : 0)
                .scatterGather(3).typeOfService(96).build();
    }

    private static void send(Connection connection, Way way, MemoryRegion message, RemoteMemory memory)
            throws Exception {
        ByteBuffer encoded = ByteBuffer.allocate(RemoteMemory.COMPACT_BYTES);
        memory.encodeCompact(encoded);
        byte[] bytes = encoded.array();
        // in three parts, which are not one after the other
        ScatterGatherList parts = ScatterGatherList.allocate(3).add(message, 40, 5).add(message, 0, 10)
                .add(message, 20, 1);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, message.memory(), 40, 5);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 5, message.memory(), 0, 10);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 15, message.memory(), 20, 1);
        switch (way) {
            case COPY, INLINE -> connection.send(bytes, TIMEOUT);
            case SCATTER_LIST -> connection.send(parts, TIMEOUT);
            case SCATTER_LIST_ASYNC -> connection.async().send(parts).get();
        }
    }

    /** Has the server read one region, and write what it has read to the other one. */
    private static void ping(Connection connection, Way way, MemoryRegion source, MemoryRegion sink, int number)
            throws Exception {
        String text = Rpings.ping(number, SIZE);
        source.memory().setString(0, text);
        sink.memory().fill((byte) 0);
        try (MemoryRegion message = connection.protectionDomain().allocate(SIZE, AccessFlag.LOCAL_WRITE)) {
            for (MemoryRegion region : new MemoryRegion[] {source, sink}) {
                send(connection, way, message, region.remoteMemory());
                try (Message answer = connection.receive(TIMEOUT)) {
                    assertThat(answer.length()).isEqualTo(RemoteMemory.COMPACT_BYTES);
                }
            }
        }
        assertThat(sink.memory().getString(0)).isEqualTo(text);
    }

    @ParameterizedTest
    @EnumSource
    void whatTheServerIsToldArrivesHoweverItIsSent(Way way) throws Exception {
        try (Rpings.Server server = Rpings.server(C, "-v", "-S", "" + SIZE);
                ConnectionManager manager = ConnectionManager.open();
                Connection connection = manager.connect(new InetSocketAddress(server.address(), server.port()),
                        settings(way), TIMEOUT);
                MemoryRegion source = connection.protectionDomain().allocate(SIZE, AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_READ);
                MemoryRegion sink = connection.protectionDomain().allocate(SIZE, AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_WRITE)) {
            if (!RdmaTestDevice.get().isIwarp()) {
                assertThat(connection.queuePair().query().attributes().path().globalRoute()
                        .map(GlobalRoute::trafficClass)).contains(96);
            }
            for (int i = 0; i < PINGS; i++) {
                ping(connection, way, source, sink, i);
            }
            connection.disconnect(TIMEOUT);
            Program.Result result = server.program().result();
            assertThat(result.outLines()).isEqualTo(Rpings.lines("server ping data: ", PINGS, SIZE));
        }
    }

    @Test
    void keysTravelInPrivateDataToCAndBack(@TempDir Path folder) throws Exception {
        Path source = folder.resolve("privatedata.c");
        try (InputStream text = ConnectionInteropDeviceTest.class.getResourceAsStream("privatedata.c")) {
            Files.write(source, text.readAllBytes());
        }
        Path server = folder.resolve("privatedata");
        Process compiler = new ProcessBuilder("gcc", "-std=gnu11", "-Wall", "-o", server.toString(),
                source.toString(), "-l:librdmacm.so.1", "-l:libibverbs.so.1").redirectErrorStream(true).start();
        String errors = new String(compiler.getInputStream().readAllBytes());
        Assumptions.assumeTrue(compiler.waitFor() == 0, "gcc cannot compile privatedata.c: " + errors);
        InetAddress local = RdmaTestDevice.get().ipv4();
        try (Program program = Program.process(server.toString(), local.getHostAddress());
                ConnectionManager manager = ConnectionManager.open();
                MemoryRegion region = manager.protectionDomain(local).allocate(SIZE, AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_WRITE)) {
            int port = Integer.parseInt(program.awaitOutput("port (\\d+)").group(1));
            ConnectionSettings settings = ConnectionSettings.builder()
                    .privateData(region.remoteMemory().encode()).build();
            try (Connection connection = manager.connect(new InetSocketAddress(local, port), settings, TIMEOUT)) {
                RemoteMemory remote = RemoteMemory.decode(connection.privateData());
                assertThat(remote.length()).isEqualTo(SIZE);
                try (MemoryRegion words = connection.protectionDomain().allocate(SIZE)) {
                    words.memory().setString(0, "written by Java");
                    connection.write(words, 0, SIZE, remote, TIMEOUT);
                }
                connection.send(new byte[] {1}, TIMEOUT);
                connection.receive(TIMEOUT).close();
                assertThat(region.memory().getString(0)).isEqualTo("written by C");
            }
            assertThat(program.result().outLines()).containsExactly("port " + port, SIZE + " bytes, written by Java");
        }
    }

    @Test
    void memoryThatIsRegisteredOnceServesServersThatFollowEachOther() throws Exception {
        try (ConnectionManager manager = ConnectionManager.open()) {
            ProtectionDomain domain = manager.protectionDomain(RdmaTestDevice.get().ipv4());
            try (MemoryRegion source = domain.allocate(SIZE, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
                    MemoryRegion sink = domain.allocate(SIZE, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE)) {
                try (Rpings.Server server = Rpings.server(C, "-P", "-v", "-S", "" + SIZE);
                        Reconnector reconnector = Reconnector.builder(manager,
                                new InetSocketAddress(server.address(), server.port())).build()) {
                    for (int i = 0; i < 3; i++) {
                        Connection connection = reconnector.connection(TIMEOUT);
                        ping(connection, Way.COPY, source, sink, i);
                        connection.disconnect(TIMEOUT);
                    }
                    assertThat(reconnector.metrics()).containsEntry("connections", 3L);
                }
            }
        }
    }
}
