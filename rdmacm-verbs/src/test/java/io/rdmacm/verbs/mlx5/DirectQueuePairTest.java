// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.AsyncEvent;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.device.AsyncEventType;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.QueuePairTransitions;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.testing.Contest;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeMlx5;
import io.rdmacm.verbs.testing.Mlx5Twin;
import io.rdmacm.verbs.testing.WithFakeMlx5;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Writes and reads without a call into C: the card of the stand-in executes them. */
@WithFakeMlx5
@EnabledIfSystemProperty(named = "os.arch", matches = "amd64", disabledReason = "direct queues are for x86-64")
class DirectQueuePairTest {
    private static final int SENDS = 16;
    private static final int HALF = Mlx5End.MEMORY / 2;
    private static final int BLOCK = 64;
    private static final long LIMIT = Duration.ofMinutes(4).toNanos();

    @AfterEach
    void releaseTheCard() {
        Mlx5Twin.hold(false);
    }

    /** Makes a pair that is connected to itself. */
    private static DirectQueuePair connected(Mlx5End end) throws RdmaException {
        DirectQueuePair pair = end.own(DirectQueuePair.create(end.domain, SENDS, SENDS));
        connect(pair);
        return pair;
    }

    private static void connect(DirectQueuePair pair) throws RdmaException {
        pair.modify(QueuePairTransitions.Rc.resetToInit(Mlx5End.PORT, 0, AccessFlag.REMOTE_WRITE,
                AccessFlag.REMOTE_READ));
        pair.modify(QueuePairTransitions.Rc.initToRtr(Mlx5End.path(), 1024, pair.number(), 0, 1,
                RnrTimer.ofCode(12)));
        pair.modify(QueuePairTransitions.Rc.rtrToRts(0, AckTimeout.ofCode(14), 7, 7, 1));
    }

    private static List<Long> poll(DirectQueuePair pair, int count) throws WorkCompletionException {
        List<Long> all = new ArrayList<>();
        long[] ids = new long[5];
        long begin = System.nanoTime();
        while (all.size() < count) {
            assertThat(System.nanoTime() - begin).as("nanoseconds without all completions").isLessThan(LIMIT);
            int taken = pair.poll(ids);
            Arrays.stream(ids, 0, taken).forEach(all::add);
            Thread.onSpinWait();
        }
        return all;
    }

