// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.testing.Flavour;
import io.rdmacm.core.testing.Peers;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.WorkCompletionException;
import org.junit.jupiter.api.Test;

/** Many operations in flight: their order, their limits, batches, and how they all end. */
@RequiresRdma
class OperationQueueDeviceTest {
    // which no peer has
    private static final RemoteMemory FAR = new RemoteMemory(8, 12345, 64);
    private static final Duration SHORT = Duration.ofMillis(30);
    // a receiver that holds up the sender as soon as one message is not closed, and four operations at most
    private static final ConnectionSettings TINY = ConnectionSettings.builder().receiveBuffers(1).sendBuffers(2)
            .operations(2).messageSize(64).linger(Duration.ofMillis(50)).build();

    /** A handler that notes what it is told. */
    private static final class Notes implements OperationHandler {
        private final BlockingQueue<Long> contexts = new LinkedBlockingQueue<>();
        private final BlockingQueue<RdmaException> failures = new LinkedBlockingQueue<>();

        @Override
        public void completed(Connection connection, long context, RdmaException failure) {
            if (failure != null) {
                failures.add(failure);
            }
            contexts.add(context);
        }

        long next() throws InterruptedException {
            Long next = contexts.poll(Peers.TIMEOUT.toSeconds(), TimeUnit.SECONDS);
            assertThat(next).isNotNull();
            return next;
        }
    }

    private static MemorySegment bytes(int... values) {
        byte[] bytes = new byte[values.length];
        for (int i = 0; i < values.length; i++) {
            bytes[i] = (byte) values[i];
        }
        return MemorySegment.ofArray(bytes);
    }

    private static int value(Message message) {
        return message.memory().get(ValueLayout.JAVA_INT, 0);
    }

