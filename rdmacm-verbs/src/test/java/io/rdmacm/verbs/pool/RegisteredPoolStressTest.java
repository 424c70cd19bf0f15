// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several threads that take slices, mark them as theirs, and give them back, some of them twice. */
@WithFakeVerbs
class RegisteredPoolStressTest {
    private static final VarHandle OWNER = ValueLayout.JAVA_LONG.varHandle();
    private static final int THREADS = 4;
    private static final int ROUNDS = 500_000;
    private static final int DUELS = 2_000;
    private static final int EACH = 20;
    private static final int LEAD = 50;
    private static final int TAKES = 2000;

    private FakeStack stack;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        FakeVerbs.recording(false);
    }

    @AfterEach
    void close() throws RdmaException {
        stack.close();
    }

    /** Changes the mark of a slice; no assertion of AssertJ, because that would take longer than all the rest. */
    private static void mark(RegisteredSlice slice, long from, long to) {
        if (!OWNER.compareAndSet(slice.memory(), 0L, from, to)) {
            throw new AssertionError("owned twice");
        }
    }

    private static void giveBack(RegisteredSlice slice, long owner) {
        mark(slice, owner, 0);
        slice.close();
    }

    /** Takes up to some slices at once, and closes each again when others may have it. */
    private static void use(RegisteredPool pool, long owner, int most) throws RdmaException {
        SplittableRandom random = new SplittableRandom(owner);
        RegisteredSlice[] mine = new RegisteredSlice[most];
        RegisteredSlice[] stale = new RegisteredSlice[most];
        for (int i = 0; i < ROUNDS; i++) {
            int place = random.nextInt(most);
            if (mine[place] != null) {
                giveBack(mine[place], owner);
                stale[place] = mine[place];
                mine[place] = null;
            } else {
                mine[place] = (i & 1) == 0 ? pool.take() : pool.tryTake();
                if (mine[place] != null) {
                    mark(mine[place], 0, owner);
                }
                if (stale[place] != null) {
                    stale[place].close();
                }
            }
        }
        for (RegisteredSlice slice : mine) {
            if (slice != null) {
                giveBack(slice, owner);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void noSliceHasTwoOwners(int most) throws Exception {
        try (RegisteredPool pool = RegisteredPool.builder(stack.domain()).sliceSize(64).firstSlab(1).maxSlab(4)
                .build()) {
            List<Background<Void>> threads = new ArrayList<>();
            for (long owner = 1; owner <= THREADS; owner++) {
                long number = owner;
                threads.add(Background.run(() -> use(pool, number, most)));
            }
            for (Background<Void> thread : threads) {
                thread.result();
            }
            assertThat(pool.taken()).isZero();
            assertThat(pool.free() * 64L).isEqualTo(pool.registeredBytes());
            // each of them is still there, and once
            List<RegisteredSlice> all = new ArrayList<>();
            for (RegisteredSlice slice = pool.tryTake(); slice != null; slice = pool.tryTake()) {
                mark(slice, 0, THREADS + 1);
                all.add(slice);
            }
            assertThat(all.size() * 64L).isEqualTo(pool.registeredBytes());
            all.forEach(RegisteredSlice::close);
        }
    }

    /** Two threads that do something at the same moment, again and again. */
    private static final class Duel {
        private static final int SPINS = 500;

        private final AtomicInteger arrived = new AtomicInteger();
        private volatile boolean failed;

        /** What a thread does in a round. */
        @FunctionalInterface
        interface Act {
            void in(int round) throws Exception;
        }

        /** Runs rounds; the check follows each of them, in the first thread. */
        void run(int rounds, Act first, Act second, Act check) throws Exception {
            try (Background<Void> other = Background.run(() -> rounds(rounds, second, round -> { }))) {
                rounds(rounds, first, check);
                other.result();
            }
        }

        private void rounds(int rounds, Act act, Act check) throws Exception {
            try {
                for (int round = 0; round < rounds; round++) {
                    meet();
                    act.in(round);
                    meet();
                    check.in(round);
                }
            } catch (Throwable t) {
                failed = true;
                throw t;
            }
        }

        private void meet() {
            int number = arrived.incrementAndGet();
            int both = (number + 1) / 2 * 2;
            for (int spins = 1; arrived.get() < both; spins++) {
                if (failed) {
                    throw new IllegalStateException("the other thread has failed");
                }
                if (spins % SPINS == 0) {
                    Thread.yield();
                }
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void aSliceThatTwoCloseIsGivenBackOnce() throws Exception {
        int all = DUELS * EACH;
        try (RegisteredPool pool = RegisteredPool.builder(stack.domain()).sliceSize(64).firstSlab(all).build()) {
            RegisteredSlice[] slices = new RegisteredSlice[all];
            for (int i = 0; i < slices.length; i++) {
                slices[i] = pool.take();
            }
            Duel.Act close = round -> {
                for (int i = round * EACH; i < (round + 1) * EACH; i++) {
                    slices[i].close();
                }
            };
            new Duel().run(DUELS, close, close, round -> { });
            assertThat(pool.free()).isEqualTo(all);
            for (int i = 0; i < slices.length; i++) {
                slices[i] = pool.tryTake();
                mark(slices[i], 0, 1);
            }
            assertThat(pool.tryTake()).isNull();
            for (RegisteredSlice slice : slices) {
                slice.close();
            }
        }
    }

    @Test
    void eitherATakeOrACloseWins() throws Exception {
        RegisteredPool[] pools = new RegisteredPool[DUELS];
        for (int i = 0; i < pools.length; i++) {
            pools[i] = RegisteredPool.builder(stack.domain()).sliceSize(64).firstSlab(1).build();
        }
        AtomicReference<RegisteredSlice> taken = new AtomicReference<>();
        AtomicBoolean closed = new AtomicBoolean();
        new Duel().run(pools.length, round -> {
            taken.set(null);
            // a close takes longer to come to the point
            for (int i = round % LEAD; i > 0; i--) {
                Thread.onSpinWait();
            }
            try {
                taken.set(pools[round].take());
            } catch (IllegalStateException e) {
                assertThat(e).hasMessage("RegisteredPool is closed");
            }
        }, round -> {
            closed.set(false);
            try {
                pools[round].close();
                closed.set(true);
            } catch (IllegalStateException e) {
                assertThat(e).hasMessageContaining("1 of its 1 slices are taken");
            }
        }, round -> {
            assertThat(closed.get()).isEqualTo(taken.get() == null).isEqualTo(!pools[round].isOpen());
            if (taken.get() != null) {
                assertThat(taken.get().region().isOpen()).isTrue();
                taken.get().close();
                pools[round].close();
            }
        });
    }

    /** The close happens between two takes: before it all slices work, after it none is given out. */
    @RepeatedTest(10)
    void aCloseIsEitherRefusedOrFinal() throws Exception {
        RegisteredPool pool = RegisteredPool.builder(stack.domain()).sliceSize(64).firstSlab(1).maxSlab(2).build();
        AtomicBoolean closed = new AtomicBoolean();
        CyclicBarrier together = new CyclicBarrier(THREADS);
        List<Background<Void>> threads = new ArrayList<>();
        for (int i = 1; i < THREADS; i++) {
            threads.add(Background.run(() -> {
                together.await();
                try {
                    for (int take = 0; take < TAKES; take++) {
                        boolean late = closed.get();
                        try (RegisteredSlice slice = pool.take()) {
                            assertThat(late).describedAs("taken after the close").isFalse();
                            MemorySegment memory = slice.memory();
                            memory.set(ValueLayout.JAVA_LONG, 0, 1);
                            assertThat(slice.region().isOpen()).isTrue();
                            assertThat(closed.get()).describedAs("closed while a slice was out").isFalse();
                        }
                        // most of the time, all slices are free
                        Thread.yield();
                    }
                } catch (IllegalStateException e) {
                    assertThat(e).hasMessage("RegisteredPool is closed");
                }
            }));
        }
        together.await();
        while (pool.isOpen()) {
            try {
                pool.close();
                closed.set(true);
            } catch (IllegalStateException e) {
                assertThat(e).hasMessageContaining("slices are taken, close them first");
            }
        }
        for (Background<Void> thread : threads) {
            thread.result();
        }
        pool.close();
    }
}