    @Test
    @Covers("mlx5dv_init_obj")
    void writesAndReadsMoveDataManyTimesRoundTheQueue() throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            DirectQueuePair pair = connected(end);
            pair.writeFrom(end.region, end.region.remoteKey());
            for (int i = 0; i < 100 * SENDS; i++) {
                int offset = i * 13 % 1000;
                int length = 1 + i % 700;
                end.fill(offset, length, i);
                pair.post(-i, offset, length, end.region.remoteAddress() + HALF + offset);
                assertThat(poll(pair, 1)).containsExactly((long) -i);
                assertThat(end.bytes(HALF + offset, length)).isEqualTo(end.bytes(offset, length));
            }
            pair.readInto(end.region, end.region.remoteKey());
            end.fill(HALF, 4000, 77);
            for (int i = 0; i < 10; i++) {
                pair.append(i, 400 * i, 400, end.region.remoteAddress() + HALF + 400 * i);
            }
            pair.ring();
            assertThat(poll(pair, 10)).containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
            assertThat(end.bytes(0, 4000)).isEqualTo(end.bytes(HALF, 4000));
        }
    }

    @Test
    void whatIsAppendedIsExecutedOnceItIsRung() throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            DirectQueuePair pair = connected(end);
            pair.writeFrom(end.region, end.region.remoteKey());
            pair.ring();
            pair.append(1, 0, 8, end.region.remoteAddress() + HALF);

            assertThat(pair.poll(new long[1])).isZero();
            assertThat(FakeMlx5.blocks(pair.number())).isZero();
            pair.post(2, 0, 8, end.region.remoteAddress() + HALF);
            assertThat(poll(pair, 2)).containsExactly(1L, 2L);
            assertThat(FakeMlx5.blocks(pair.number())).isEqualTo(2);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void entriesAndDoorbellsAreThoseOfLibmlx5(boolean write) throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            DirectQueuePair direct = connected(end);
            QueuePair byLibrary = end.own(end.domain.createQueuePair(QueuePairInitAttributes.builder()
                    .completionQueue(end.completions).maxSendRequests(SENDS).build()));
            Mlx5FullQueueTest.Base.connect(byLibrary);
            if (write) {
                direct.writeFrom(end.region, end.region.remoteKey());
            } else {
                direct.readInto(end.region, end.region.remoteKey());
            }
            Mlx5Twin.hold(true);
            try {
                SendRequest request = SendRequests.allocate(1, 1).get(0);
                for (int i = 0; i < SENDS / 2; i++) {
                    long remote = end.region.remoteAddress() + HALF + i;
                    direct.post(i, 5 * i, 100 + i, remote);
                    byLibrary.postSend((write ? request.rdmaWrite(remote, end.region.remoteKey())
                            : request.rdmaRead(remote, end.region.remoteKey())).data(end.region, 5 * i, 100 + i));

                    assertThat(entries(direct.number())).isEqualTo(entries(byLibrary.number()));
                    assertThat(view("doorbell record of queue pair", direct.number()))
                            .isNotEmpty().isEqualTo(view("doorbell record of queue pair", byLibrary.number()));
                    // 8 bytes of the entry are the doorbell: of the register nothing else is written
                    String entry = String.format("+%04x: ", i * BLOCK);
                    String doorbell = view("sends of queue pair", direct.number()).stream()
                            .filter(line -> line.startsWith(entry)).findFirst().orElseThrow()
                            .substring(entry.length()).replaceFirst("(\\S+ \\S+).*", "$1");
                    assertThat(Mlx5Twin.view()).anyMatch(line -> line.startsWith("registers of page")
                            && line.contains(": " + doorbell));
                }
            } finally {
                Mlx5Twin.hold(false);
            }
            assertThat(poll(direct, SENDS / 2)).hasSize(SENDS / 2);
            end.completions(SENDS / 2);
        }
    }

    /** The entries that were posted, without the number of the queue pair. */
    private static byte[] entries(int number) {
        byte[] bytes = FakeMlx5.entries(number, 0);
        for (int at = 0; at < bytes.length; at += BLOCK) {
            Arrays.fill(bytes, at + 4, at + 7, (byte) 0);
        }
        return bytes;
    }

    /** What the card sees of a queue pair, each line without its name. */
    private static List<String> view(String what, int number) {
        String name = String.format("%s %06x ", what, number);
        return Mlx5Twin.view().stream().filter(line -> line.startsWith(name))
                .map(line -> line.substring(name.length())).toList();
    }

    @Test
    void errorsAreTypedAndEndTheQueue() throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            DirectQueuePair pair = connected(end);
            pair.writeFrom(end.region, end.region.remoteKey());
            Mlx5Twin.hold(true);
            pair.post(1, 0, 8, end.region.remoteAddress());
            pair.post(2, 0, 8, end.region.remoteAddress() + Mlx5End.MEMORY);
            pair.post(3, 0, 8, end.region.remoteAddress());
            Mlx5Twin.hold(false);

            assertThat(poll(pair, 1)).containsExactly(1L);
            assertThatExceptionOfType(WorkCompletionException.class).isThrownBy(() -> poll(pair, 1))
                    .satisfies(e -> {
                        assertThat(e.completion().workRequestId()).isEqualTo(2);
                        assertThat(e.completion().status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
                        assertThat(e.completion().queuePairNumber()).isEqualTo(pair.number());
                    });
            assertThatExceptionOfType(WorkCompletionException.class).isThrownBy(() -> poll(pair, 1))
                    .satisfies(e -> {
                        assertThat(e.completion().workRequestId()).isEqualTo(3);
                        assertThat(e.completion().status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
                    });
            assertThat(pair.poll(new long[1])).isZero();
            assertThatIllegalStateException().isThrownBy(() -> pair.readInto(end.region, 1))
                    .withMessageContaining("not in RTS");
        }
    }

    @Test
    void aRegionOfAnotherDomainIsRefusedByTheCard() throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            MemoryRegion foreign = end.own(end.own(end.context.allocateProtectionDomain())
                    .allocate(64, AccessFlag.LOCAL_WRITE));
            DirectQueuePair pair = connected(end);
            pair.writeFrom(foreign, end.region.remoteKey());
            pair.post(1, 0, 64, end.region.remoteAddress());

            assertThatExceptionOfType(WorkCompletionException.class).isThrownBy(() -> poll(pair, 1))
                    .satisfies(e -> assertThat(e.completion().status()).isEqualTo(WorkCompletionStatus.LOC_PROT_ERR));
        }
    }

    @Test
    void aFullQueueRefusesAndLosesNothing() throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            DirectQueuePair pair = connected(end);
            pair.writeFrom(end.region, end.region.remoteKey());
            Mlx5Twin.hold(true);
            int posted = 0;
            try {
                while (true) {
                    pair.post(posted, 0, 8, end.region.remoteAddress() + HALF);
                    posted++;
                }
            } catch (RdmaException e) {
                assertThat(e.errno()).isEqualTo(Rdma.ENOMEM());
            } finally {
                Mlx5Twin.hold(false);
            }
            assertThat(posted).isGreaterThanOrEqualTo(SENDS);
            assertThat(poll(pair, posted)).hasSize(posted).isSorted();
            pair.post(-1, 0, 8, end.region.remoteAddress() + HALF);
            assertThat(poll(pair, 1)).containsExactly(-1L);
        }
    }

    @Test
    void badInputIsRefusedAndChangesNothing() throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            assertThatIllegalArgumentException().isThrownBy(() -> DirectQueuePair.create(end.domain, 0, 1));
            assertThatIllegalArgumentException().isThrownBy(() -> DirectQueuePair.create(end.domain, 8, 7));
            assertThatThrownBy(() -> DirectQueuePair.create(end.domain, 1 << 24, 1 << 24))
                    .isInstanceOf(RdmaException.class);
            DirectQueuePair early = end.own(DirectQueuePair.create(end.domain, 1, 1));
            assertThatIllegalStateException().isThrownBy(() -> early.writeFrom(end.region, 1))
                    .withMessageContaining("RESET, not in RTS");
            DirectQueuePair pair = connected(end);
            assertThatIllegalStateException().isThrownBy(() -> pair.post(1, 0, 8, 0))
                    .withMessageContaining("neither writeFrom nor readInto");
            MemoryRegion closed = end.domain.allocate(64);
            closed.close();
            pair.writeFrom(end.region, end.region.remoteKey());
            assertThatIllegalStateException().isThrownBy(() -> pair.writeFrom(closed, 1));
            assertThatIllegalStateException().isThrownBy(() -> pair.post(1, 0, 8, 0))
                    .withMessageContaining("neither writeFrom nor readInto");
            pair.writeFrom(end.region, end.region.remoteKey());
            long target = end.region.remoteAddress() + HALF;
            assertThatIllegalArgumentException().isThrownBy(() -> pair.post(1, 0, 0, target));
            for (long[] range : new long[][] {{-1, 1}, {0, -1}, {Mlx5End.MEMORY, 1}, {Long.MAX_VALUE, 1},
                    {Mlx5End.MEMORY - 1, 2}, {0, Integer.MIN_VALUE}}) {
                assertThatThrownBy(() -> pair.append(1, range[0], (int) range[1], target))
                        .isInstanceOf(IndexOutOfBoundsException.class);
            }
            assertThatIllegalArgumentException().isThrownBy(() -> pair.modify(QueuePairAttributes.builder()
                    .state(QueuePairState.RESET).build())).withMessageContaining("close this queue pair");
            assertThatThrownBy(() -> pair.poll(null)).isInstanceOf(NullPointerException.class);
            Mlx5Twin.hold(true);
            pair.post(2, Mlx5End.MEMORY - 1, 1, target);
            assertThatIllegalStateException().isThrownBy(() -> pair.readInto(end.region, 1))
                    .withMessageContaining("requests are outstanding: 1");
            Mlx5Twin.hold(false);
            assertThat(poll(pair, 1)).containsExactly(2L);
        }
    }

    @Test
    void itsQueuesAreOfNoUseToOthers() throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            DirectQueuePair pair = connected(end);
            FakeMlx5.raiseForNewest(AsyncEventType.CQ_ERR);
            try (AsyncEvent event = end.context.getAsyncEvent(Duration.ofMinutes(1))) {
                CompletionQueue queue = event.completionQueue();
                for (ThrowingUse use : List.<ThrowingUse>of(() -> queue.resize(4 * SENDS),
                        () -> queue.poll(WorkCompletions.allocate(1)))) {
                    assertThatIllegalStateException().isThrownBy(use::run)
                            .withMessage(queue + " is read directly by a DirectQueuePair");
                }
                assertThatIllegalStateException().isThrownBy(queue::close).withMessageContaining("DirectQueuePair");
            }
            FakeMlx5.raiseForNewest(AsyncEventType.COMM_EST);
            try (AsyncEvent event = end.context.getAsyncEvent(Duration.ofMinutes(1))) {
                QueuePair queues = event.queuePair();
                SendRequests sends = SendRequests.allocate(1, 1);
                ReceiveRequests receives = ReceiveRequests.allocate(1, 1);
                QueuePairAttributes reset = QueuePairAttributes.builder().state(QueuePairState.RESET).build();
                for (ThrowingUse use : List.<ThrowingUse>of(() -> queues.postSend(sends.get(0)),
                        () -> queues.postSend(sends, 0, 1), () -> queues.postReceive(receives.get(0)),
                        () -> queues.postReceive(receives, 0, 1), queues::startBatch, () -> queues.modify(reset))) {
                    assertThatIllegalStateException().isThrownBy(use::run)
                            .withMessage(queues + " is used directly by a DirectQueuePair");
                }
            }
            pair.writeFrom(end.region, end.region.remoteKey());
            pair.post(1, 0, 8, end.region.remoteAddress() + HALF);
            assertThat(poll(pair, 1)).containsExactly(1L);
        }
    }

    @Test
    void whatItUsesCannotBeClosedBeforeIt() throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            MemoryRegion one = end.own(end.domain.allocate(64, AccessFlag.LOCAL_WRITE));
            MemoryRegion other = end.own(end.domain.allocate(64, AccessFlag.LOCAL_WRITE));
            DirectQueuePair pair = connected(end);
            pair.writeFrom(one, 1);
            assertThatIllegalStateException().isThrownBy(one::close).withMessageContaining("DirectQueuePair");
            pair.readInto(other, 1);
            one.close();
            assertThatIllegalStateException().isThrownBy(other::close).withMessageContaining("DirectQueuePair");
            assertThatIllegalStateException().isThrownBy(end.domain::close);
            pair.close();
            pair.close();
            assertThat(pair).hasToString(pair.toString()).asString().endsWith(" (closed)");
            for (ThrowingUse use : List.<ThrowingUse>of(pair::number, () -> pair.writeFrom(other, 1),
                    () -> pair.readInto(other, 1), () -> pair.post(1, 0, 8, 0), () -> pair.append(1, 0, 8, 0),
                    pair::ring, () -> pair.poll(new long[1]),
                    () -> pair.modify(QueuePairTransitions.Rc.resetToInit(Mlx5End.PORT, 0)))) {
                assertThatIllegalStateException().isThrownBy(use::run).withMessageContaining("is closed");
            }
        }
    }

    @FunctionalInterface
    private interface ThrowingUse {
        void run() throws RdmaException;
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void threadsShareItWhileEverythingIsClosed(long seed) throws Exception {
        Random random = new Random(seed);
        AtomicLong completed = new AtomicLong();
        for (int round = 0; round < 20; round++) {
            try (Mlx5End end = new Mlx5End()) {
                DirectQueuePair pair = connected(end);
                pair.writeFrom(end.region, end.region.remoteKey());
                long target = end.region.remoteAddress() + HALF;
                long[] ids = new long[4];
                Contest.run(random, Set.of(Rdma.ENOMEM()), List.of(pair, end.region, end.completions, end.channel,
                        end.domain, end.context), List.of(() -> pair.post(1, 0, 64, target), () -> {
                            pair.append(2, 64, 64, target);
                            pair.ring();
                        }, () -> completed.addAndGet(pair.poll(ids)), () -> pair.poll(new long[2])));
            }
        }
        assertThat(completed).hasPositiveValue();
    }
}