    @Test
    void withoutAMessageTryReceiveGivesNull() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect()) {
            assertThat(pair.server().tryReceive()).isNull();
            pair.client().send(new byte[3], Peers.TIMEOUT);
            Message message = pair.server().tryReceive();
            while (message == null) {
                Thread.yield();
                message = pair.server().tryReceive();
            }
            assertThat(message.length()).isEqualTo(3);
            message.close();
            assertThat(pair.server().tryReceive()).isNull();
            pair.client().close();
            try (Background<Void> ending = Background.run(() -> {
                while (pair.server().tryReceive() == null) {
                    Thread.yield();
                }
            })) {
                assertThatThrownBy(ending::result).isInstanceOf(DisconnectedException.class);
            }
            pair.server().close();
            assertThatThrownBy(pair.server()::tryReceive).isInstanceOf(RdmaClosedException.class);
        }
    }

    @Test
    void aFullQueueRefusesAndGoesOnLater() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        try (Peers peers = new Peers(4, TINY); Peers.Pair pair = peers.connect(TINY);
                MemoryRegion region = pair.client().protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE)) {
            OperationQueue queue = pair.client().queue();
            Notes notes = new Notes();
            assertThat(queue.free()).isEqualTo(4);
            assertThat(queue.send(region, 0, 1, notes, 0)).isTrue();
            Message blocking = pair.server().receive(Peers.TIMEOUT);
            assertThat(notes.next()).isZero();
            for (int i = 1; i <= 4; i++) {
                assertThat(queue.free()).isEqualTo(5 - i);
                assertThat(queue.send(region, 0, i, notes, i)).isTrue();
            }
            assertThat(queue.free()).isZero();
            assertThat(queue.send(region, 0, 5, notes, 5)).isFalse();
            assertThat(queue.send(bytes(1))).isFalse();
            assertThat(queue.read(region, 0, 5, FAR, 0, notes, 5)).isFalse();
            assertThat(queue.write(region, 0, 5, FAR, 0, notes, 5)).isFalse();
            assertThat(notes.contexts).isEmpty();
            blocking.close();
            for (int i = 1; i <= 4; i++) {
                try (Message message = pair.server().receive(Peers.TIMEOUT)) {
                    assertThat(message.length()).isEqualTo(i);
                }
                assertThat(notes.next()).isEqualTo(i);
            }
            assertThat(queue.free()).isEqualTo(4);
            assertThat(queue.send(region, 0, 6, notes, 6)).isTrue();
            pair.server().receive(Peers.TIMEOUT).close();
            assertThat(notes.next()).isEqualTo(6);
            assertThat(notes.failures).isEmpty();
        }
    }

    @Test
    void copiesAreRefusedWhenAllBuffersAreInUse() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        try (Peers peers = new Peers(4, TINY); Peers.Pair pair = peers.connect(TINY)) {
            OperationQueue queue = pair.client().queue();
            assertThat(queue.send(bytes(0))).isTrue();
            Message blocking = pair.server().receive(Peers.TIMEOUT);
            assertThat(queue.send(bytes(1))).isTrue();
            // The first buffer is free again as soon as its completion was taken.
            while (!queue.send(bytes(2))) {
                Thread.yield();
            }
            assertThat(queue.send(bytes(3))).isFalse();
            assertThat(queue.free()).isPositive();
            blocking.close();
            pair.server().receive(Peers.TIMEOUT).close();
            pair.server().receive(Peers.TIMEOUT).close();
            while (!queue.send(bytes(3))) {
                Thread.yield();
            }
            try (Message message = pair.server().receive(Peers.TIMEOUT)) {
                assertThat(message.toArray()).containsExactly(3);
            }
        }
    }

    @Test
    void manyInFlightFinishInTheirOrder() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        int count = 500;
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect();
                MemoryRegion region = pair.client().protectionDomain().allocate(4L * count, AccessFlag.LOCAL_WRITE);
                Background<Void> receiving = Background.run(() -> {
                    for (int i = 0; i < count; i++) {
                        try (Message message = pair.server().receive(Peers.TIMEOUT)) {
                            assertThat(value(message)).isEqualTo(i);
                        }
                    }
                })) {
            Notes notes = new Notes();
            for (int i = 0; i < count; i++) {
                region.memory().setAtIndex(ValueLayout.JAVA_INT, i, i);
                while (!pair.client().queue().send(region, 4L * i, 4, notes, i)) {
                    Thread.yield();
                }
            }
            for (int i = 0; i < count; i++) {
                assertThat(notes.next()).isEqualTo(i);
            }
            receiving.result();
            assertThat(notes.failures).isEmpty();
        }
    }

    @Test
    void aBatchIsPostedAtItsEnd() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect();
                MemoryRegion region = pair.client().protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE)) {
            OperationQueue queue = pair.client().queue();
            Notes notes = new Notes();
            queue.batch(() -> {
                start(() -> queue.send(region, 0, 1, notes, 1));
                start(() -> queue.send(bytes(1, 2)));
                start(() -> queue.send(region, 0, 3, notes, 3));
                assertThat(queue.free()).isEqualTo(29);
                assertThatThrownBy(() -> pair.server().receive(SHORT)).isInstanceOf(RdmaTimeoutException.class);
            });
            for (int i = 1; i <= 3; i++) {
                try (Message message = pair.server().receive(Peers.TIMEOUT)) {
                    assertThat(message.length()).isEqualTo(i);
                }
            }
            assertThat(notes.next()).isEqualTo(1);
            assertThat(notes.next()).isEqualTo(3);
        }
    }

    @Test
    void whoWaitsInABatchPostsWhatWasStarted() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect();
                MemoryRegion region = pair.client().protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE)) {
            OperationQueue queue = pair.client().queue();
            queue.batch(() -> start(() -> {
                boolean sent = queue.send(bytes(1));
                pair.client().send(region, 0, 2, Peers.TIMEOUT);
                return sent;
            }));
            pair.server().receive(Peers.TIMEOUT).close();
            pair.server().receive(Peers.TIMEOUT).close();
        }
    }

    @Test
    void aBatchThatThrowsIsPostedAllTheSame() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect()) {
            OperationQueue queue = pair.client().queue();
            assertThatThrownBy(() -> queue.batch(() -> {
                start(() -> queue.send(bytes(1)));
                throw new ArithmeticException("from the task");
            })).isInstanceOf(ArithmeticException.class).hasMessage("from the task");
            pair.server().receive(Peers.TIMEOUT).close();
            // and the next is no longer part of a batch
            assertThat(queue.send(bytes(2))).isTrue();
            pair.server().receive(Peers.TIMEOUT).close();
        }
    }

    /** As many as there is room for, so that the ring ends within the batch: again and again at another place. */
    @Test
    void batchesOfAllSizes() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect();
                MemoryRegion region = pair.client().protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE)) {
            OperationQueue queue = pair.client().queue();
            Notes notes = new Notes();
            for (int size = 1; size <= 16; size++) {
                int count = size;
                queue.batch(() -> {
                    for (int i = 0; i < count; i++) {
                        int length = i;
                        start(() -> queue.send(region, 0, length, notes, length));
                    }
                });
                for (int i = 0; i < count; i++) {
                    try (Message message = pair.server().receive(Peers.TIMEOUT)) {
                        assertThat(message.length()).isEqualTo(i);
                    }
                    assertThat(notes.next()).isEqualTo(i);
                }
            }
        }
    }

    /** Something to start in a task that must not throw. */
    @FunctionalInterface
    private interface Start {
        boolean start() throws Exception;
    }

    private static void start(Start start) {
        try {
            assertThat(start.start()).isTrue();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void whatABatchCannotPostHasFailed() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect(TINY);
                MemoryRegion region = pair.client().protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE)) {
            for (int count = 1; count <= 2; count++) {
                Peers.Pair broken = peers.connect(TINY);
                Notes notes = new Notes();
                int operations = count;
                broken.client().queue().batch(() -> {
                    for (int i = 0; i < operations; i++) {
                        int context = i;
                        start(() -> broken.client().queue().send(region, 0, 8, notes, context));
                    }
                    start(() -> {
                        broken.client().queuePair().close();
                        return true;
                    });
                });
                for (int i = 0; i < operations; i++) {
                    assertThat(notes.next()).isEqualTo(i);
                }
                // over iWARP, the end of the connection may be seen first
                Class<?> expected = RdmaTestDevice.get().isIwarp() ? RdmaException.class : RdmaClosedException.class;
                assertThat(notes.failures).hasSize(operations)
                        .allSatisfy(failure -> assertThat(failure).isInstanceOf(expected));
                broken.close();
            }
        }
    }

    /** The end of the last operation, which is waited for, is that of all. */
    @Test
    void operationsWithoutAHandler() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect();
                MemoryRegion local = pair.client().protectionDomain().allocate(1000, AccessFlag.LOCAL_WRITE);
                MemoryRegion remote = pair.server().protectionDomain().allocate(1000, AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_WRITE)) {
            OperationQueue queue = pair.client().queue();
            RemoteMemory target = remote.remoteMemory();
            for (int i = 0; i < 1000; i++) {
                local.memory().set(ValueLayout.JAVA_BYTE, i, (byte) i);
                while (!queue.write(local, i, 1, target, i, null, 0)) {
                    Thread.onSpinWait();
                }
            }
            // the queue may still be full of writes
            while (!queue.send(local, 0, 10, null, 0)) {
                Thread.onSpinWait();
            }
            while (!queue.sendWithImmediate(local, 0, 11, 7, null, 0)) {
                Thread.onSpinWait();
            }
            while (!queue.writeWithImmediate(local, 0, 12, target, 0, 8, null, 0)) {
                Thread.onSpinWait();
            }
            pair.client().send(local, 0, 13, Peers.TIMEOUT);
            assertThat(remote.memory().toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(local.memory().toArray(ValueLayout.JAVA_BYTE));
            for (int length = 10; length <= 13; length++) {
                try (Message message = pair.server().receive(Peers.TIMEOUT)) {
                    assertThat(message.length()).isEqualTo(length);
                }
            }
            // One that fails ends the connection.
            RemoteMemory wrong = new RemoteMemory(target.address(), target.key() + 1, 1);
            assertThat(queue.write(local, 0, 1, wrong, 0, null, 0)).isTrue();
            assertThatThrownBy(() -> pair.client().receive(Peers.TIMEOUT)).isInstanceOf(WorkCompletionException.class)
                    .hasMessageContaining("REM_ACCESS_ERR");
            assertThatThrownBy(() -> queue.read(local, 0, 1, target, 0, null, 0))
                    .isInstanceOf(NullPointerException.class);
        }
    }

    @Test
    void futuresBeyondTheRoomWaitAndCompleteInOrder() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        try (Peers peers = new Peers(4, TINY); Peers.Pair pair = peers.connect(TINY);
                MemoryRegion region = pair.client().protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE)) {
            pair.client().send(new byte[1], Peers.TIMEOUT);
            Message blocking = pair.server().receive(Peers.TIMEOUT);
            List<CompletableFuture<Void>> futures = new ArrayList<>();
            BlockingQueue<Integer> order = new LinkedBlockingQueue<>();
            // What is copied belongs to this thread, and is changed and freed at once.
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment memory = arena.allocate(30);
                for (int i = 0; i < 30; i++) {
                    int number = i;
                    CompletableFuture<Void> future = i % 2 == 0 ? pair.client().async().send(region, 0, i)
                            : pair.client().async().send(memory.asSlice(0, i).fill((byte) i));
                    future.thenRun(() -> order.add(number));
                    futures.add(future);
                }
            }
            assertThat(futures).noneMatch(CompletableFuture::isDone);
            // What has no handler must not overtake them.
            assertThat(pair.client().queue().send(bytes(1))).isFalse();
            blocking.close();
            for (int i = 0; i < 30; i++) {
                try (Message message = pair.server().receive(Peers.TIMEOUT)) {
                    byte[] expected = new byte[i];
                    Arrays.fill(expected, (byte) (i % 2 == 0 ? 0 : i));
                    assertThat(message.toArray()).isEqualTo(expected);
                }
            }
            for (CompletableFuture<Void> future : futures) {
                Flavour.get(future);
            }
            while (order.size() < 30) {
                Thread.yield();
            }
            assertThat(order).containsExactlyElementsOf(IntStream.range(0, 30).boxed().toList());
        }
    }

    /** What cannot be copied is refused at once, and is not in the way of what follows. */
    @Test
    void aCopyOfMemoryThatIsGoneIsNotLeftWaiting() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        try (Peers peers = new Peers(4, TINY); Peers.Pair pair = peers.connect(TINY)) {
            MemorySegment gone;
            try (Arena arena = Arena.ofConfined()) {
                gone = arena.allocate(8);
            }
            pair.client().send(new byte[1], Peers.TIMEOUT);
            Message blocking = pair.server().receive(Peers.TIMEOUT);
            List<CompletableFuture<Void>> futures = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                futures.add(pair.client().async().send(bytes(i)));
            }
            assertThatThrownBy(() -> pair.client().async().send(gone)).isInstanceOf(IllegalStateException.class);
            futures.add(pair.client().async().send(bytes(20)));
            blocking.close();
            for (int i = 0; i <= 20; i++) {
                pair.server().receive(Peers.TIMEOUT).close();
            }
            for (CompletableFuture<Void> future : futures) {
                Flavour.get(future);
            }
            assertThat(pair.server().tryReceive()).isNull();
        }
    }

    @Test
    void manyAtomicFuturesShareTheBuffers() throws Exception {
        try (Peers peers = new Peers(4, TINY); Peers.Pair pair = peers.connect(TINY);
                MemoryRegion remote = pair.server().protectionDomain().allocate(8, AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_ATOMIC)) {
            List<CompletableFuture<Long>> futures = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                futures.add(pair.client().async().fetchAndAdd(remote.remoteMemory(), 1));
            }
            List<Long> values = new ArrayList<>();
            for (CompletableFuture<Long> future : futures) {
                values.add(Flavour.get(future));
            }
            assertThat(values).containsExactlyElementsOf(LongStream.range(0, 100).boxed().toList());
        }
    }

    /** The operation that is not permitted fails, all behind it with it, and what has not been started as well. */
    @Test
    void aFailureReachesAllThatFollows() throws Exception {
        RdmaTestDevice.assumeNotIwarp("what is sent or written succeeds before the peer has taken it");
        try (Peers peers = new Peers(4, TINY); Peers.Pair pair = peers.connect(TINY);
                MemoryRegion region = pair.client().protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE)) {
            Notes notes = new Notes();
            List<CompletableFuture<Void>> futures = new ArrayList<>();
            CompletableFuture<Void> good = pair.client().async().send(region, 0, 8);
            AtomicInteger started = new AtomicInteger(1);
            pair.client().queue().batch(() -> {
                start(() -> pair.client().queue().write(region, 0, 8, FAR, 0, notes, 1));
                try {
                    assertThat(pair.client().queue().send(region, 0, 8, notes, 2)).isTrue();
                    started.incrementAndGet();
                } catch (WorkCompletionException e) {
                    // While another thread hands over a batch, this one is handed over as it comes.
                    assertThat(e).hasMessageContaining("REM_ACCESS_ERR");
                }
                for (int i = 0; i < 10; i++) {
                    futures.add(pair.client().async().send(region, 0, 8));
                }
            });
            Flavour.get(good);
            for (int i = 1; i <= started.get(); i++) {
                assertThat(notes.next()).isEqualTo(i);
            }
            assertThat(notes.failures).hasSize(started.get()).allSatisfy(failure -> assertThat(failure)
                    .isInstanceOf(WorkCompletionException.class).hasMessageContaining("REM_ACCESS_ERR"));
            for (CompletableFuture<Void> future : futures) {
                assertThatThrownBy(() -> Flavour.get(future)).isInstanceOf(WorkCompletionException.class)
                        .hasMessageContaining("REM_ACCESS_ERR");
            }
        }
    }

    @Test
    void whatThePeerEndsByDisconnectingSaysSo() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        for (Flavour flavour : Flavour.values()) {
            try (Peers peers = new Peers(4, TINY); Peers.Pair pair = peers.connect(TINY);
                    MemoryRegion region = pair.client().protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE)) {
                flavour.send(pair.client(), region, 0, 8);
                Message blocking = pair.server().receive(Peers.TIMEOUT);
                try (Background<Void> sending = Background.run(() -> flavour.send(pair.client(), region, 0, 8))
                        .awaitAsleep()) {
                    pair.server().close();
                    assertThatThrownBy(sending::result).describedAs(flavour.toString())
                            .isInstanceOf(DisconnectedException.class).hasMessageStartingWith("ibv_post_send on ");
                }
                blocking.close();
            }
        }
    }

    @Test
    void whatACloseEndsSaysSo() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        for (Flavour flavour : Flavour.values()) {
            try (Peers peers = new Peers(4, TINY); Peers.Pair pair = peers.connect(TINY);
                    MemoryRegion region = pair.client().protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE)) {
                flavour.send(pair.client(), region, 0, 8);
                Message blocking = pair.server().receive(Peers.TIMEOUT);
                List<CompletableFuture<Void>> waiting = new ArrayList<>();
                try (Background<Void> sending = Background.run(() -> flavour.send(pair.client(), region, 0, 8))
                        .awaitAsleep()) {
                    for (int i = 0; i < 10; i++) {
                        waiting.add(pair.client().async().send(region, 0, 8));
                    }
                    pair.client().close();
                    assertThatThrownBy(sending::result).describedAs(flavour.toString())
                            .isInstanceOf(RdmaClosedException.class);
                }
                for (CompletableFuture<Void> future : waiting) {
                    assertThatThrownBy(() -> Flavour.get(future)).isInstanceOf(RdmaClosedException.class);
                }
                blocking.close();
            }
        }
    }

    @Test
    void aMessageIsFilledInWhereItIsSentFrom() throws Exception {
        try (Peers peers = new Peers(4, TINY); Peers.Pair pair = peers.connect(TINY)) {
            OutgoingMessage sent = pair.client().message(4, Peers.TIMEOUT);
            OutgoingMessage discarded = pair.client().message(64, Peers.TIMEOUT);
            assertThat(sent.length()).isEqualTo(4);
            assertThat(sent.memory().byteSize()).isEqualTo(4);
            assertThatThrownBy(() -> pair.client().message(1, SHORT)).isInstanceOf(RdmaTimeoutException.class);
            assertThat(discarded).hasToString("OutgoingMessage[64 bytes]");
            discarded.close();
            discarded.close();
            assertThat(discarded).hasToString("OutgoingMessage[64 bytes] (sent or closed)");
            assertThatThrownBy(discarded::memory).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> discarded.send(Peers.TIMEOUT)).isInstanceOf(IllegalStateException.class);
            sent.memory().set(ValueLayout.JAVA_INT, 0, 4711);
            sent.send(Peers.TIMEOUT);
            assertThatThrownBy(() -> sent.send(Peers.TIMEOUT)).isInstanceOf(IllegalStateException.class);
            sent.close();
            try (Message message = pair.server().receive(Peers.TIMEOUT)) {
                assertThat(value(message)).isEqualTo(4711);
                assertThat(message.length()).isEqualTo(4);
            }
            assertThatThrownBy(() -> pair.client().message(65, Peers.TIMEOUT))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> pair.client().message(-1, Peers.TIMEOUT))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    /** More than there are buffers: each of them comes back. */
    @Test
    void discardedAndSentMessagesGiveTheirBuffersBack() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect(TINY)) {
            for (int i = 0; i < 40; i++) {
                try (OutgoingMessage message = pair.client().message(i, Peers.TIMEOUT)) {
                    if (i % 3 == 0) {
                        message.send(Peers.TIMEOUT);
                        pair.server().receive(Peers.TIMEOUT).close();
                    }
                }
            }
        }
    }

    @Test
    void aFutureThatWaitsForABufferGoesOnWhenAMessageIsDiscarded() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect(TINY)) {
            OutgoingMessage first = pair.client().message(1, Peers.TIMEOUT);
            OutgoingMessage second = pair.client().message(1, Peers.TIMEOUT);
            CompletableFuture<Void> sending = pair.client().async().send(bytes(1));
            assertThat(sending).isNotDone();
            first.close();
            Flavour.get(sending);
            pair.server().receive(Peers.TIMEOUT).close();
            second.close();
        }
    }

    /** Only some of the copies raise a completion; the buffers of the others must come back all the same. */
    @Test
    void theBuffersOfCopiesComeBackWhileOthersAreBeingFilledIn() throws Exception {
        ConnectionSettings settings = ConnectionSettings.builder().sendBuffers(16).build();
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect(settings)) {
            for (int held = 13; held < 16; held++) {
                List<OutgoingMessage> messages = new ArrayList<>();
                for (int i = 0; i < held; i++) {
                    messages.add(pair.client().message(1, Peers.TIMEOUT));
                }
                for (int i = 0; i < 20; i++) {
                    pair.client().send(new byte[i], Peers.TIMEOUT);
                    pair.server().receive(Peers.TIMEOUT).close();
                }
                for (int i = 0; i < 20; i++) {
                    while (!pair.client().queue().send(bytes(1))) {
                        Thread.yield();
                    }
                    pair.server().receive(Peers.TIMEOUT).close();
                }
                for (int i = 0; i < 20; i++) {
                    Flavour.get(pair.client().async().send(bytes(1)));
                    pair.server().receive(Peers.TIMEOUT).close();
                }
                for (OutgoingMessage message : messages) {
                    message.close();
                }
            }
        }
    }

    @Test
    void countersAddUp() throws Exception {
        try (Peers peers = new Peers(); Peers.Pair pair = peers.connect();
                MemoryRegion region = pair.client().protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE);
                MemoryRegion remote = pair.server().protectionDomain().allocate(64, AccessFlag.LOCAL_WRITE,
                        AccessFlag.REMOTE_WRITE)) {
            pair.client().send(new byte[10], Peers.TIMEOUT);
            pair.client().send(region, 0, 20, Peers.TIMEOUT);
            pair.client().writeWithImmediate(region, 0, 30, remote.remoteMemory(), 1,
                    Peers.TIMEOUT);
            pair.client().write(region, 0, 40, remote.remoteMemory(), Peers.TIMEOUT);
            for (int i = 0; i < 3; i++) {
                pair.server().receive(Peers.TIMEOUT).close();
            }
            ConnectionCounters client = pair.client().counters();
            assertThat(client.messagesSent()).isEqualTo(2);
            assertThat(client.bytesSent()).isEqualTo(30);
            assertThat(client.operations()).isEqualTo(2);
            assertThat(client.operationBytes()).isEqualTo(70);
            assertThat(client.messagesReceived()).isZero();
            ConnectionCounters server = pair.server().counters();
            assertThat(server.messagesReceived()).isEqualTo(3);
            assertThat(server.bytesReceived()).isEqualTo(60);
            assertThat(server.messagesSent()).isZero();
            assertThat(server.receivesExhausted()).isZero();
            long waits = server.waits();
            assertThatThrownBy(() -> pair.server().receive(SHORT)).isInstanceOf(RdmaTimeoutException.class);
            assertThat(pair.server().counters().waits()).isGreaterThan(waits);
            assertThat(pair.server().counters().asleep()).isGreaterThan(server.asleep());
        }
    }

    @Test
    void anExhaustedReceiveQueueIsCounted() throws Exception {
        try (Peers peers = new Peers(4, TINY); Peers.Pair pair = peers.connect(TINY)) {
            for (int i = 1; i <= 3; i++) {
                pair.client().send(new byte[1], Peers.TIMEOUT);
                pair.server().receive(Peers.TIMEOUT).close();
                assertThat(pair.server().counters().receivesExhausted()).isEqualTo(i);
            }
        }
    }
}
