// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.MemoryWindow;
import io.rdmacm.verbs.MemoryWindowBinding;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.LostMemory;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.MemoryWindowType;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a pool hands out, how it grows, what it refuses, and when it can be closed. */
@WithFakeVerbs
class RegisteredPoolTest {
    private FakeStack stack;
    private ProtectionDomain domain;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        domain = stack.domain();
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        stack.close();
    }

    /** A pool of slabs of 1, 2, 4, 4 ... slices. */
    private RegisteredPool small() throws RdmaException {
        return RegisteredPool.builder(domain).sliceSize(64).firstSlab(1).maxSlab(4).build();
    }

    private static List<RegisteredSlice> take(RegisteredPool pool, int count) throws RdmaException {
        List<RegisteredSlice> slices = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            slices.add(pool.take());
        }
        return slices;
    }

    private static void close(List<RegisteredSlice> slices) {
        slices.forEach(RegisteredSlice::close);
    }

    private static List<Long> registrations() {
        return FakeVerbs.calls("ibv_reg_mr").stream().map(call -> call.arguments().get(2)).toList();
    }

    @Test
    void aSliceIsAlignedMemoryOfARegion() throws RdmaException {
        try (RegisteredPool pool = RegisteredPool.create(domain, 100)) {
            assertThat(pool.sliceSize()).isEqualTo(128);
            assertThat(pool.protectionDomain()).isSameAs(domain);
            List<RegisteredSlice> slices = take(pool, 20);
            for (RegisteredSlice slice : slices) {
                MemorySegment memory = slice.memory();
                assertThat(memory.byteSize()).isEqualTo(slice.length()).isEqualTo(128);
                assertThat(memory.address() % 64).isZero();
                assertThat(slice.region().memory().asSlice(slice.offset(), 128)).isEqualTo(memory);
                assertThat(slice.region().memory().address() % 4096).isZero();
                assertThat(slice.region().access()).containsExactly(AccessFlag.LOCAL_WRITE);
                assertThat(slice.isOpen()).isTrue();
                assertThat(slice).hasToString("RegisteredSlice[128 bytes at " + slice.offset() + " of "
                        + slice.region() + "]");
            }
            assertThat(slices).extracting(slice -> slice.memory().address()).doesNotHaveDuplicates();
            close(slices);
        }
    }

    @Test
    void theLastOneUsedIsTheNext() throws RdmaException {
        try (RegisteredPool pool = RegisteredPool.create(domain, 64)) {
            List<RegisteredSlice> slices = take(pool, 3);
            long last = slices.get(1).offset();
            slices.get(0).close();
            slices.get(1).close();
            try (RegisteredSlice again = pool.take()) {
                assertThat(again.offset()).isEqualTo(last);
            }
            close(slices);
        }
    }

    @Test
    void slabsDoubleUpToTheLargest() throws RdmaException {
        try (RegisteredPool pool = small()) {
            assertThat(registrations()).containsExactly(64L);
            List<RegisteredSlice> slices = take(pool, 12);
            assertThat(registrations()).containsExactly(64L, 128L, 256L, 256L, 256L);
            assertThat(pool.registeredBytes()).isEqualTo(15 * 64);
            assertThat(pool.taken()).isEqualTo(12);
            assertThat(pool.free()).isEqualTo(3);
            close(slices);
            assertThat(pool.taken()).isZero();
            assertThat(pool.free()).isEqualTo(15);
            close(take(pool, 15));
            assertThat(registrations()).hasSize(5);
        }
    }

    @Test
    void theDefaultsDependOnTheSize() throws RdmaException {
        record Expected(int size, long first, long second) {
        }

        for (Expected expected : List.of(new Expected(64, 1 << 18, 1 << 19), new Expected(4096, 1 << 18, 1 << 19),
                new Expected(1 << 18, 1 << 18, 1 << 19), new Expected(1 << 20, 1 << 20, 1 << 21))) {
            FakeVerbs.reset();
            try (RegisteredPool pool = RegisteredPool.create(domain, expected.size)) {
                close(take(pool, (int) (expected.first / expected.size) + 1));
                assertThat(registrations()).containsExactly(expected.first, expected.second);
            }
        }
        FakeVerbs.reset();
        try (RegisteredPool pool = RegisteredPool.builder(domain).sliceSize(64).maxSlab(3).build()) {
            assertThat(pool.registeredBytes()).isEqualTo(3 * 64);
        }
        try (RegisteredPool pool = RegisteredPool.builder(domain).sliceSize(64).maxBytes(640).build()) {
            assertThat(pool.registeredBytes()).isEqualTo(640);
        }
        try (RegisteredPool pool = RegisteredPool.builder(domain).build()) {
            assertThat(pool.sliceSize()).isEqualTo(4096);
        }
    }

    @Test
    void theLimitIsUsedUpAndThenReported() throws RdmaException {
        try (RegisteredPool pool = RegisteredPool.builder(domain).sliceSize(64).firstSlab(2).maxBytes(5 * 64 + 63)
                .build()) {
            List<RegisteredSlice> slices = take(pool, 5);
            assertThat(registrations()).containsExactly(128L, 192L);
            assertThatExceptionOfType(RdmaException.class).isThrownBy(pool::take)
                    .withMessageContaining("the limit of 5 slices of 64 bytes is reached")
                    .satisfies(e -> assertThat(e.errnoName()).isEqualTo("ENOMEM"));
            assertThat(pool.tryTake()).isNull();
            slices.removeLast().close();
            slices.add(pool.take());
            assertThat(registrations()).hasSize(2);
            close(slices);
        }
    }

    @Test
    void tryTakeRegistersNothing() throws RdmaException {
        try (RegisteredPool pool = small()) {
            RegisteredSlice only = pool.tryTake();
            assertThat(pool.tryTake()).isNull();
            assertThat(registrations()).hasSize(1);
            only.close();
            try (RegisteredSlice again = pool.tryTake()) {
                assertThat(again).isNotSameAs(only);
            }
        }
    }

    @Test
    void lockedMemoryIsUsedUpInSmallerSlabs() throws RdmaException {
        try (RegisteredPool pool = RegisteredPool.builder(domain).sliceSize(64).firstSlab(4).build()) {
            List<RegisteredSlice> slices = take(pool, 4);
            FakeVerbs.reset();
            FakeVerbs.fail("ibv_reg_mr", Rdma.ENOMEM());
            FakeVerbs.fail("ibv_reg_mr", Rdma.ENOMEM());
            slices.addAll(take(pool, 3));
            assertThat(registrations()).containsExactly(512L, 256L, 128L, 256L);
            close(slices);
        }
    }

    @Test
    void aFailedRegistrationChangesNothing() throws RdmaException {
        try (RegisteredPool pool = small()) {
            RegisteredSlice only = pool.take();
            FakeVerbs.fail("ibv_reg_mr", Rdma.ENOMEM());
            FakeVerbs.fail("ibv_reg_mr", Rdma.ENOMEM());
            assertThatExceptionOfType(RdmaException.class).isThrownBy(pool::take)
                    .satisfies(e -> assertThat(e.errnoName()).isEqualTo("ENOMEM"))
                    .withMessageContaining("ibv_reg_mr (64 bytes)").withMessageContaining("ulimit -l");
            FakeVerbs.fail("ibv_reg_mr", Rdma.EINVAL());
            assertThatExceptionOfType(RdmaException.class).isThrownBy(pool::take)
                    .satisfies(e -> assertThat(e.errnoName()).isEqualTo("EINVAL"));
            assertThat(pool.registeredBytes()).isEqualTo(64);
            pool.take().close();
            only.close();
        }
    }

    @Test
    void aPoolWhoseFirstSlabFailsLeavesNothing() throws RdmaException {
        FakeVerbs.fail("ibv_reg_mr", Rdma.EPERM());
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> RegisteredPool.create(domain, 64))
                .satisfies(e -> assertThat(e.errnoName()).isEqualTo("EPERM"));
        RegisteredPool.Builder builder = RegisteredPool.builder(domain).access(AccessFlag.REMOTE_WRITE);
        assertThatIllegalArgumentException().isThrownBy(builder::build).withMessageContaining("LOCAL_WRITE");
        stack.close();
        assertThatIllegalStateException().isThrownBy(() -> RegisteredPool.create(domain, 64))
                .withMessageContaining("ProtectionDomain is closed");
    }

    @Test
    void moreMemoryThanTheJvmHasIsAnRdmaException() {
        RegisteredPool.Builder builder = RegisteredPool.builder(domain).sliceSize(Integer.MAX_VALUE - 63)
                .firstSlab(1 << 20);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(builder::build)
                .satisfies(e -> assertThat(e.errnoName()).isEqualTo("ENOMEM"))
                .withMessageContaining("MaxDirectMemorySize").withCauseInstanceOf(OutOfMemoryError.class);
        assertThat(registrations()).isEmpty();
    }

    @Test
    void wrongArgumentsAreRefused() {
        for (int size : new int[] {Integer.MIN_VALUE, -1, 0, Integer.MAX_VALUE - 62, Integer.MAX_VALUE}) {
            assertThatIllegalArgumentException().isThrownBy(() -> RegisteredPool.create(domain, size))
                    .withMessageContaining("1 to 2147483584 bytes, not " + size);
        }
        RegisteredPool.Builder builder = RegisteredPool.builder(domain).sliceSize(64);
        for (int count : new int[] {-1, 0, FreeList.MOST + 1}) {
            assertThatIllegalArgumentException().isThrownBy(() -> builder.firstSlab(count));
            assertThatIllegalArgumentException().isThrownBy(() -> builder.maxSlab(count));
            assertThatIllegalArgumentException().isThrownBy(() -> builder.maxBytes(Math.min(0, count - 1)));
        }
        assertThatNullPointerException().isThrownBy(() -> builder.access((AccessFlag) null));
        assertThatNullPointerException().isThrownBy(() -> RegisteredPool.builder(null)).withMessage("domain");
        assertThatIllegalArgumentException().isThrownBy(() -> builder.firstSlab(3).maxSlab(2).build())
                .withMessageContaining("3 slices").withMessageContaining("2");
        assertThatIllegalArgumentException().isThrownBy(() -> builder.maxSlab(4).maxBytes(128).build())
                .withMessageContaining("128 bytes is less than 3 slices");
        assertThatIllegalArgumentException().isThrownBy(
                () -> RegisteredPool.builder(domain).sliceSize(65).maxBytes(127).build())
                .withMessageContaining("127 bytes is less than 1 slices of 128 bytes");
    }

    private static void assertClosed(ThrowingCallable call) {
        assertThatIllegalStateException().isThrownBy(call).withMessageContaining("is closed");
    }

    @Test
    void aClosedSliceStaysClosed() throws RdmaException {
        try (RegisteredPool pool = small()) {
            RegisteredSlice stale = pool.take();
            stale.close();
            try (RegisteredSlice now = pool.take()) {
                stale.close();
                assertThat(now.isOpen()).isTrue();
                assertThat(pool.tryTake()).isNull();
                assertThat(stale.isOpen()).isFalse();
                assertThat(stale.toString()).endsWith(" (closed)");
                assertClosed(stale::memory);
                assertClosed(stale::region);
                assertClosed(stale::offset);
                assertClosed(stale::length);
                now.memory().fill((byte) 1);
            }
        }
    }

    @Test
    void aClosedPoolRefusesEverything() throws RdmaException {
        RegisteredPool pool = small();
        RegisteredSlice slice = pool.take();
        MemorySegment memory = slice.memory();
        memory.set(ValueLayout.JAVA_LONG, 0, 42);
        slice.close();
        pool.close();
        assertClosed(pool::take);
        assertClosed(pool::tryTake);
        assertClosed(pool::sliceSize);
        assertClosed(pool::registeredBytes);
        assertClosed(pool::taken);
        assertClosed(pool::free);
        assertClosed(pool::protectionDomain);
        assertThat(pool.isOpen()).isFalse();
        assertThat(pool).hasToString("RegisteredPool[slices of 64 bytes, 64 bytes registered] (closed)");
        pool.close();
        slice.close();
        assertThat(memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
    }

    @Test
    void aPoolWithSlicesOutCannotBeClosed() throws RdmaException {
        RegisteredPool pool = small();
        List<RegisteredSlice> slices = take(pool, 3);
        slices.removeFirst().close();
        assertThatIllegalStateException().isThrownBy(pool::close).withMessage("RegisteredPool[slices of 64 bytes, 192"
                + " bytes registered] cannot be closed while 2 of its 3 slices are taken, close them first");
        assertThat(pool.isOpen()).isTrue();
        assertThat(FakeVerbs.functions()).doesNotContain("ibv_dereg_mr");
        slices.addAll(take(pool, 2));
        close(slices);
        pool.close();
        assertThat(FakeVerbs.calls("ibv_dereg_mr")).hasSize(3);
    }

    @Test
    void theDomainAndTheRegionsStayOpenAsLongAsThePool() throws RdmaException {
        RegisteredPool pool = small();
        RegisteredSlice slice = pool.take();
        MemoryRegion region = slice.region();
        slice.close();
        assertThatIllegalStateException().isThrownBy(domain::close)
                .withMessageContaining("RegisteredPool[slices of 64 bytes, 64 bytes registered]");
        assertThatIllegalStateException().isThrownBy(region::close)
                .withMessageContaining("RegisteredPool[slices of 64 bytes, 64 bytes registered]");
        pool.close();
        assertThat(region.isOpen()).isFalse();
    }

    @Test
    void aPoolWithABoundWindowCannotBeClosed() throws Exception {
        FakeVerbs.call("fake_serve_memory", stack.context().handle().address());
        RegisteredPool pool = RegisteredPool.builder(domain).access(AccessFlag.LOCAL_WRITE, AccessFlag.MW_BIND)
                .build();
        try (MemoryWindow window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_1)) {
            try (RegisteredSlice slice = pool.take()) {
                window.bind(stack.queuePair(), 1, MemoryWindowBinding.of(slice.region(), slice.offset(), 64,
                        AccessFlag.REMOTE_READ));
            }
            assertThatIllegalStateException().isThrownBy(pool::close).withMessageContaining("MemoryWindow[");
            pool.take().close();
        }
        pool.close();
    }

    @Test
    void aFailedDeregistrationCanBeRepeated() throws RdmaException {
        RegisteredPool pool = small();
        close(take(pool, 2));
        FakeVerbs.fail("ibv_dereg_mr", Rdma.EBUSY(), 1);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(pool::close)
                .satisfies(e -> assertThat(e.errnoName()).isEqualTo("EBUSY"));
        assertClosed(pool::take);
        assertThatIllegalStateException().isThrownBy(domain::close).withMessageContaining("RegisteredPool[");
        pool.close();
        assertThat(FakeVerbs.calls("ibv_dereg_mr")).hasSize(3);
    }

    @Test
    void theMemoryOfALostPoolStaysUntilTheDeviceCannotWriteItAnyMore() throws RdmaException {
        LostMemory.of(to -> RegisteredPool.create(to, 64).take().region()).assertKeptUntilDeregistered();
    }

    @Test
    void othersGoOnWhileASlabIsRegistered() throws Exception {
        try (RegisteredPool pool = small()) {
            RegisteredSlice only = pool.take();
            FakeVerbs.hold("ibv_reg_mr");
            try (Background<RegisteredSlice> registering = Background.call(pool::take)) {
                FakeVerbs.awaitHeld();
                assertThat(pool.tryTake()).isNull();
                only.close();
                RegisteredSlice again = pool.take();
                try (Background<RegisteredSlice> waiting = Background.call(pool::take)) {
                    waiting.awaitWaiting();
                    again.close();
                    waiting.result().close();
                }
                assertThat(registering.isDone()).isFalse();
                assertThat(registrations()).hasSize(2);
                FakeVerbs.release();
                registering.result().close();
            }
        }
    }

    @Test
    void anInterruptedThreadWaitsLikeOthers() throws Exception {
        try (RegisteredPool pool = small()) {
            RegisteredSlice only = pool.take();
            FakeVerbs.hold("ibv_reg_mr");
            try (Background<RegisteredSlice> registering = Background.call(pool::take)) {
                FakeVerbs.awaitHeld();
                AtomicBoolean interrupted = new AtomicBoolean();
                Thread waiting = Thread.ofPlatform().start(() -> {
                    try (RegisteredSlice slice = pool.take()) {
                        interrupted.set(Thread.interrupted() && slice != only);
                    } catch (RdmaException e) {
                        throw new AssertionError(e);
                    }
                });
                waiting.interrupt();
                // a thread with the status does not park
                Background.run(() -> {
                    while (waiting.isInterrupted()) {
                        Thread.onSpinWait();
                    }
                }).result();
                FakeVerbs.release();
                registering.result().close();
                waiting.join();
                assertThat(interrupted).isTrue();
            }
            only.close();
        }
    }

    @Test
    void aWaitingThreadTakesWhatTheOtherRegistered() throws Exception {
        try (RegisteredPool pool = small()) {
            RegisteredSlice only = pool.take();
            FakeVerbs.hold("ibv_reg_mr");
            try (Background<RegisteredSlice> registering = Background.call(pool::take)) {
                FakeVerbs.awaitHeld();
                try (Background<RegisteredSlice> waiting = Background.call(pool::take)) {
                    waiting.awaitWaiting();
                    FakeVerbs.release();
                    Set<Long> taken = new HashSet<>(List.of(registering.result().memory().address(),
                            waiting.result().memory().address(), only.memory().address()));
                    assertThat(taken).hasSize(3);
                    assertThat(registrations()).hasSize(2);
                    registering.result().close();
                    waiting.result().close();
                }
            }
            only.close();
        }
    }
}
