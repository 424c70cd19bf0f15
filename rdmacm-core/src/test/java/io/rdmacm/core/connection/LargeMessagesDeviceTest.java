// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.ScatterGatherList;
import io.rdmacm.core.testing.Flavour;
import io.rdmacm.core.testing.PeerProcess;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Messages that the peer reads: their order, their bounds, and how they end with the connection. */
@RequiresRdma
class LargeMessagesDeviceTest {
    private static final Duration SHORT = Duration.ofMillis(30);
    private static final int LARGE = 100_000;
    private static final ConnectionSettings TWO = ConnectionSettings.builder().messageSize(64)
            .largeMessages(LARGE, 2).privateData("hello".getBytes()).linger(Duration.ofMillis(50)).build();
    private static final ConnectionSettings ONE = TWO.toBuilder().largeMessages(LARGE, 1).build();

    private Peers peers;
    private Connection client;
    private Connection server;
    private MemoryRegion region;

    @BeforeEach
    void connect() throws Exception {
        RdmaTestDevice.assumeNotIwarp("there are no immediate values");
        connect(TWO, TWO);
    }

    /** Connects other peers. */
    private void connect(ConnectionSettings clientSettings, ConnectionSettings serverSettings) throws Exception {
        close();
        peers = new Peers(4, serverSettings);
        Peers.Pair pair = peers.connect(clientSettings);
        client = pair.client();
        server = pair.server();
        region = filled(client);
    }

    private static MemoryRegion filled(Connection connection) throws RdmaException {
        MemoryRegion filled = connection.protectionDomain().allocate(2 * LARGE, AccessFlag.REMOTE_READ);
        fill(filled.memory());
        return filled;
    }

