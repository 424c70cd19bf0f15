// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.bindings.ibv_wc;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.internal.life.FailingSteps;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.Test;

/** To whom a loop hands completions. */
@WithFakeVerbs
class LoopTest {
    private static final int NUMBER = 7;

    /** Notes what it is handed. */
    private static final class Noting extends Loop.Member {
        private final List<Long> ids = new ArrayList<>();

        @Override
        protected void completed(WorkCompletions completion) {
            ids.add(completion.workRequestId());
        }

        @Override
        protected void callHandlers() {
            // has none
        }

        @Override
        protected void failed(Throwable reason) {
            throw new AssertionError(reason);
        }
    }

    private static void complete(CompletionQueue queue, long id) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment completion = ibv_wc.allocate(arena);
            ibv_wc.wr_id(completion, id);
            ibv_wc.qp_num(completion, NUMBER);
            FakeVerbs.complete(queue.handle(), completion);
        }
    }

    /** A device may give the number of a destroyed queue pair away before its completions have been taken. */
    @Test
    void whatIsLeftOfAQueuePairIsNotHandedToTheNextOneWithItsNumber() throws Exception {
        try (FakeStack stack = new FakeStack()) {
            Loop loop = new Loop(stack.context(), 64, true);
            CompletionQueue queue = loop.reserve(8, 8);
            Noting former = new Noting();
            Noting next = new Noting();
            loop.add(NUMBER, former);
            complete(queue, 1);

            loop.add(NUMBER, next);
            loop.remove(NUMBER, former);
            complete(queue, 2);
            loop.remove(NUMBER, next);

            assertThat(former.ids).containsExactly(1L);
            assertThat(next.ids).containsExactly(2L);
            loop.release(queue, 8);
            loop.close();
        }
    }

    @Test
    void wantOfMemoryLeavesNeitherChannelNorQueue() throws Exception {
        try (FakeStack stack = new FakeStack()) {
            FailingSteps.failAtEach(() -> new Loop(stack.context(), 64, true)::close, Lifetime::openObjects);
            Loop loop = new Loop(stack.context(), 64, true);
            for (int queues = 1; queues < 4; queues++) {
                // No room is left for the next one.
                long before = Lifetime.openObjects();
                FailingSteps.failNext(new OutOfMemoryError("for a test"), () -> assertThatThrownBy(
                        () -> loop.reserve(64, 64)).isInstanceOf(OutOfMemoryError.class));
                assertThat(Lifetime.openObjects()).isEqualTo(before);
                assertThat(loop.reserve(64, 64).capacity()).isGreaterThanOrEqualTo(64);
            }
            loop.close();
        }
    }

    /** The receives of a shared queue, for which there is always room, are no sign of a member. */
    @Test
    void roomIsReservedUntilItIsReleased() throws Exception {
        try (FakeStack stack = new FakeStack()) {
            Loop loop = new Loop(stack.context(), 64, true);
            loop.promise(16);
            assertThat(loop.isReserved()).isFalse();
            CompletionQueue queue = loop.reserve(8, 8);
            assertThat(loop.isReserved()).isTrue();
            loop.release(queue, 8);
            assertThat(loop.isReserved()).isFalse();
            loop.close();
        }
    }

    /** Nobody would call the handlers of a member that comes after the end of the thread. */
    @Test
    void aLoopThatWasStoppedTakesNobody() throws Exception {
        try (FakeStack stack = new FakeStack()) {
            Loop loop = new Loop(stack.context(), 64, false);
            loop.stop();
            assertThatThrownBy(() -> loop.add(NUMBER, new Noting())).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed");
            loop.close();
        }
    }
}
