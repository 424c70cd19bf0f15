// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.util.Random;

import io.rdmacm.core.CmEventType;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.RejectedException;
import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.core.testing.Streams;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.Seed;
import io.rdmacm.verbs.work.WorkCompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Peers made by hand that do not keep to the protocol. */
@RequiresRdma
class MalformedPeerDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(Streams::warmUp);

    private static final int CREDITS = HandMadePeer.CREDITS;

    private static ConnectionParameters parameters(byte[] privateData) {
        return ConnectionParameters.builder().privateData(privateData).build();
    }

    @ParameterizedTest
    @CsvSource({"0x20000001, 0x20000001", "0x40000000, unknown message", "0x60000000, unknown message",
        "0xA0000000, unknown message", "0xE0000003, control message 3", "0xFFFFFFFF, control message",
        "0xC0000001, mapping 1 of 1", "0x8000FFFF, grants credits", "0x80000011, grants credits", "0, sent 0 bytes",
        "0x1FFFFFFF, was granted"})
    void messagesThatDoNotExist(String message, String expected) throws Exception {
        try (HandMadePeer peer = new HandMadePeer()) {
            peer.send(Long.decode(message).intValue());
            peer.assertRefused(expected.startsWith("0x") ? "unknown message" : expected);
        }
    }

    @Test
    void aMessageThatIsNoWrite() throws Exception {
        try (HandMadePeer peer = new HandMadePeer()) {
            peer.end.queuePair.postSend(peer.end.send.noData().send());
            peer.awaitSent();
            peer.assertRefused(peer.iwarp ? "message of 0 bytes" : "without an immediate value");
        }
    }

    @Test
    void moreDataThanGranted() throws Exception {
        try (HandMadePeer peer = new HandMadePeer()) {
            peer.send(2048, 2048);
            peer.send(2048, 2048);
            peer.send(1, 1);
            peer.assertRefused("was granted");
        }
    }

    @Test
    void dataAfterTheEnd() throws Exception {
        try (HandMadePeer peer = new HandMadePeer()) {
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
        try (HandMadePeer peer = new HandMadePeer()) {
            peer.publish(1, length, StreamMessage.of(StreamMessage.CREDIT, CREDITS));
            peer.assertRefused("offers a buffer");
        }
    }

    @Test
    void targetsThatAreNotUsedUp() throws Exception {
        try (HandMadePeer peer = new HandMadePeer()) {
            for (int i = 0; i < 3; i++) {
                peer.publish((i + 1) % 2, 100, StreamMessage.of(StreamMessage.CREDIT, CREDITS));
                peer.stream.poll();
            }
            peer.assertRefused("overwrites targets");
        }
    }

    @Test
    void whateverThePeerSendsTheStreamEndsOrGoesOn() throws Exception {
        Random random = Seed.random(10);
        for (int round = 0; round < 10; round++) {
            try (HandMadePeer peer = new HandMadePeer()) {
                long sent = 0;
                long read = 0;
                for (int i = 0; i < CREDITS - 2; i++) {
                    int value = random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(20);
                    switch (random.nextInt(3)) {
                        case 0 -> {
                            int message = StreamMessage.of(random.nextInt(8), value & 0x1FFF_FFFF);
                            sent += bytes(message);
                            peer.send(message);
                        }
                        case 1 -> {
                            int message = random.nextInt(3);
                            sent += bytes(message);
                            peer.send(message, random.nextInt(4) + 1);
                        }
                        default -> peer.publish(random.nextInt(2), value, 0x8000_0000 | random.nextInt(40));
                    }
                    try {
                        read += Math.max(0, peer.stream.read(ByteBuffer.allocate(100)));
                        peer.stream.write(ByteBuffer.allocate(random.nextInt(100)));
                    } catch (StreamProtocolException | DisconnectedException | WorkCompletionException e) {
                        // It does not go on after that.
                        assertThatThrownBy(() -> peer.stream.read(ByteBuffer.allocate(1)))
                                .isInstanceOfAny(StreamProtocolException.class, DisconnectedException.class,
                                        WorkCompletionException.class);
                        break;
                    }
                    assertThat(read).isLessThanOrEqualTo(sent);
                }
            }
        }
    }

    /** Returns how many bytes of data a message announces. */
    private static int bytes(int message) {
        return StreamMessage.kind(message) == StreamMessage.DATA ? StreamMessage.value(message) : 0;
    }

    /** The stream has nothing in flight itself. */
    @Test
    void aReaderLearnsThatTheQueuePairIsBroken() throws Exception {
        try (HandMadePeer peer = new HandMadePeer()) {
            peer.end.queuePair.postSend(peer.end.send.data(peer.end.region, HandMadePeer.BUFFER, 1)
                    .rdmaWrite(peer.other().buffer(), peer.other().bufferKey() + 1));
            assertThatThrownBy(() -> peer.stream.read(ByteBuffer.allocate(1), Streams.TIMEOUT))
                    // over iWARP, this looks like any other end of TCP
                    .isInstanceOf(peer.iwarp ? DisconnectedException.class : WorkCompletionException.class);
        }
    }

    @Test
    void oneReadTakesSoManyMessagesOnly() throws Exception {
        try (HandMadePeer peer = new HandMadePeer(1024)) {
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
                        // iWARP does not pad the data
                        .hasMessageContaining(length == 0 && RdmaTestDevice.get().isIwarp() ? "0 bytes" : "version");
            }
        }
    }
}
