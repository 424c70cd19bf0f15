// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

import io.rdmacm.core.connection.WaitPolicy;
import io.rdmacm.core.testing.Streams;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.internal.wait.Poller;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.Seed;
import io.rdmacm.verbs.work.AccessFlag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What streams carry from one end to the other, and in which ways. */
@RequiresRdma
class StreamDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(Streams::warmUp);

    @Test
    void aTimeoutSaysThatBothSidesWriteFirst() throws Exception {
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect()) {
            for (RdmaStream end : new RdmaStream[] {pair.client(), pair.server()}) {
                while (end.write(ByteBuffer.allocate(100_000)) > 0) {
                    end.poll();
                }
            }
            pair.client().await(RdmaStream.READABLE, Streams.TIMEOUT);
            assertThatThrownBy(() -> pair.client().write(ByteBuffer.allocate(1_000_000), Duration.ofMillis(10)))
                    .isInstanceOf(RdmaTimeoutException.class).hasMessageContaining("there was no room")
                    .hasMessageContaining("bytes of the peer have arrived and were not read")
                    .hasMessageContaining("both sides write first");
        }
    }

    @Test
    void bytesTravelBothWays() throws Exception {
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect()) {
            pair.client().write(ByteBuffer.wrap("ping".getBytes(StandardCharsets.UTF_8)), Streams.TIMEOUT);
            assertThat(Streams.read(pair.server(), 4)).isEqualTo("ping".getBytes(StandardCharsets.UTF_8));
            pair.server().write(ByteBuffer.wrap("pong".getBytes(StandardCharsets.UTF_8)), Streams.TIMEOUT);
            assertThat(Streams.read(pair.client(), 4)).isEqualTo("pong".getBytes(StandardCharsets.UTF_8));
            assertThat(pair.client().peerAddress()).isEqualTo(streams.server.localAddress());
            assertThat(pair.server().peerAddress()).isEqualTo(pair.client().localAddress());
            assertThat(pair.client().protectionDomain()).isSameAs(pair.server().protectionDomain());
            assertThat(pair.client().isConnected()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {4096, 10_000, 1 << 17})
    void muchDataTravelsWholeInBothDirectionsAtOnce(int bufferSize) throws Exception {
        StreamSettings settings = StreamSettings.builder().sendBufferSize(bufferSize).receiveBufferSize(bufferSize)
                .sendQueueSize(16).receiveQueueSize(16).build();
        try (Streams streams = new Streams(settings); Streams.Pair pair = streams.connect(settings);
                Background<Void> up = Background.run(() -> send(pair.client(), 1));
                Background<Void> down = Background.run(() -> send(pair.server(), 2));
                Background<Void> arriving = Background.run(() -> receive(pair.client(), 2))) {
            receive(pair.server(), 1);
            arriving.result();
            up.result();
            down.result();
        }
    }

    // pieces of all sizes, written and read in all ways
    private static final int MUCH = 2_000_000;

    private static void send(RdmaStream stream, int seed) throws Exception {
        byte[] data = Streams.data(seed, MUCH);
        Random random = Seed.random(seed);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment copy = arena.allocate(MUCH);
            copy.copyFrom(MemorySegment.ofArray(data));
            for (int sent = 0; sent < MUCH;) {
                int length = Math.min(MUCH - sent, 1 + random.nextInt(random.nextBoolean() ? 100 : 100_000));
                switch (random.nextInt(4)) {
                    case 0 -> stream.write(ByteBuffer.wrap(data, sent, length), Streams.TIMEOUT);
                    case 1 -> stream.write(copy.asSlice(sent, length), Streams.TIMEOUT);
                    case 2 -> stream.write(copy.asSlice(sent, length).asByteBuffer(), Streams.TIMEOUT);
                    default -> gather(stream, ByteBuffer.wrap(data, sent, length), random);
                }
                sent += length;
            }
        }
        stream.shutdownOutput();
    }

    private static void gather(RdmaStream stream, ByteBuffer data, Random random) throws Exception {
        int cut = random.nextInt(data.remaining() + 1);
        ByteBuffer[] parts = {ByteBuffer.allocate(0), data.slice(data.position(), cut),
            data.slice(data.position() + cut, data.remaining() - cut)};
        while (parts[1].hasRemaining() || parts[2].hasRemaining()) {
            if (stream.write(parts, 0, parts.length) == 0) {
                stream.await(RdmaStream.WRITABLE, Streams.TIMEOUT);
            }
        }
    }

    private static void receive(RdmaStream stream, int seed) throws Exception {
        ByteBuffer all = ByteBuffer.allocate(MUCH + 1);
        Random random = Seed.random(seed);
        int length = 0;
        while (length >= 0) {
            int most = 1 + random.nextInt(random.nextBoolean() ? 100 : 100_000);
            int limit = Math.min(all.capacity(), all.position() + most);
            switch (random.nextInt(3)) {
                case 0 -> {
                    all.limit(limit);
                    length = stream.read(all, Streams.TIMEOUT);
                    all.limit(all.capacity());
                }
                case 1 -> {
                    MemorySegment target = MemorySegment.ofBuffer(all).asSlice(0, limit - all.position());
                    length = stream.read(target, Streams.TIMEOUT);
                    all.position(all.position() + Math.max(length, 0));
                }
                default -> length = scatter(stream, all, limit);
            }
        }
        assertThat(all.position()).isEqualTo(MUCH);
        assertThat(Arrays.copyOf(all.array(), MUCH)).isEqualTo(Streams.data(seed, MUCH));
    }

    private static int scatter(RdmaStream stream, ByteBuffer all, int limit) throws Exception {
        int position = all.position();
        int middle = (position + limit) / 2;
        ByteBuffer[] parts = {all.slice(position, middle - position), all.slice(middle, limit - middle)};
        stream.await(RdmaStream.READABLE, Streams.TIMEOUT);
        int length = (int) stream.read(parts, 0, 2);
        all.position(position + Math.max(length, 0));
        return length;
    }

    @Test
    void aSlowReaderHoldsUpTheWriter() throws Exception {
        byte[] data = Streams.data(3, 1_000_000);
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect()) {
            ByteBuffer source = ByteBuffer.wrap(data);
            while (pair.client().write(source) > 0 || pair.client().await(RdmaStream.WRITABLE,
                    Duration.ofMillis(50)) != 0) {
                assertThat(source.hasRemaining()).isTrue();
            }
            // no more than the receive buffer has room for, and nothing is lost
            assertThat(source.position()).isLessThanOrEqualTo(StreamSettings.defaults().receiveBufferSize());
            try (Background<Void> rest = Background.run(() -> pair.client().write(source, Streams.TIMEOUT))) {
                assertThat(Streams.read(pair.server(), data.length)).isEqualTo(data);
                rest.result();
            }
        }
    }

    @Test
    void waitsEndWithATimeoutOrAnInterrupt() throws Exception {
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect()) {
            ByteBuffer target = ByteBuffer.allocate(1);
            assertThatThrownBy(() -> pair.server().read(target, Duration.ofMillis(10)))
                    .isInstanceOf(RdmaTimeoutException.class);
            assertThat(pair.server().read(target)).isZero();
            try (Background<Integer> reading = Background.call(() -> pair.server().read(target, Streams.TIMEOUT))) {
                reading.awaitAsleep().interrupt();
                assertThatThrownBy(reading::result).isInstanceOf(InterruptedException.class);
            }
            pair.client().write(ByteBuffer.wrap(new byte[] {7}), Streams.TIMEOUT);
            assertThat(pair.server().read(target, Streams.TIMEOUT)).isEqualTo(1);
            assertThatThrownBy(() -> streams.server.accept(Duration.ofMillis(10)))
                    .isInstanceOf(RdmaTimeoutException.class);
        }
    }

    @Test
    void aReaderAndAWriterWaitAtOnce() throws Exception {
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect();
                Background<byte[]> reading = Background.call(() -> Streams.read(pair.client(), 1))) {
            reading.awaitAsleep();
            byte[] data = Streams.data(4, 1_000_000);
            try (Background<Void> writing = Background.run(
                    () -> pair.client().write(ByteBuffer.wrap(data), Streams.TIMEOUT))) {
                writing.awaitAsleep();
                // The writer goes on although the reader, who was first, goes on sleeping.
                assertThat(Streams.read(pair.server(), data.length)).isEqualTo(data);
                writing.result();
                assertThat(reading.isDone()).isFalse();
                pair.server().write(ByteBuffer.wrap(new byte[] {9}), Streams.TIMEOUT);
                assertThat(reading.result()).containsExactly(9);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void virtualThreadsEcho(boolean spin) throws Exception {
        StreamSettings settings = StreamSettings.builder().waiting(spin ? WaitPolicy.spinFor(Duration.ofMillis(1))
                : WaitPolicy.sleepAtOnce()).build();
        try (Streams streams = new Streams(settings); Streams.Pair pair = streams.connect(settings);
                Background<Void> echo = Background.virtual(() -> {
                    ByteBuffer buffer = ByteBuffer.allocate(100);
                    while (pair.server().read(buffer, Streams.TIMEOUT) >= 0) {
                        pair.server().write(buffer.flip(), Streams.TIMEOUT);
                        buffer.clear();
                    }
                    return null;
                })) {
            for (int i = 0; i < 100; i++) {
                byte[] data = Streams.data(i, 100);
                pair.client().write(ByteBuffer.wrap(data), Streams.TIMEOUT);
                assertThat(Streams.read(pair.client(), 100)).isEqualTo(data);
            }
            pair.client().shutdownOutput();
            echo.result();
        }
    }

    @Test
    void anEventLoopSleepsOnTheFile() throws Exception {
        byte[] data = Streams.data(5, 3_000_000);
        try (Streams streams = new Streams(); RdmaStream client = RdmaStream.open()) {
            client.startConnect(streams.server.localAddress());
            Poller poller = new Poller(client.fd());
            while (!client.finishConnect()) {
                sleep(client, poller);
            }
            try (RdmaStream server = streams.server.accept(Streams.TIMEOUT);
                    Background<Void> echo = Background.run(() -> echo(server))) {
                ByteBuffer source = ByteBuffer.wrap(data);
                ByteBuffer target = ByteBuffer.allocate(data.length);
                while (target.hasRemaining()) {
                    int ready = client.poll();
                    if ((ready & RdmaStream.WRITABLE) != 0 && source.hasRemaining()) {
                        client.write(source);
                    } else if ((ready & RdmaStream.READABLE) != 0) {
                        assertThat(client.read(target)).isPositive();
                    } else {
                        sleep(client, poller);
                    }
                }
                assertThat(target.array()).isEqualTo(data);
                client.shutdownOutput();
                echo.result();
            }
            poller.close();
        }
    }

    private static void sleep(RdmaStream stream, Poller poller) throws Exception {
        if (stream.arm()) {
            poller.await(Streams.TIMEOUT.toNanos());
        }
    }

    private static void echo(RdmaStream stream) throws Exception {
        ByteBuffer buffer = ByteBuffer.allocateDirect(50_000);
        while (stream.read(buffer.clear(), Streams.TIMEOUT) >= 0) {
            stream.write(buffer.flip(), Streams.TIMEOUT);
        }
    }

    @Test
    void theFileIsReadableOnceAndNoLonger() throws Exception {
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect()) {
            Poller poller = new Poller(pair.client().fd());
            // what belongs to connecting may still be under way
            do {
                pair.client().poll();
            } while (!pair.client().arm() || isReadable(poller));
            pair.server().write(ByteBuffer.wrap(new byte[1]), Streams.TIMEOUT);
            poller.await(Streams.TIMEOUT.toNanos());
            assertThat(pair.client().poll() & RdmaStream.READABLE).isNotZero();
            assertThat(Streams.read(pair.client(), 1)).hasSize(1);
            while (!pair.client().arm()) {
                pair.client().poll();
            }
            assertThat(isReadable(poller)).isFalse();
            poller.close();
        }
    }

    @Test
    void aLoopIsToldOfWhatAnotherThreadFound() throws Exception {
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect()) {
            RdmaStream client = pair.client();
            client.fd();
            do {
                client.poll();
            } while (!client.arm());
            pair.server().write(ByteBuffer.wrap(new byte[2]), Streams.TIMEOUT);
            try (Background<Integer> other = Background.call(
                    () -> client.read(ByteBuffer.allocate(1), Streams.TIMEOUT))) {
                assertThat(other.result()).isEqualTo(1);
            }
            assertThat(client.arm()).as("there is a byte that the loop does not know of").isFalse();
            assertThat(client.poll() & RdmaStream.READABLE).isNotZero();
        }
    }

    @Test
    void anotherThreadThatReadsWakesTheLoop() throws Exception {
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect()) {
            RdmaStream client = pair.client();
            Poller poller = new Poller(client.fd());
            do {
                client.poll();
            } while (!client.arm());
            pair.server().write(ByteBuffer.wrap(new byte[2]), Streams.TIMEOUT);
            try (Background<Integer> other = Background.call(() -> {
                int bytes = client.read(ByteBuffer.allocate(1));
                while (bytes == 0) {
                    bytes = client.read(ByteBuffer.allocate(1));
                }
                return bytes;
            })) {
                assertThat(other.result()).isEqualTo(1);
            }
            poller.await(Streams.TIMEOUT.toNanos());
            assertThat(isReadable(poller)).as("there is a byte that the loop does not know of").isTrue();
            assertThat(client.poll() & RdmaStream.READABLE).isNotZero();
            assertThat(isReadable(poller)).isFalse();
            poller.close();
        }
    }

    private static boolean isReadable(Poller poller) throws Exception {
        Deadline deadline = Deadline.after(Duration.ofMillis(20));
        poller.await(deadline.remainingNanos());
        return !deadline.hasPassed();
    }

    @Test
    void theServersFileIsReadableWhileThereAreStreams() throws Exception {
        try (Streams streams = new Streams()) {
            Poller poller = new Poller(streams.server.fd());
            assertThat(streams.server.accept()).isNull();
            assertThat(isReadable(poller)).isFalse();
            try (RdmaStream client = RdmaStream.connect(streams.server.localAddress(), Streams.TIMEOUT)) {
                poller.await(Streams.TIMEOUT.toNanos());
                assertThat(streams.server.isAcceptable()).isTrue();
                try (RdmaStream server = streams.server.accept()) {
                    assertThat(server.peerAddress()).isEqualTo(client.localAddress());
                    assertThat(streams.server.isAcceptable()).isFalse();
                    assertThat(isReadable(poller)).isFalse();
                }
            }
            poller.close();
        }
    }

    @Test
    void registeredMemoryIsSentWithoutACopy() throws Exception {
        byte[] data = Streams.data(6, 500_000);
        try (Streams streams = new Streams(); Streams.Pair pair = streams.connect();
                MemoryRegion region = pair.client().protectionDomain().allocate(data.length,
                        AccessFlag.LOCAL_WRITE)) {
            region.memory().copyFrom(MemorySegment.ofArray(data));
            try (Background<byte[]> reading = Background.call(() -> Streams.read(pair.server(), data.length))) {
                for (int sent = 0; sent < data.length;) {
                    int written = pair.client().write(region, sent, data.length - sent);
                    if (written == 0) {
                        pair.client().await(RdmaStream.WRITABLE, Streams.TIMEOUT);
                    }
                    sent += written;
                    assertThat(pair.client().lentBytes()).isEqualTo(sent);
                }
                assertThat(reading.result()).isEqualTo(data);
            }
            while (pair.client().releasedBytes() < data.length) {
                if (pair.client().arm()) {
                    pair.client().await(RdmaStream.ENDED, Duration.ofMillis(1));
                }
                pair.client().poll();
            }
            assertThat(pair.client().releasedBytes()).isEqualTo(data.length);
            assertThatThrownBy(() -> pair.client().write(region, 1, data.length))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void eachSideWritesToMemoryThatTheOtherHasMapped() throws Exception {
        StreamSettings settings = StreamSettings.builder().mapSlots(2).build();
        byte[] data = Streams.data(7, 300_000);
        try (Arena arena = Arena.ofShared(); Streams streams = new Streams(settings);
                Streams.Pair pair = streams.connect(settings)) {
            MemorySegment memory = arena.allocate(data.length);
            assertThatThrownBy(() -> pair.client().writeMapped(MemorySegment.ofArray(data), 1000))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            try (StreamMapping mapping = pair.server().map(memory, 1000)) {
                assertThat(mapping.offset()).isEqualTo(1000);
                pair.server().write(ByteBuffer.wrap(new byte[] {1}), Streams.TIMEOUT);
                assertThat(Streams.read(pair.client(), 1)).containsExactly(1);
                for (int sent = 0; sent < data.length;) {
                    int written = pair.client().writeMapped(MemorySegment.ofArray(data).asSlice(sent), 1000 + sent);
                    if (written == 0) {
                        pair.client().await(RdmaStream.WRITABLE, Streams.TIMEOUT);
                    }
                    sent += written;
                }
                assertThatThrownBy(() -> pair.client().writeMapped(MemorySegment.ofArray(data), 1000 + data.length))
                        .isInstanceOf(IndexOutOfBoundsException.class);
                pair.client().write(ByteBuffer.wrap(new byte[] {2}), Streams.TIMEOUT);
                assertThat(Streams.read(pair.server(), 1)).containsExactly(2);
                assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(data);
                try (StreamMapping second = pair.server().map(memory, 5_000_000)) {
                    assertThatThrownBy(() -> pair.server().map(memory, 0)).isInstanceOf(IllegalStateException.class);
                    assertThat(second.memory()).isEqualTo(memory);
                }
            }
        }
    }

    @Test
    void manyStreamsAtOnce() throws Exception {
        // libsiw has no place for a queue whose memory would begin at the 144th page of a process's queues
        int count = Integer.getInteger("io.rdmacm.streams", RdmaTestDevice.get().isIwarp() ? 10 : 40);
        StreamSettings settings = StreamSettings.builder().sendQueueSize(16).receiveQueueSize(16)
                .sendBufferSize(4096).receiveBufferSize(4096).build();
        List<Streams.Pair> pairs = new ArrayList<>();
        try (Streams streams = new Streams(settings)) {
            for (int i = 0; i < count; i++) {
                pairs.add(streams.connect(settings));
            }
            for (int i = 0; i < count; i++) {
                pairs.get(i).client().write(ByteBuffer.wrap(Streams.data(i, 1000)), Streams.TIMEOUT);
            }
            for (int i = 0; i < count; i++) {
                assertThat(Streams.read(pairs.get(i).server(), 1000)).isEqualTo(Streams.data(i, 1000));
            }
        } finally {
            for (Streams.Pair pair : pairs) {
                pair.close();
            }
        }
    }
}
