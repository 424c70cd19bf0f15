// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Random;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.RejectedException;
import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.core.testing.Streams;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Peers made by hand that do not keep to the protocol. */
@RequiresRdma
class MalformedPeerDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(Streams::warmUp);

    private static final int CREDITS = 16;
    // where the end of this peer has its target list and its buffer
    private static final int TARGETS = 0;
    private static final int BUFFER = 4096;

    /** A client that knows the bytes of the protocol, and a stream that it is connected to. */
    private static final class Peer implements AutoCloseable {
        private final Streams streams;
        private final EventChannel channel = EventChannel.open();
        private final CmId id;
        private final End end;
        private final RdmaStream stream;
        private ConnectData other;

        Peer() throws Exception {
            this(CREDITS);
        }

        /** A stream with so many receives. */
        Peer(int receives) throws Exception {
            streams = new Streams(StreamSettings.builder().receiveBufferSize(4096).receiveQueueSize(receives)
                    .mapSlots(1).build());
            id = Loopback.resolved(channel, streams.server.localAddress());
            end = new End(id);
            for (int i = 0; i < CREDITS; i++) {
                end.queuePair.postReceive(end.receive.noData());
            }
            id.connect(parameters(data().encode()));
            try (CmEvent event = channel.await(id, CmEventType.ESTABLISHED, Streams.TIMEOUT)) {
                other = ConnectData.decode(event.privateData());
            }
            stream = streams.server.accept(Streams.TIMEOUT);
        }

        private ConnectData data() {
            return new ConnectData(ConnectData.isBigEndianHere(), CREDITS, 0, end.region.remoteAddress() + TARGETS, 2,
                    end.region.remoteKey(), end.region.remoteAddress() + BUFFER, BUFFER, end.region.remoteKey());
        }

        /** Sends a message, with bytes that are written to the buffer of the stream. */
        void send(int message, int length) throws Exception {
            end.queuePair.postSend(end.send.data(end.region, BUFFER, length)
                    .rdmaWriteWithImmediate(other.buffer(), other.bufferKey(), message));
            awaitSent();
        }

        void send(int message) throws Exception {
            end.queuePair.postSend(end.send.noData().rdmaWriteWithImmediate(0, 0, message));
            awaitSent();
        }

        /** Publishes a target, in an entry of the list of the stream. */
        void publish(int index, int length, int message) throws Exception {
            end.region.memory().set(ValueLayout.JAVA_LONG, BUFFER, end.region.remoteAddress() + BUFFER);
            end.region.memory().set(ValueLayout.JAVA_INT, BUFFER + 8, end.region.remoteKey());
            end.region.memory().set(ValueLayout.JAVA_INT, BUFFER + 12, length);
            end.queuePair.postSend(end.send.data(end.region, BUFFER, 16)
                    .rdmaWriteWithImmediate(other.targets() + 16L * index, other.targetKey(), message));
            awaitSent();
        }

        /** Whether or not the stream has ended the connection meanwhile. */
        private void awaitSent() throws Exception {
            while (true) {
                while (end.completions.next()) {
                    if (!end.completions.succeeded()
                            || end.completions.opcode() != WorkCompletionOpcode.RECV_RDMA_WITH_IMM) {
                        return;
                    }
                }
                end.queue.await(end.completions, Streams.TIMEOUT);
            }
        }

        /** The stream must have found out. */
        void assertRefused(String message) {
            assertThatExceptionOfType(StreamProtocolException.class)
                    .isThrownBy(() -> {
                        while (true) {
                            stream.read(ByteBuffer.allocate(8192), Streams.TIMEOUT);
                        }
                    }).withMessageContaining(message);
            assertThatThrownBy(() -> stream.write(ByteBuffer.allocate(1))).isInstanceOf(StreamProtocolException.class);
            assertThat(stream.poll() & RdmaStream.ENDED).isNotZero();
            assertThatThrownBy(() -> channel.await(id, CmEventType.ESTABLISHED, Streams.TIMEOUT))
                    .isInstanceOf(DisconnectedException.class);
        }

        @Override
        public void close() throws RdmaException {
            stream.close();
            end.close();
            channel.close();
            streams.close();
        }
    }

    private static ConnectionParameters parameters(byte[] privateData) {
        return ConnectionParameters.builder().privateData(privateData).build();
    }

    @ParameterizedTest
    @CsvSource({"0x20000001, 0x20000001", "0x40000000, unknown message", "0x60000000, unknown message",
        "0xA0000000, unknown message", "0xE0000003, control message 3", "0xFFFFFFFF, control message",
        "0xC0000001, mapping 1 of 1", "0x8000FFFF, grants credits", "0x80000011, grants credits", "0, sent 0 bytes",
        "0x1FFFFFFF, was granted"})
    void messagesThatDoNotExist(String message, String expected) throws Exception {
        try (Peer peer = new Peer()) {
            peer.send(Long.decode(message).intValue());
            peer.assertRefused(expected.startsWith("0x") ? "unknown message" : expected);
        }
    }

    @Test
    void aMessageThatIsNoWrite() throws Exception {
        try (Peer peer = new Peer()) {
            peer.end.queuePair.postSend(peer.end.send.noData().send());
            peer.awaitSent();
            peer.assertRefused("without an immediate value");
        }
    }

    @Test
    void moreDataThanGranted() throws Exception {
        try (Peer peer = new Peer()) {
            peer.send(2048, 2048);
            peer.send(2048, 2048);
            peer.send(1, 1);
            peer.assertRefused("was granted");
        }
    }

    @Test
    void dataAfterTheEnd() throws Exception {
        try (Peer peer = new Peer()) {
            peer.send(StreamMessage.of(StreamMessage.CONTROL, StreamMessage.SHUTDOWN));
            peer.send(1, 1);
            assertThat(peer.stream.await(RdmaStream.ENDED, Streams.TIMEOUT)).isEqualTo(RdmaStream.ENDED);
            assertThatThrownBy(() -> peer.stream.write(ByteBuffer.allocate(1)))
                    .isInstanceOf(StreamProtocolException.class).hasMessageContaining("after the end");
        }
    }

    @ParameterizedTest
    @CsvSource({"-1", "536870913"})
    void targetsOfNoLength(int length) throws Exception {
        try (Peer peer = new Peer()) {
            peer.publish(1, length, StreamMessage.of(StreamMessage.CREDIT, CREDITS));
            peer.assertRefused("offers a buffer");
        }
    }

    @Test
    void targetsThatAreNotUsedUp() throws Exception {
        try (Peer peer = new Peer()) {
            for (int i = 0; i < 3; i++) {
                peer.publish((i + 1) % 2, 100, StreamMessage.of(StreamMessage.CREDIT, CREDITS));
                peer.stream.poll();
            }
            peer.assertRefused("overwrites targets");
        }
    }

    @Test
    void whateverThePeerSendsTheStreamEndsOrGoesOn() throws Exception {
        Random random = new Random(10);
        for (int round = 0; round < 10; round++) {
            try (Peer peer = new Peer()) {
                for (int i = 0; i < CREDITS - 2; i++) {
                    int value = random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(20);
                    switch (random.nextInt(3)) {
                        case 0 -> peer.send(StreamMessage.of(random.nextInt(8), value & 0x1FFF_FFFF));
                        case 1 -> peer.send(random.nextInt(3), random.nextInt(4) + 1);
                        default -> peer.publish(random.nextInt(2), value, 0x8000_0000 | random.nextInt(40));
                    }
                    try {
                        peer.stream.read(ByteBuffer.allocate(100));
                        peer.stream.write(ByteBuffer.allocate(random.nextInt(100)));
                    } catch (RdmaException e) {
                        break;
                    }
                }
            }
        }
    }

    /** The stream has nothing in flight itself. */
    @Test
    void aReaderLearnsThatTheQueuePairIsBroken() throws Exception {
        try (Peer peer = new Peer()) {
            peer.end.queuePair.postSend(peer.end.send.data(peer.end.region, BUFFER, 1)
                    .rdmaWrite(peer.other.buffer(), peer.other.bufferKey() + 1));
            assertThatThrownBy(() -> peer.stream.read(ByteBuffer.allocate(1), Streams.TIMEOUT))
                    .isInstanceOf(WorkCompletionException.class);
        }
    }

    @Test
    void oneReadTakesSoManyMessagesOnly() throws Exception {
        try (Peer peer = new Peer(1024)) {
            for (int i = 0; i < 600; i++) {
                peer.send(StreamMessage.of(StreamMessage.CONTROL, StreamMessage.KEEP_ALIVE));
            }
            peer.send(1, 1);
            assertThat(peer.stream.read(ByteBuffer.allocate(1))).isZero();
            assertThat(peer.stream.read(ByteBuffer.allocate(1), Streams.TIMEOUT)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @CsvSource({"0", "1", "39"})
    void aClientWithShortDataIsRejected(int length) throws Exception {
        try (Streams streams = new Streams(); EventChannel channel = EventChannel.open();
                End end = new End(Loopback.resolved(channel, streams.server.localAddress()))) {
            end.id.connect(parameters(new byte[length]));
            assertThatThrownBy(() -> channel.await(end.id, CmEventType.ESTABLISHED, Streams.TIMEOUT))
                    .isInstanceOf(RejectedException.class);
            // The server goes on.
            streams.connect().close();
        }
    }

    @ParameterizedTest
    @CsvSource({"0", "40", "196"})
    void aServerWithOtherDataIsRefused(int length) throws Exception {
        try (Loopback loopback = new Loopback(); Background<RdmaStream> connecting = Background.call(
                () -> RdmaStream.connect(loopback.address(), Streams.TIMEOUT))) {
            try (End end = new End(loopback.request())) {
                end.id.accept(parameters(new byte[length]));
                assertThatThrownBy(connecting::result).isInstanceOf(StreamProtocolException.class)
                        .hasMessageContaining("version");
            }
        }
    }
}