    private static void fill(MemorySegment memory) {
        for (int i = 0; i < memory.byteSize(); i++) {
            memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31 + i / 251));
        }
    }

    @AfterEach
    void close() throws Exception {
        if (peers != null) {
            client.close();
            server.close();
            region.close();
            peers.close();
            peers = null;
        }
    }

    /** Returns when a message was announced that cannot be read, because the program holds all buffers. */
    private static void awaitAnnounced(Connection connection, int count) {
        String missing = "";
        while (!missing.contains(count + " of " + count + " large messages were not closed")) {
            missing = assertThatExceptionOfType(RdmaTimeoutException.class)
                    .isThrownBy(() -> connection.receive(SHORT)).actual().getMessage();
        }
    }

    private void assertReceives(long offset, int length) throws Exception {
        try (Message message = server.receive(Peers.TIMEOUT)) {
            assertPart(message, offset, length);
        }
    }

    private void assertPart(Message message, long offset, int length) {
        assertThat(message.length()).isEqualTo(length);
        assertThat(message.hasImmediate()).isFalse();
        assertThat(message.memory().mismatch(region.memory().asSlice(offset, length))).isEqualTo(-1);
    }

    @ParameterizedTest
    @EnumSource
    void largeAndSmallMessagesArriveInTheirOrder(Flavour flavour) throws Exception {
        assertThat(client.peerLargeMessageSize()).hasValue(LARGE);
        assertThat(client.peerMessageSize()).hasValue(64);
        assertThat(server.privateData()).startsWith("hello".getBytes());
        int[] lengths = {64, LARGE, 65, 1, LARGE - 1, 0};
        try (Background<Void> sending = Background.run(() -> {
            for (int length : lengths) {
                flavour.send(client, region, length, length);
            }
        })) {
            for (int length : lengths) {
                assertReceives(length, length);
            }
            sending.result();
        }
        assertThat(client.counters().messagesSent()).isEqualTo(lengths.length);
        assertThat(server.counters().messagesReceived()).isEqualTo(lengths.length);
        assertThat(server.counters().bytesReceived()).isEqualTo(client.counters().bytesSent())
                .isEqualTo(2 * LARGE + 129);
    }

    @Test
    void aMessageOfManyPiecesIsReadWhole() throws Exception {
        int size = 21_000_001;
        ConnectionSettings settings = TWO.toBuilder().largeMessages(size, 1).sendBuffers(1).operations(1).build();
        connect(settings, settings);
        try (MemoryRegion whole = client.protectionDomain().allocate(size, AccessFlag.REMOTE_READ)) {
            fill(whole.memory());
            CompletableFuture<Void> sent = client.async().send(whole, 0, size);
            try (Message message = server.receive(Peers.TIMEOUT)) {
                assertThat(message.memory().mismatch(whole.memory())).isEqualTo(-1);
            }
            Flavour.get(sent);
        }
    }

    /** One thread each, which receives only after it has sent. */
    @Test
    void bothPeersSendFirst() throws Exception {
        try (MemoryRegion other = filled(server);
                Background<Void> sending = Background.run(() -> sendAndReceive(server, other))) {
            sendAndReceive(client, region);
            sending.result();
        }
    }

    private static void sendAndReceive(Connection connection, MemoryRegion from) throws Exception {
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < 2; i++) {
                connection.send(from, i, LARGE - round, Peers.TIMEOUT);
            }
            for (int i = 0; i < 2; i++) {
                try (Message message = connection.receive(Peers.TIMEOUT)) {
                    assertThat(message.memory().mismatch(from.memory().asSlice(i, LARGE - round))).isEqualTo(-1);
                }
            }
        }
    }

    @Test
    void handlersOfLoopsGetLargeMessages() throws Exception {
        close();
        peers = new Peers(4, TWO);
        BlockingQueue<Message> received = new LinkedBlockingQueue<>();
        ConnectionSettings handled = TWO.toBuilder().loops(peers.clients.startLoops(
                LoopSettings.builder().sharedReceives(8, 64).build())).handler(new ConnectionHandler() {
                    @Override
                    public void onMessage(Connection connection, Message message) {
                        received.add(message.retain());
                    }
                }).build();
        Peers.Pair pair = peers.connect(handled);
        client = pair.server();
        server = pair.client();
        region = filled(client);
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            sent.add(client.async().send(region, i, LARGE - i));
            sent.add(client.async().send(region, i, i));
        }
        for (int i = 0; i < 10; i++) {
            for (int length : new int[] {LARGE - i, i}) {
                try (Message message = received.poll(Peers.TIMEOUT.toSeconds(), TimeUnit.SECONDS)) {
                    assertPart(message, i, length);
                }
            }
        }
        for (CompletableFuture<Void> each : sent) {
            Flavour.get(each);
        }
    }

    @Test
    void aFullQueueIsWritableAgain() throws Exception {
        BlockingQueue<String> told = new LinkedBlockingQueue<>();
        connect(TWO.toBuilder().handler(new ConnectionHandler() {
            @Override
            public void onWritable(Connection connection) {
                told.add("writable");
            }
        }).build(), TWO);
        OperationHandler done = (connection, context, failure) -> told.add(context + " " + failure);
        for (int i = 0; i < 2; i++) {
            assertThat(client.queue().send(region, 0, LARGE, done, i)).isTrue();
        }
        assertThat(client.queue().send(region, 0, LARGE, done, 2)).isFalse();
        assertThat(client.queue().send(region, 0, 1, null, 0)).isTrue();
        for (int length : new int[] {LARGE, LARGE, 1}) {
            assertReceives(0, length);
        }
        List<String> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            all.add(told.poll(Peers.TIMEOUT.toSeconds(), TimeUnit.SECONDS));
        }
        assertThat(all).containsExactlyInAnyOrder("0 null", "1 null", "writable");
        assertThat(client.queue().send(region, 0, LARGE, null, 0)).isTrue();
        assertReceives(0, LARGE);
    }

    @Test
    void aMessageThatNobodyReceivesEndsInATimeout() throws Exception {
        assertThatExceptionOfType(RdmaTimeoutException.class)
                .isThrownBy(() -> client.send(region, 0, LARGE, SHORT))
                .withMessageContaining("the peer has not read 1 large messages, as when it neither receives nor closes"
                        + " them, within PT0.03S on");
        assertReceives(0, LARGE);
        try (Background<Void> sending = Background.run(() -> client.send(region, 1, LARGE, Peers.TIMEOUT))) {
            assertReceives(1, LARGE);
            sending.result();
        }
    }

    @Test
    void messagesThatAreHeldDelayFurtherOnes() throws Exception {
        List<CompletableFuture<Void>> sent = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            sent.add(client.async().send(region, i, LARGE));
        }
        CompletableFuture<Void> last = client.async().send(MemorySegment.ofArray("behind".getBytes()));
        try (Message first = server.receive(Peers.TIMEOUT)) {
            try (Message second = server.receive(Peers.TIMEOUT)) {
                assertPart(second, 1, LARGE);
                Flavour.get(sent.get(1));
                awaitAnnounced(server, 2);
                assertThat(server.tryReceive()).isNull();
                assertThat(sent.get(2)).isNotDone();
            }
            assertReceives(2, LARGE);
            assertPart(first, 0, LARGE);
        }
        Flavour.get(sent.get(2));
        try (Message behind = server.receive(Peers.TIMEOUT)) {
            assertThat(new String(behind.toArray())).isEqualTo("behind");
        }
        Flavour.get(last);
    }

    @Test
    void aDisconnectWaitsUntilThePeerHasRead() throws Exception {
        CompletableFuture<Void> sent = client.async().send(region, 0, LARGE);
        assertThatThrownBy(() -> client.disconnect(SHORT)).isInstanceOf(RdmaTimeoutException.class);
        try (Background<Void> ending = Background.run(() -> client.disconnect(Peers.TIMEOUT))) {
            assertReceives(0, LARGE);
            ending.result();
        }
        Flavour.get(sent);
        assertThatThrownBy(() -> server.receive(Peers.TIMEOUT)).isInstanceOf(DisconnectedException.class);
    }

    @Test
    void aCloseWaitsUntilThePeerHasRead() throws Exception {
        connect(TWO.toBuilder().linger(Peers.TIMEOUT).build(), TWO);
        List<CompletableFuture<Void>> sent = List.of(client.async().send(region, 0, LARGE),
                client.async().send(region, 1, LARGE));
        try (Background<Void> closing = Background.run(client::close)) {
            closing.awaitAsleep();
            assertReceives(0, LARGE);
            assertReceives(1, LARGE);
            closing.result();
        }
        for (CompletableFuture<Void> each : sent) {
            Flavour.get(each);
        }
    }

    /** Otherwise each side would wait for the other one. */
    @Test
    void aCloseDuringAReadAnswersIt() throws Exception {
        connect(TWO, TWO.toBuilder().linger(Peers.TIMEOUT).build());
        int room = server.queue().free();
        CompletableFuture<Void> sent = client.async().send(region, 0, LARGE);
        while (server.large().missing() == null) {
            assertThat(server.tryReceive()).isNull();
        }
        // Nobody takes the completion of the read that begins now but the close.
        while (server.queue().free() == room) {
            Thread.yield();
        }
        server.close();
        Flavour.get(sent);
    }

    @Test
    void whoWaitsForAPeerThatClosesIsTold() throws Exception {
        CompletableFuture<Void> sent = client.async().send(region, 0, LARGE);
        CompletableFuture<RdmaException> queued = new CompletableFuture<>();
        assertThat(client.queue().send(region, 0, LARGE, (who, context, failure) -> queued.complete(failure), 0))
                .isTrue();
        try (Background<Void> sending = Background.run(() -> client.send(region, 0, LARGE, Peers.LONG))) {
            sending.awaitAsleep();
            server.close();
            assertThatThrownBy(sending::result).isInstanceOf(RdmaException.class);
        }
        assertThatThrownBy(() -> Flavour.get(sent)).isInstanceOf(RdmaException.class);
        assertThat(Flavour.get(queued)).isNotNull();
    }

    @Test
    void whoWaitsOnAConnectionThatIsClosedIsTold() throws Exception {
        CompletableFuture<Void> sent = client.async().send(region, 0, LARGE);
        try (Background<Void> sending = Background.run(() -> client.send(region, 0, LARGE, Peers.LONG))) {
            sending.awaitAsleep();
            client.close();
            assertThatThrownBy(sending::result).isInstanceOf(RdmaClosedException.class);
        }
        assertThatThrownBy(() -> Flavour.get(sent)).isInstanceOf(RdmaException.class);
    }

    /** What was announced before the end and not read is lost, and nothing that was sent after it arrives. */
    @Test
    void nothingArrivesBehindAMessageThatIsLost() throws Exception {
        connect(ONE, ONE);
        CompletableFuture<Void> first = client.async().send(region, 0, LARGE);
        Message held = server.receive(Peers.TIMEOUT);
        Flavour.get(first);
        CompletableFuture<Void> lost = client.async().send(region, 1, LARGE);
        client.send("behind".getBytes(), Peers.TIMEOUT);
        awaitAnnounced(server, 1);
        client.close();
        assertThatThrownBy(() -> Flavour.get(lost)).isInstanceOf(RdmaException.class);
        assertThatThrownBy(() -> server.receive(Peers.TIMEOUT)).isInstanceOf(DisconnectedException.class);
        server.close();
        assertPart(held, 0, LARGE);
        held.close();
        assertThat(peers.servers.buffersInUse()).isZero();
    }

    @Test
    void aMessageCanBeReadAfterTheCloseOfItsConnection() throws Exception {
        CompletableFuture<Void> sent = client.async().send(region, 0, LARGE);
        Message kept = server.receive(Peers.TIMEOUT);
        Flavour.get(sent);
        server.close();
        client.close();
        assertPart(kept, 0, LARGE);
        assertThat(peers.servers.buffersInUse()).isEqualTo(1);
        kept.close();
        assertThat(peers.servers.buffersInUse()).isZero();
    }

    @Test
    void closesDuringTransfersLeaveNothing() throws Exception {
        for (int i = 0; i < 20; i++) {
            Peers.Pair pair = peers.connect(TWO);
            boolean receiverCloses = i % 2 == 0;
            List<CompletableFuture<Void>> sent = new ArrayList<>();
            for (int j = 0; j < 4; j++) {
                sent.add(pair.client().async().send(region, j, LARGE));
            }
            try (Background<Void> receiving = Background.run(() -> {
                while (true) {
                    pair.server().receive(Peers.TIMEOUT).close();
                }
            })) {
                // as soon as one has arrived; more may be under way
                Flavour.get(sent.getFirst());
                (receiverCloses ? pair.server() : pair.client()).close();
                assertThatThrownBy(receiving::result).isInstanceOf(RdmaException.class);
            }
            pair.close();
            for (CompletableFuture<Void> each : sent) {
                Flavour.get(each.exceptionally(failure -> null));
            }
        }
        client.close();
        server.close();
        assertThat(peers.servers.buffersInUse() + peers.clients.buffersInUse()).isZero();
    }

    @Test
    void memoryOfTheProgramIsRegisteredOnce() throws Exception {
        long before = peers.clients.registeredBytes();
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(LARGE).copyFrom(region.memory().asSlice(0, LARGE));
            for (int i = 0; i < 3; i++) {
                sendNative(memory.asSlice(0, LARGE - i).asReadOnly(), LARGE - i);
                assertThat(peers.clients.registeredBytes() - before).isEqualTo(LARGE);
            }
        }
        ByteBuffer buffer = ByteBuffer.allocateDirect(LARGE);
        MemorySegment.ofBuffer(buffer).copyFrom(region.memory().asSlice(0, LARGE));
        try (Background<Void> sending = Background.run(() -> client.send(buffer, Peers.TIMEOUT))) {
            assertReceives(0, LARGE);
            sending.result();
        }
        assertThat(buffer.hasRemaining()).isFalse();
        // instead of that of the arena, not beside it
        assertThat(peers.clients.registeredBytes() - before).isEqualTo(LARGE);
    }

    private void sendNative(MemorySegment memory, int length) throws Exception {
        try (Background<Void> sending = Background.run(() -> client.send(memory, Peers.TIMEOUT))) {
            assertReceives(0, length);
            sending.result();
        }
    }

    @Test
    void anArenaThatIsClosedDuringItsMessageEndsItsRegistration() throws Exception {
        Arena arena = Arena.ofShared();
        MemorySegment memory = arena.allocate(LARGE, 4096);
        long before = peers.clients.registeredBytes();
        try (Background<Void> sending = Background.run(() -> client.send(memory, Peers.TIMEOUT))) {
            sending.awaitAsleep();
            arena.close();
            assertThat(peers.clients.registeredBytes() - before).isEqualTo(LARGE);
            server.receive(Peers.TIMEOUT).close();
            sending.result();
        }
        assertThat(peers.clients.registeredBytes()).isEqualTo(before);
    }

    /** After a timeout the peer may still read, so the registration lasts until it has, or cannot any more. */
    @Test
    void aRegistrationLastsAsLongAsThePeerMayRead() throws Exception {
        long before = peers.clients.registeredBytes();
        Arena arena = Arena.ofShared();
        MemorySegment memory = arena.allocate(LARGE, 4096);
        assertThatThrownBy(() -> client.send(memory, SHORT)).isInstanceOf(RdmaTimeoutException.class);
        arena.close();
        assertThat(peers.clients.registeredBytes() - before).isEqualTo(LARGE);
        server.receive(Peers.TIMEOUT).close();
        // its answer is in the queue before that of another message
        try (Background<Void> sending = Background.run(() -> client.send(region, 0, LARGE, Peers.TIMEOUT))) {
            assertReceives(0, LARGE);
            sending.result();
        }
        assertThat(peers.clients.registeredBytes()).isEqualTo(before);
    }

    @Test
    void whatCannotBeSentIsRefused() throws Exception {
        assertThatIllegalArgumentException().isThrownBy(() -> client.send(region, 0, LARGE + 1, SHORT))
                .withMessageContaining("a message of 100001 bytes to a peer that receives at most 100000 bytes");
        assertThatIllegalArgumentException().isThrownBy(() -> client.async().send(region, 0, LARGE + 1));
        assertThatIllegalArgumentException().isThrownBy(() -> client.queue().send(region, 0, LARGE + 1, null, 0));
        assertThatThrownBy(() -> client.send(region, LARGE + 1, LARGE, SHORT))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatIllegalArgumentException().isThrownBy(() -> client.send(new byte[65], SHORT));
        assertThatIllegalArgumentException().isThrownBy(() -> client.async().sendWithImmediate(region, 0, 65, 1))
                .withMessageContaining("at most 64 bytes");
        assertThatIllegalArgumentException().isThrownBy(() -> client.send(
                ScatterGatherList.allocate(1).add(region, 0, 65), SHORT)).withMessageContaining("at most 64 bytes");
        try (MemoryRegion closed = client.protectionDomain().allocate(LARGE);
                OutgoingMessage message = client.message(1, Peers.TIMEOUT)) {
            assertThatIllegalArgumentException().isThrownBy(() -> client.send(closed, 0, LARGE, SHORT))
                    .withMessageContaining("needs REMOTE_READ");
            assertThatIllegalArgumentException().isThrownBy(
                    () -> message.sendWithImmediate(LargeMessages.IMMEDIATE, SHORT))
                    .withMessageContaining("0x726d4a4c");
            assertThatIllegalArgumentException().isThrownBy(
                    () -> client.queue().sendWithImmediate(region, 0, 1, LargeMessages.IMMEDIATE, null, 0));
            message.sendWithImmediate(1, Peers.TIMEOUT);
        }
        try (Message message = server.receive(Peers.TIMEOUT)) {
            assertThat(message.immediate()).isEqualTo(1);
        }
    }

    @Test
    void aHandlerIsRefusedWhatWouldWait() throws Exception {
        CompletableFuture<Void> inHandler = new CompletableFuture<>();
        assertThat(client.queue().write(region, 0, 0, RemoteMemory.NONE, 0,
                (connection, context, failure) -> {
                    try {
                        connection.send(region, 0, LARGE, SHORT);
                        inHandler.complete(null);
                    } catch (RdmaException | InterruptedException | RuntimeException e) {
                        inHandler.completeExceptionally(e);
                    }
                }, 0)).isTrue();
        assertThatIllegalStateException().isThrownBy(() -> Flavour.get(inHandler)).withMessageContaining("handler");
    }

    @Test
    void peersThatDoNotBothAskAgreeOnNothing() throws Exception {
        ConnectionSettings sizes = TWO.toBuilder().largeMessages(0, 0).agreedSizes(true).build();
        for (ConnectionSettings[] both : new ConnectionSettings[][] {{TWO, sizes}, {sizes, TWO}}) {
            connect(both[0], both[1]);
            assertThat(client.peerMessageSize()).hasValue(64);
            assertThat(server.peerMessageSize()).hasValue(64);
            assertThat(client.peerLargeMessageSize()).isEmpty();
            assertThat(server.peerLargeMessageSize()).isEmpty();
            assertThat(server.privateData()).startsWith("hello".getBytes());
            assertThat(client.privateData()).startsWith("hello".getBytes());
            assertThatIllegalArgumentException().isThrownBy(() -> client.send(region, 0, 65, SHORT))
                    .withMessageContaining("at most 64 bytes");
        }
    }

    @Test
    void withoutReadsThereAreNoLargeMessages() throws Exception {
        ConnectionSettings none = TWO.toBuilder()
                .parameters(ConnectionParameters.builder().initiatorDepth(0).build()).build();
        connect(TWO, none);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> client.send(region, 0, LARGE, SHORT))
                .withMessageContaining("initiatorDepth");
        assertThatThrownBy(() -> Flavour.get(client.async().send(region, 0, LARGE)))
                .isInstanceOf(RdmaException.class).hasMessageContaining("initiatorDepth");
        client.send(new byte[64], Peers.TIMEOUT);
        server.receive(Peers.TIMEOUT).close();
    }

    @Test
    void oneReadAtATimeIsEnough() throws Exception {
        ConnectionSettings one = TWO.toBuilder()
                .parameters(ConnectionParameters.builder().initiatorDepth(1).responderResources(1).build()).build();
        connect(one, one);
        try (MemoryRegion other = filled(server);
                Background<Void> sending = Background.run(() -> sendAndReceive(server, other))) {
            sendAndReceive(client, region);
            sending.result();
        }
    }

    @Test
    void aPeerThatBreaksTheProtocolEndsTheConnection() throws Exception {
        for (int bytes : new int[] {0, 5, 20}) {
            connect(TWO, TWO);
            region.close();
            region = client.protectionDomain().allocate(64);
            SendRequest request = SendRequests.allocate(1, 1).get(0).sendWithImmediate(LargeMessages.IMMEDIATE);
            client.queuePair().postSend(bytes == 0 ? request.noData() : request.data(region, 0, bytes));
            assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> server.receive(Peers.TIMEOUT))
                    .withMessageContaining(switch (bytes) {
                        case 0 -> "the peer has answered a message that was not announced";
                        case 5 -> "remote memory is encoded in 20 bytes, not 5";
                        default -> "the peer has announced 0 bytes behind 0 messages";
                    });
        }
    }

    private Connection connected(int port, ConnectionSettings settings) throws Exception {
        return peers.clients.connect(new InetSocketAddress(RdmaTestDevice.get().ipv4(), port), settings, Peers.TIMEOUT);
    }

    @Test
    void aPeerThatIsKilledBeforeItReads() throws Exception {
        try (PeerProcess process = PeerProcess.start("large")) {
            Connection connection = connected(Integer.parseInt(process.line()), TWO);
            assertThat(process.line()).isEqualTo("large");
            CompletableFuture<Void> sent = connection.async().send(region, 0, LARGE);
            try (Background<Void> sending = Background.run(() -> connection.send(region, 0, LARGE, Peers.LONG))) {
                sending.awaitAsleep();
                process.kill();
                assertThatThrownBy(sending::result).isInstanceOf(RdmaException.class);
            }
            assertThatThrownBy(() -> Flavour.get(sent)).isInstanceOf(RdmaException.class);
            connection.close();
        }
    }

    @Test
    void aPeerThatIsKilledBeforeItIsReadFrom() throws Exception {
        try (PeerProcess process = PeerProcess.start("large")) {
            Connection connection = connected(Integer.parseInt(process.line()), ONE);
            assertThat(process.line()).isEqualTo("large");
            Message held = connection.receive(Peers.TIMEOUT);
            awaitAnnounced(connection, 1);
            try (Background<Void> receiving = Background.run(() -> connection.receive(Peers.LONG).close())) {
                receiving.awaitAsleep();
                process.kill();
                held.close();
                assertThatThrownBy(receiving::result).isInstanceOf(RdmaException.class);
            }
            connection.close();
        }
    }
}
