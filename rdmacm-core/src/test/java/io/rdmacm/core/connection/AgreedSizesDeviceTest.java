// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;

import io.rdmacm.core.ScatterGatherList;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.api.Test;

/** Peers that tell each other how large a message they receive. */
@RequiresRdma
class AgreedSizesDeviceTest {
    private static final byte[] HELLO = "hello".getBytes();
    private static final ConnectionSettings SMALL = ConnectionSettings.builder().messageSize(100).agreedSizes(true)
            .privateData(HELLO).build();
    private static final ConnectionSettings LARGE = ConnectionSettings.builder().messageSize(1000).agreedSizes(true)
            .privateData(HELLO).build();

    private static byte[] start(byte[] privateData) {
        return Arrays.copyOf(privateData, HELLO.length);
    }

    @Test
    void aMessageThatThePeerCannotReceiveIsRefusedAndTheConnectionGoesOn() throws Exception {
        try (Peers peers = new Peers(4, SMALL); Peers.Pair pair = peers.connect(LARGE)) {
            Connection client = pair.client();
            assertThat(client.peerMessageSize()).hasValue(100);
            assertThat(pair.server().peerMessageSize()).hasValue(1000);
            assertThat(start(client.privateData())).isEqualTo(HELLO);
            assertThat(start(pair.server().privateData())).isEqualTo(HELLO);
            try (MemoryRegion region = client.protectionDomain().allocate(200)) {
                String both = "a message of 101 bytes to a peer that receives at most 100 bytes";
                assertThatIllegalArgumentException().isThrownBy(() -> client.send(new byte[101], Peers.TIMEOUT))
                        .withMessageContaining(both);
                assertThatIllegalArgumentException().isThrownBy(() -> client.message(101, Peers.TIMEOUT))
                        .withMessageContaining(both);
                assertThatIllegalArgumentException().isThrownBy(() -> client.send(region, 0, 101, Peers.TIMEOUT))
                        .withMessageContaining(both);
                assertThatIllegalArgumentException().isThrownBy(() -> client.send(
                        ScatterGatherList.allocate(1).add(region, 0, 101), Peers.TIMEOUT)).withMessageContaining(both);
                assertThatIllegalArgumentException().isThrownBy(() -> client.async().send(region, 0, 101))
                        .withMessageContaining(both);
                assertThatIllegalArgumentException().isThrownBy(() -> client.queue().send(region, 0, 101, null, 0))
                        .withMessageContaining(both);
            }
            client.send(new byte[100], Peers.TIMEOUT);
            try (Message message = pair.server().receive(Peers.TIMEOUT)) {
                assertThat(message.length()).isEqualTo(100);
            }
        }
    }

    /** As a program in C would. */
    @Test
    void aPeerThatDoesNotTellIsSentAnything() throws Exception {
        ConnectionSettings silent = LARGE.toBuilder().agreedSizes(false).build();
        try (Peers peers = new Peers(4, LARGE); Peers.Pair pair = peers.connect(silent)) {
            assertThat(pair.server().peerMessageSize()).isEmpty();
            assertThat(pair.client().peerMessageSize()).isEmpty();
            assertThat(start(pair.client().privateData())).isEqualTo(HELLO);
            pair.server().send(new byte[1000], Peers.TIMEOUT);
            pair.client().receive(Peers.TIMEOUT).close();
        }
        try (Peers peers = new Peers(4, silent); Peers.Pair pair = peers.connect(LARGE)) {
            assertThat(pair.client().peerMessageSize()).isEmpty();
            assertThat(start(pair.client().privateData())).isEqualTo(HELLO);
        }
    }

    /** Private data of a program may begin as the size does. */
    @Test
    void aSizeThatCannotBeOneIsNone() throws Exception {
        byte[] data = ByteBuffer.allocate(8).putInt(0x726d4a31).putInt(-1).array();
        ConnectionSettings lookalike = ConnectionSettings.builder().privateData(data).build();
        try (Peers peers = new Peers(4, LARGE); Peers.Pair pair = peers.connect(lookalike)) {
            assertThat(pair.server().peerMessageSize()).isEmpty();
            assertThat(pair.server().privateData()).startsWith(data);
            pair.server().send(new byte[1000], Peers.TIMEOUT);
            pair.client().receive(Peers.TIMEOUT).close();
        }
    }

    @Test
    void privateDataThatDoNotFitAreRefusedBeforeAPeerIsAsked() throws Exception {
        InetSocketAddress address = new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0);
        try (Peers peers = new Peers()) {
            assertThatIllegalArgumentException().isThrownBy(
                    () -> peers.clients.connect(peers.listener.address(), with(57), Peers.TIMEOUT))
                    .withMessage("connect takes at most 56 bytes of private data, not 57");
            assertThatIllegalArgumentException().isThrownBy(
                    () -> peers.clients.connectAsync(peers.listener.address(),
                            with(49).toBuilder().agreedSizes(true).build(), Peers.TIMEOUT))
                    .withMessage("connect takes at most 48 bytes of private data beside 8 for agreed sizes, not 49");
            assertThatIllegalArgumentException().isThrownBy(() -> peers.servers.listen(address, 4,
                    with(181).toBuilder().largeMessages(5000, 1).build()))
                    .withMessage("accept takes at most 180 bytes of private data beside 16 for agreed sizes, not 181");
            try (Background<Connection> connecting = Background.call(
                    () -> peers.clients.connect(peers.listener.address(), with(56), Peers.TIMEOUT));
                    ConnectionRequest request = peers.listener.nextRequest(Peers.TIMEOUT)) {
                assertThatIllegalArgumentException().isThrownBy(
                        () -> request.accept(with(197).parameters(), Peers.TIMEOUT))
                        .withMessage("accept takes at most 196 bytes of private data, not 197");
                try (Connection server = request.accept(with(196).parameters(), Peers.TIMEOUT);
                        Connection client = connecting.result()) {
                    assertThat(server.isConnected()).isTrue();
                    assertThat(client.privateData()).hasSizeGreaterThanOrEqualTo(196);
                }
            }
        }
    }

    private static ConnectionSettings with(int privateData) {
        return ConnectionSettings.builder().privateData(new byte[privateData]).build();
    }

    @Test
    void sharedReceivesHaveTheirOwnSize() throws Exception {
        try (Peers peers = new Peers(4, SMALL)) {
            ConnectionLoopGroup loops = peers.clients.startLoops(LoopSettings.builder().sharedReceives(8, 64).build());
            try (Peers.Pair pair = peers.connect(LARGE.toBuilder().loops(loops).build())) {
                assertThat(pair.server().peerMessageSize()).hasValue(64);
            }
        }
    }
}
