// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.MemoryWindow;
import io.rdmacm.verbs.MemoryWindowBinding;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.FailingSteps;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.MemoryWindowType;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a cache finds again, what it deregisters and when, and that freed memory is never found. */
@WithFakeVerbs
@SuppressWarnings("restricted")
class RegistrationCacheTest {
    private FakeStack stack;
    private ProtectionDomain domain;
    private Arena arena;
    private MemorySegment memory;
    private RegistrationCache cache;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        domain = stack.domain();
        arena = Arena.ofShared();
        memory = arena.allocate(4096);
        cache = RegistrationCache.builder(domain).maxEntries(3).maxBytes(4200).build();
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        cache.close();
        if (arena.scope().isAlive()) {
            arena.close();
        }
        stack.close();
    }

    private static int registered() {
        return FakeVerbs.calls("ibv_reg_mr").size();
    }

    private static int deregistered() {
        return FakeVerbs.calls("ibv_dereg_mr").size();
    }

    private void use(MemorySegment part) throws RdmaException {
        cache.register(part).close();
    }

    @Test
    void memoryIsRegisteredOnceAndItsPartsAreFound() throws RdmaException {
        MemoryRegion region;
        try (CachedRegistration whole = cache.register(memory.asSlice(0, 1000))) {
            region = whole.region();
            assertThat(whole.offset()).isZero();
            assertThat(whole.length()).isEqualTo(1000);
            assertThat(whole.remoteMemory()).isEqualTo(region.remoteMemory());
            assertThat(region.access()).containsExactly(AccessFlag.LOCAL_WRITE);
        }
        try (CachedRegistration part = cache.register(memory.asSlice(100, 900).asReadOnly())) {
            assertThat(part.region()).isSameAs(region);
            assertThat(part.offset()).isEqualTo(100);
            assertThat(part.remoteMemory()).isEqualTo(region.remoteMemory().slice(100, 900));
            assertThat(part).hasToString("CachedRegistration[900 bytes at 100 of " + region + "]");
        }
        assertThat(registered()).isEqualTo(1);
        use(memory.asSlice(999, 2));
        assertThat(registered()).isEqualTo(2);
        assertThat(cache.registrations()).isEqualTo(2);
        assertThat(cache.registeredBytes()).isEqualTo(1002);
    }

    @Test
    void aLargerOneReplacesThoseWithinIt() throws RdmaException {
        use(memory.asSlice(100, 100));
        CachedRegistration small = cache.register(memory.asSlice(300, 100));
        use(memory.asSlice(0, 1000));
        assertThat(cache.registrations()).isEqualTo(2);
        assertThat(small.region().isOpen()).isTrue();
        small.close();
        assertThat(cache.registrations()).isEqualTo(1);
        use(memory.asSlice(300, 100));
        assertThat(registered()).isEqualTo(3);
    }

    @Test
    void thatWhoseLastUseIsTheLongestAgoIsEvicted() throws RdmaException {
        for (int i = 0; i < 3; i++) {
            use(memory.asSlice(i * 100, 100));
        }
        use(memory.asSlice(0, 100));
        use(memory.asSlice(300, 100));
        assertThat(deregistered()).isEqualTo(1);
        use(memory.asSlice(0, 100));
        use(memory.asSlice(200, 100));
        assertThat(registered()).isEqualTo(4);
        use(memory.asSlice(100, 100));
        assertThat(registered()).isEqualTo(5);
        use(arena.allocate(4100));
        assertThat(cache.registrations()).isEqualTo(2);
        assertThat(cache.registeredBytes()).isEqualTo(4200);
    }

    @Test
    void whatIsInUseIsNotEvicted() throws RdmaException {
        List<CachedRegistration> used = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            used.add(cache.register(memory.asSlice(i * 100, 100)));
        }
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> cache.register(memory.asSlice(300, 1)))
                .withMessageContaining("1 bytes beside the 300 bytes of 3 regions in use")
                .satisfies(e -> assertThat(e.errnoName()).isEqualTo("ENOMEM"));
        used.removeFirst().close();
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> cache.register(arena.allocate(4201)))
                .withMessageContaining("the limit is 4200 bytes, 3 regions");
        assertThat(deregistered()).isZero();
        use(memory.asSlice(300, 1));
        assertThat(deregistered()).isEqualTo(1);
        assertThat(used).allMatch(registration -> registration.region().isOpen());
        used.forEach(CachedRegistration::close);
    }

    @Test
    void aUseIsEndedOnce() throws RdmaException {
        CachedRegistration first = cache.register(memory);
        CachedRegistration second = cache.register(memory);
        first.close();
        first.close();
        assertThat(first.isOpen()).isFalse();
        assertThat(first.toString()).endsWith(" (closed)");
        assertThatIllegalStateException().isThrownBy(first::region).withMessage("CachedRegistration is closed");
        assertThatIllegalStateException().isThrownBy(first::remoteMemory);
        cache.trim();
        assertThat(second.region().isOpen()).isTrue();
        second.close();
        cache.trim();
        assertThat(cache.registrations()).isZero();
    }

    @Test
    void memoryOfAClosedArenaIsDeregisteredWithTheNextRegistration() throws RdmaException {
        use(memory);
        arena.close();
        assertThat(deregistered()).isZero();
        assertThatIllegalArgumentException().isThrownBy(() -> cache.register(memory))
                .withMessageContaining("arena of the segment is closed");
        assertThat(deregistered()).isEqualTo(1);
        assertThat(cache.registrations()).isZero();
        assertThat(cache.registeredBytes()).isZero();
    }

    @Test
    void otherMemoryAtTheSameAddressIsRegisteredAnew() throws RdmaException {
        MemoryRegion old;
        try (Arena before = Arena.ofConfined();
                CachedRegistration first = cache.register(memory.asSlice(0, 100).reinterpret(before, null))) {
            old = first.region();
        }
        try (Arena after = Arena.ofConfined();
                CachedRegistration second = cache.register(memory.asSlice(0, 100).reinterpret(after, null))) {
            assertThat(second.region()).isNotSameAs(old);
            assertThat(old.isOpen()).isFalse();
        }
    }

    @Test
    void memoryThatIsFreedDuringItsUseIsDeregisteredAtTheEnd() throws Exception {
        CachedRegistration used = cache.register(memory.asSlice(0, 100));
        Background.run(arena::close).result();
        use(MemorySegment.ofBuffer(ByteBuffer.allocateDirect(64)));
        assertThat(used.region().isOpen()).isTrue();
        assertThat(deregistered()).isZero();
        used.close();
        assertThat(deregistered()).isEqualTo(1);
    }

    @Test
    void directBuffersAreTheirOwnScopes() throws RdmaException {
        ByteBuffer buffer = ByteBuffer.allocateDirect(64);
        use(MemorySegment.ofBuffer(buffer));
        use(MemorySegment.ofBuffer(buffer.slice(8, 8)));
        assertThat(registered()).isEqualTo(1);
        use(MemorySegment.ofBuffer(ByteBuffer.allocateDirect(64)));
        assertThat(registered()).isEqualTo(2);
    }

    @Test
    void globalMemoryIsForgotten() throws RdmaException {
        MemorySegment global = MemorySegment.ofAddress(memory.address()).reinterpret(1000);
        use(global.asSlice(0, 100));
        use(global.asSlice(200, 100));
        CachedRegistration used = cache.register(global.asSlice(300, 100));
        cache.forget(memory);
        assertThat(cache.registrations()).isEqualTo(3);
        cache.forget(global.asSlice(299, 2));
        assertThat(deregistered()).isEqualTo(1);
        used.close();
        assertThat(deregistered()).isEqualTo(2);
        use(global.asSlice(0, 100));
        assertThat(registered()).isEqualTo(3);
    }

    @Test
    void lockedMemoryIsTakenFromWhatNobodyUses() throws RdmaException {
        use(memory.asSlice(0, 100));
        CachedRegistration used = cache.register(memory.asSlice(100, 100));
        FakeVerbs.fail("ibv_reg_mr", Rdma.ENOMEM());
        use(memory.asSlice(200, 100));
        assertThat(deregistered()).isEqualTo(1);
        FakeVerbs.fail("ibv_reg_mr", Rdma.ENOMEM());
        FakeVerbs.fail("ibv_reg_mr", Rdma.ENOMEM());
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> cache.register(memory.asSlice(300, 100)))
                .withMessageContaining("ulimit -l");
        assertThat(cache.registrations()).isEqualTo(1);
        assertThat(cache.registeredBytes()).isEqualTo(100);
        used.close();
    }

    @Test
    void aRegistrationHoldsUpNobodyWhoFindsARegion() throws Exception {
        use(memory.asSlice(0, 100));
        FakeVerbs.hold("ibv_reg_mr");
        try (Background<CachedRegistration> registering = Background.call(
                () -> cache.register(memory.asSlice(100, 100)))) {
            FakeVerbs.awaitHeld();
            use(memory.asSlice(0, 100));
            assertThat(registering.isDone()).isFalse();
            assertThat(cache.registrations()).isEqualTo(2);
            assertThatIllegalStateException().isThrownBy(cache::close).withMessageContaining("CachedRegistration[");
            FakeVerbs.release();
            registering.result().close();
        }
    }

    /** Of two threads that register at the same time, the later one may find that the other's region is larger. */
    @Test
    void whoIsLateWithASmallerRegionUsesItOnce() throws Exception {
        FakeVerbs.hold("ibv_reg_mr");
        try (Background<CachedRegistration> registering = Background.call(
                () -> cache.register(memory.asSlice(100, 100)))) {
            FakeVerbs.awaitHeld();
            use(memory.asSlice(0, 1000));
            FakeVerbs.release();
            CachedRegistration late = registering.result();
            assertThat(late.region().length()).isEqualTo(100);
            late.close();
            assertThat(cache.registrations()).isEqualTo(1);
            use(memory.asSlice(100, 100));
            assertThat(registered()).isEqualTo(2);
        }
    }

    @Test
    void nothingOutlivesTheCache() throws RdmaException {
        CachedRegistration used = cache.register(memory);
        MemoryRegion region = used.region();
        assertThatIllegalStateException().isThrownBy(cache::close)
                .withMessageContaining("CachedRegistration[4096 bytes at 0 of ");
        assertThat(cache.isOpen()).isTrue();
        used.close();
        assertThatIllegalStateException().isThrownBy(domain::close)
                .withMessageContaining("RegistrationCache[at most 3 regions, 4200 bytes]");
        assertThatIllegalStateException().isThrownBy(region::close).withMessageContaining("RegistrationCache[");
        cache.close();
        assertThat(region.isOpen()).isFalse();
        assertThat(cache).hasToString("RegistrationCache[at most 3 regions, 4200 bytes] (closed)");
        assertThatIllegalStateException().isThrownBy(() -> cache.register(memory)).withMessageContaining("is closed");
        assertThatIllegalStateException().isThrownBy(cache::protectionDomain);
        cache.close();
        used.close();
    }

    @Test
    void whatAWindowIsBoundToIsNotEvicted() throws Exception {
        FakeVerbs.call("fake_serve_memory", stack.context().handle().address());
        try (RegistrationCache windows = RegistrationCache.builder(domain).maxEntries(2)
                .access(AccessFlag.LOCAL_WRITE, AccessFlag.MW_BIND).build()) {
            try (MemoryWindow window = domain.allocateMemoryWindow(MemoryWindowType.TYPE_1)) {
                MemoryRegion bound;
                try (CachedRegistration registration = windows.register(memory.asSlice(0, 64))) {
                    bound = registration.region();
                    window.bind(stack.queuePair(), 1, MemoryWindowBinding.of(bound, 0, 64, AccessFlag.REMOTE_READ));
                }
                windows.register(memory.asSlice(64, 64)).close();
                windows.register(memory.asSlice(128, 64)).close();
                assertThat(bound.isOpen()).isTrue();
                assertThat(windows.registrations()).isEqualTo(2);
                assertThatIllegalStateException().isThrownBy(windows::close).withMessageContaining("MemoryWindow[");
                assertThat(windows.isOpen()).isTrue();
            }
        }
    }

    @Test
    void aUseEndsOnceAlsoWithoutMemory() throws Exception {
        CachedRegistration use = cache.register(memory);
        arena.close();
        FailingSteps.failNext(new OutOfMemoryError("for a test"), use::close);
        assertThat(use.isOpen()).isFalse();
        assertThat(cache.registrations()).isEqualTo(1);
        cache.trim();
        assertThat(cache.registrations()).isZero();
        assertThat(deregistered()).isEqualTo(1);
    }

    @Test
    void aFailedDeregistrationIsRepeated() throws RdmaException {
        use(memory.asSlice(0, 100));
        FakeVerbs.fail("ibv_dereg_mr", Rdma.EBUSY());
        cache.trim();
        assertThat(cache.registrations()).isEqualTo(1);
        use(memory.asSlice(0, 100));
        assertThat(registered()).isEqualTo(2);
        FakeVerbs.fail("ibv_dereg_mr", Rdma.EBUSY());
        assertThatExceptionOfType(RdmaException.class).isThrownBy(cache::close)
                .satisfies(e -> assertThat(e.errnoName()).isEqualTo("EBUSY"));
        cache.close();
        assertThat(cache.registrations()).isZero();
    }

    @Test
    void wrongArgumentsAreRefused() throws RdmaException {
        assertThatIllegalArgumentException().isThrownBy(() -> cache.register(MemorySegment.ofArray(new byte[8])))
                .withMessageContaining("Java heap");
        assertThatIllegalArgumentException().isThrownBy(() -> cache.register(memory.asSlice(0, 0)))
                .withMessageContaining("at least 1 byte");
        assertThatIllegalArgumentException().isThrownBy(() -> cache.register(memory.asReadOnly()))
                .withMessageContaining("read-only");
        assertThat(cache.registrations()).isZero();
        assertThat(FakeVerbs.functions()).isEmpty();
        RegistrationCache.Builder builder = RegistrationCache.builder(domain);
        assertThatIllegalArgumentException().isThrownBy(() -> builder.maxEntries(0));
        assertThatIllegalArgumentException().isThrownBy(() -> builder.maxBytes(0));
        assertThatNullPointerException().isThrownBy(() -> RegistrationCache.builder(null)).withMessage("domain");
    }

    /** Threads register parts of arenas that others close meanwhile: none ever gets the region of another arena. */
    @Test
    void arenasAreClosedWhileTheirMemoryIsRegistered() throws Exception {
        MemorySegment shared = memory;
        List<Background<Void>> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Random random = new Random(i);
            threads.add(Background.run(() -> {
                for (int round = 0; round < 300; round++) {
                    Arena own = Arena.ofShared();
                    // the same addresses in every arena
                    MemorySegment mine = shared.asSlice(random.nextInt(4) * 100, 100).reinterpret(own, null);
                    try (CachedRegistration first = cache.register(mine);
                            Background<Void> closing = Background.run(own::close)) {
                        assertThat(first.region().memory().scope()).isEqualTo(mine.scope());
                        closing.result();
                        assertThat(first.region().isOpen()).isTrue();
                    } catch (RdmaException full) {
                        own.close();
                    }
                }
            }));
        }
        for (Background<Void> thread : threads) {
            thread.result();
        }
        cache.trim();
        assertThat(cache.registrations()).isZero();
        assertThat(cache.registeredBytes()).isZero();
    }
}
