// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import io.rdmacm.core.testing.Streams;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The memory of a stream is a part of memory that other streams use before, after and beside it. */
@RequiresRdma
class StreamMemoryDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behindAfter(Streams::warmUp);

    @Test
    void streamsShareRegistrations() throws Exception {
        try (HandMadePeer first = new HandMadePeer(); HandMadePeer second = new HandMadePeer()) {
            assertThat(second.other().bufferKey()).isEqualTo(first.other().bufferKey());
            assertThat(Math.abs(second.other().targets() - first.other().targets())).isGreaterThanOrEqualTo(
                    first.other().buffer() - first.other().targets() + 2L * first.other().bufferLength());
        }
    }

    /** It would send data of one peer to another one. */
    @Test
    void aTargetThatAFormerPeerHasLeftIsNotUsed() throws Exception {
        try (HandMadePeer other = new HandMadePeer()) {
            long memory;
            try (HandMadePeer former = new HandMadePeer()) {
                memory = former.other().targets();
                former.writeTarget(1, 2048);
            }
            try (HandMadePeer peer = new HandMadePeer()) {
                assertThat(peer.other().targets()).isEqualTo(memory).isNotEqualTo(other.other().targets());
                peer.send(StreamMessage.of(StreamMessage.CREDIT, HandMadePeer.CREDITS));
                // the room that this peer has granted
                ByteBuffer data = ByteBuffer.allocate(2 * HandMadePeer.BUFFER);
                assertThat(peer.stream.write(data)).isEqualTo(HandMadePeer.BUFFER);
                assertThat(peer.stream.write(data)).isZero();
            }
        }
    }

    @Test
    void whatAFormerPeerHasSentCannotBeRead() throws Exception {
        byte[] secret = "secret".getBytes(StandardCharsets.US_ASCII);
        try (HandMadePeer other = new HandMadePeer()) {
            long memory;
            try (HandMadePeer former = new HandMadePeer()) {
                memory = former.other().buffer();
                former.fill(secret);
                former.send(secret.length, secret.length);
                assertThat(Streams.read(former.stream, secret.length)).isEqualTo(secret);
            }
            try (HandMadePeer liar = new HandMadePeer()) {
                assertThat(liar.other().buffer()).isEqualTo(memory).isNotEqualTo(other.other().buffer());
                // It has written nothing.
                liar.send(StreamMessage.of(StreamMessage.DATA, secret.length));
                assertThat(Streams.read(liar.stream, secret.length)).containsOnly(0);
            }
        }
    }

    /** An iWARP device that has connected fails when it receives something before it has sent. */
    @Test
    void onIwarpTheSideThatHasConnectedSendsFirst() throws Exception {
        try (HandMadePeer peer = new HandMadePeer()) {
            Assumptions.assumeTrue(peer.iwarp, "the device is not one of iWARP");
            assertThat(peer.stream.poll() & RdmaStream.WRITABLE).isZero();
            assertThat(peer.stream.write(ByteBuffer.allocate(1))).isZero();

            peer.send(StreamMessage.of(StreamMessage.CONTROL, StreamMessage.KEEP_ALIVE));

            peer.stream.await(RdmaStream.WRITABLE, Streams.TIMEOUT);
            assertThat(peer.stream.write(ByteBuffer.allocate(1))).isEqualTo(1);
        }
    }
}
