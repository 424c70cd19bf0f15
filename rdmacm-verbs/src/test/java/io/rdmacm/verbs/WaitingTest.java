// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.forked.CloseWithBusyCarriers;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.ForkedJvm;
import io.rdmacm.verbs.testing.ReplacedField;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Waiting for completions ends by an event, the time, an interrupt or a close, and loses nothing. */
@WithFakeVerbs
class WaitingTest {
    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration SHORT = Duration.ofMillis(20);

    private FakeStack stack;
    private CompletionChannel channel;
    private CompletionQueue first;
    private CompletionQueue second;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        channel = stack.channel();
        first = stack.context().createCompletionQueue(16, channel);
        second = stack.context().createCompletionQueue(16, channel);
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        first.close();
        second.close();
        stack.close();
    }

    /** Waits for one completion; gives its id. */
    private static Background<Long> await(CompletionQueue queue) {
        WorkCompletions completions = WorkCompletions.allocate(1);
        return Background.call(() -> {
            assertThat(queue.await(completions, LONG)).isEqualTo(1);
            return completions.at(0).workRequestId();
        });
    }

    /** The thread that waits for the file. */
    private static <T> Background<T> leading(Background<T> thread) throws ClassNotFoundException {
        return thread.awaitInside(Class.forName("io.rdmacm.verbs.internal.ffi.Libc"), "poll");
    }

    /** A thread that waits for the leader. */
    private static <T> Background<T> following(Background<T> thread) throws ClassNotFoundException {
        return thread.awaitInside(Class.forName("io.rdmacm.verbs.internal.wait.EventSource"), "next").awaitWaiting();
    }

    @Test
    void nothingIsClosedLaterForAVirtualThreadThatCannotRun() throws IOException, InterruptedException {
        ForkedJvm.Result result = ForkedJvm.of(CloseWithBusyCarriers.class).nativeAccess()
                .property("jdk.virtualThreadScheduler.parallelism", "1")
                .property("jdk.virtualThreadScheduler.maxPoolSize", "1").run();
        assertThat(result.status()).describedAs(result.errors()).isZero();
        assertThat(result.output().lines()).containsExactly("the queue is closed", "the channel is closed",
                "the context is closed", "called later: []");
    }

    @Test
    void aQueueClosesAlthoughItsEventsCannotBeRead() throws RdmaException {
        // what the kernel says when the device was removed
        FakeVerbs.fail("ibv_get_cq_event", Rdma.EIO());
        first.close();
        assertThat(FakeVerbs.calls("ibv_destroy_cq")).hasSize(1);
    }

    @Test
    void theTimeRunsOut() throws InterruptedException {
        for (Duration timeout : List.of(Duration.ZERO, SHORT)) {
            assertThatExceptionOfType(RdmaTimeoutException.class).isThrownBy(() -> channel.getEvent(timeout))
                    .withMessage("no completion event within " + timeout);
            assertThatExceptionOfType(RdmaTimeoutException.class)
                    .isThrownBy(() -> first.await(WorkCompletions.allocate(1), timeout));
        }
        assertThatIllegalArgumentException().isThrownBy(() -> channel.getEvent(Duration.ofMillis(-1)));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> first.await(WorkCompletions.allocate(1), Duration.ofMillis(-1)));
    }

    @Test
    void anEventThatIsThereIsTakenWithoutWaiting() throws RdmaException, InterruptedException {
        FakeVerbs.raise(second.handle());
        FakeVerbs.raise(first.handle());

        assertThat(channel.getEvent(Duration.ZERO)).isSameAs(second);
        assertThat(channel.pollEvent()).containsSame(first);
        assertThat(channel.pollEvent()).isEmpty();
        assertThat(FakeVerbs.calls("ibv_ack_cq_events")).extracting(call -> call.arguments().subList(0, 2))
                .containsExactly(List.of(second.handle().address(), 1L), List.of(first.handle().address(), 1L));
    }

    @Test
    void anEventThatThereIsNoMemoryForIsReadLater() throws Exception {
        FakeVerbs.raise(first.handle());
        try (var _ = new ReplacedField(channel, "queues", new NoMemory())) {
            assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(channel::pollEvent);
        }
        assertThat(channel.pollEvent()).containsSame(first);
        assertThat(channel.pollEvent()).isEmpty();
        assertThat(FakeVerbs.calls("ibv_ack_cq_events")).hasSize(1);
    }

    /** Nothing is found there. */
    private static final class NoMemory extends HashMap<Long, CompletionQueue> {
        private static final long serialVersionUID = 1L;

        @Override
        public CompletionQueue get(Object address) {
            throw new OutOfMemoryError("in a test");
        }
    }

    @Test
    void anEventEndsTheWait() throws Exception {
        try (Background<CompletionQueue> waiter = Background.call(() -> channel.getEvent(LONG))) {
            leading(waiter);
            FakeVerbs.raise(first.handle());
            assertThat(waiter.result()).isSameAs(first);
        }
    }

    @Test
    void aFailedReadIsAnException() {
        FakeVerbs.fail("ibv_get_cq_event", Rdma.EIO());
        assertThatThrownBy(() -> channel.getEvent(LONG)).isInstanceOf(RdmaException.class)
                .hasMessageStartingWith("ibv_get_cq_event: EIO");
    }

    @Test
    void completionsThatAreThereAreTakenWithoutArming() throws RdmaException, InterruptedException {
        FakeVerbs.complete(first.handle(), 5);
        FakeVerbs.complete(first.handle(), 6);
        WorkCompletions completions = WorkCompletions.allocate(8);

        assertThat(first.await(completions, Duration.ZERO)).isEqualTo(2);

        assertThat(completions.at(1).workRequestId()).isEqualTo(6);
        assertThat(FakeVerbs.functions()).containsExactly("poll_cq");
    }

    @Test
    void aCompletionEndsTheWait() throws Exception {
        try (Background<Long> waiter = await(first)) {
            leading(waiter);
            FakeVerbs.complete(first.handle(), 42);
            assertThat(waiter.result()).isEqualTo(42);
        }
        assertThat(FakeVerbs.functions()).startsWith("poll_cq", "req_notify_cq", "poll_cq", "ibv_get_cq_event")
                .endsWith("ibv_ack_cq_events", "poll_cq");
    }

    @Test
    void anEventWithoutACompletionDoesNot() throws Exception {
        try (Background<Long> waiter = await(first)) {
            leading(waiter);
            FakeVerbs.raise(first.handle());
            FakeVerbs.raise(first.handle());
            while (FakeVerbs.calls("ibv_ack_cq_events").size() < 2) {
                Thread.yield();
            }
            assertThat(leading(waiter).isDone()).isFalse();
            FakeVerbs.complete(first.handle(), 1);
            assertThat(waiter.result()).isEqualTo(1);
        }
    }

    @Test
    void anInterruptEndsTheWaitAndLosesNothing() throws Exception {
        try (Background<CompletionQueue> waiter = Background.call(() -> channel.getEvent(LONG))) {
            leading(waiter).interrupt();
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(waiter::result);
        }
        try (Background<Long> waiter = await(first)) {
            leading(waiter).interrupt();
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(waiter::result);
        }
        FakeVerbs.complete(first.handle(), 9);
        assertThat(await(first).result()).isEqualTo(9);
        // The queue was armed when it was interrupted.
        assertThat(channel.pollEvent()).containsSame(first);
    }

    @Test
    void anInterruptBeforeTheWaitEndsItToo() {
        Thread.currentThread().interrupt();
        assertThatExceptionOfType(InterruptedException.class).isThrownBy(() -> channel.getEvent(LONG));
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }

    @Test
    void closingTheQueueWakesThoseWhoWaitForIt() throws Exception {
        try (Background<Long> leader = leading(await(first)); Background<Long> same = await(first)) {
            same.awaitInside(CompletionQueue.class, "await").awaitWaiting();
            String name = first.toString();

            first.close();

            for (Background<Long> waiter : List.of(leader, same)) {
                assertThatThrownBy(waiter::result).isInstanceOf(RdmaClosedException.class)
                        .hasMessage("ibv_get_cq_event: the " + name + " was closed");
            }
        }
        assertThat(FakeVerbs.calls("ibv_destroy_cq")).hasSize(1);
    }

    @Test
    void closingTheQueueOfAFollowerWakesIt() throws Exception {
        try (Background<Long> leader = leading(await(first)); Background<Long> follower = following(await(second))) {
            second.close();
            assertThatThrownBy(follower::result).isInstanceOf(RdmaClosedException.class);

            FakeVerbs.complete(first.handle(), 3);
            assertThat(leader.result()).isEqualTo(3);
        }
    }

    @Test
    void closingTheChannelWakesThoseWhoWaitForIt() throws Exception {
        CompletionChannel other = stack.context().createCompletionChannel();
        try (Background<CompletionQueue> leader = leading(Background.call(() -> other.getEvent(LONG)));
                Background<CompletionQueue> follower = following(Background.call(() -> other.getEvent(LONG)))) {
            String name = other.toString();

            other.close();

            for (Background<CompletionQueue> waiter : List.of(leader, follower)) {
                assertThatThrownBy(waiter::result).isInstanceOf(RdmaClosedException.class)
                        .hasMessage("ibv_get_cq_event: the " + name + " was closed");
            }
        }
        assertThatIllegalStateException().isThrownBy(() -> other.getEvent(LONG));
    }

    @Test
    void aFailedCloseOfTheChannelLetsOthersWaitAgain() throws Exception {
        try (CompletionChannel other = stack.context().createCompletionChannel()) {
            FakeVerbs.fail("ibv_destroy_comp_channel", Rdma.EBUSY());
            assertThatExceptionOfType(RdmaException.class).isThrownBy(other::close);
            assertThatExceptionOfType(RdmaTimeoutException.class).isThrownBy(() -> other.getEvent(SHORT));
        }
    }

    @Test
    void everyWaiterGetsTheEventsOfItsOwnQueue() throws Exception {
        List<CompletionQueue> queues = new ArrayList<>();
        List<Background<Long>> waiters = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            queues.add(stack.context().createCompletionQueue(1, channel));
            waiters.add(await(queues.get(i)));
        }
        for (Background<Long> waiter : waiters) {
            waiter.awaitInside(CompletionChannel.class, "awaitEvent");
        }
        for (int i = 5; i >= 0; i--) {
            FakeVerbs.complete(queues.get(i).handle(), 100 + i);
            assertThat(waiters.get(i).result()).isEqualTo(100 + i);
        }
        for (CompletionQueue queue : queues) {
            queue.close();
        }
    }

    @Test
    void anEventOfAFollowerIsPassedOnByTheLeader() throws Exception {
        try (Background<Long> leader = leading(await(first)); Background<Long> follower = following(await(second))) {
            FakeVerbs.complete(second.handle(), 22);
            assertThat(follower.result()).isEqualTo(22);
            assertThat(leader.isDone()).isFalse();

            FakeVerbs.complete(first.handle(), 11);
            assertThat(leader.result()).isEqualTo(11);
        }
    }

    @Test
    void aFollowerLeadsWhenTheLeaderIsGone() throws Exception {
        try (Background<Long> leader = leading(await(first)); Background<Long> follower = following(await(second))) {
            leader.interrupt();
            assertThatExceptionOfType(InterruptedException.class).isThrownBy(leader::result);

            leading(follower);
            FakeVerbs.complete(second.handle(), 22);
            assertThat(follower.result()).isEqualTo(22);
        }
    }

    @Test
    void aForeignThreadThatPollsLeavesTheWaitersTheirs() throws Exception {
        try (Background<Long> leader = leading(await(first))) {
            FakeVerbs.raise(second.handle());
            // Either the leader has read it and kept it, or this thread reads it.
            assertThat(channel.pollEvent()).containsSame(second);
            assertThat(leader.isDone()).isFalse();

            FakeVerbs.complete(first.handle(), 7);
            assertThat(leader.result()).isEqualTo(7);
        }
    }

    @Test
    void anEventThatAForeignThreadReadsAndDoesNotTakeReachesTheLeader() throws Exception {
        CompletionQueue third = stack.context().createCompletionQueue(1, channel);
        try (Background<Long> leader = leading(await(first))) {
            // Closing a queue reads all events: that of the first has to be passed on.
            FakeVerbs.raise(third.handle());
            FakeVerbs.complete(first.handle(), 7);
            third.close();
            assertThat(leader.result()).isEqualTo(7);
        }
    }

    @Test
    void closingAQueueAcknowledgesItsEventsAndKeepsThoseOfOthers() throws RdmaException {
        FakeVerbs.raise(first.handle());
        FakeVerbs.raise(second.handle());
        FakeVerbs.raise(first.handle());

        first.close();

        assertThat(FakeVerbs.calls("ibv_ack_cq_events")).hasSize(3);
        assertThat(channel.pollEvent()).containsSame(second);
        assertThat(channel.pollEvent()).isEmpty();
    }

    @Test
    void aQueueWithoutAChannelCanOnlyBePolled() throws RdmaException {
        try (CompletionQueue polled = stack.context().createCompletionQueue(1)) {
            assertThatIllegalStateException().isThrownBy(() -> polled.await(WorkCompletions.allocate(1), LONG))
                    .withMessageContaining("without a completion channel");
            FakeVerbs.complete(polled.handle(), 1);
            assertThat(polled.poll(WorkCompletions.allocate(1))).isEqualTo(1);
        }
    }

    @Test
    void theFileIsForOtherEventLoopsAndNeverBlocks() throws IOException {
        String flags = Files.readAllLines(Path.of("/proc/self/fdinfo/" + channel.fd())).stream()
                .filter(line -> line.startsWith("flags:")).findFirst().orElseThrow().split("\\s+")[1];
        assertThat(Integer.parseInt(flags, 8) & 0x800).describedAs("O_NONBLOCK").isNotZero();
    }

    @Test
    void nothingIsLostWhenManyWaitAndManyComplete() throws Exception {
        int each = 300;
        try (Background<Long> one = sum(first, each); Background<Long> two = sum(second, each);
                Background<Void> producer = Background.run(() -> produce(each))) {
            producer.result();
            assertThat(one.result()).isEqualTo((long) each * (each - 1) / 2);
            assertThat(two.result()).isEqualTo((long) each * (each - 1) / 2);
        }
    }

    private Background<Long> sum(CompletionQueue queue, int count) {
        WorkCompletions completions = WorkCompletions.allocate(3);
        return Background.call(() -> {
            long sum = 0;
            for (int left = count; left > 0;) {
                left -= queue.await(completions, LONG);
                while (completions.next()) {
                    sum += completions.workRequestId();
                }
            }
            return sum;
        });
    }

    private void produce(int each) {
        for (int i = 0; i < each; i++) {
            FakeVerbs.complete(first.handle(), i);
            FakeVerbs.complete(second.handle(), i);
        }
    }
}
