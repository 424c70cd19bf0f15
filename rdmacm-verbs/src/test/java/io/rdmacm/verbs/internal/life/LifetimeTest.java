// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.life;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.testing.Background;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The rules that hold for every native object, without any native code. */
class LifetimeTest {
    private static final Runnable NOBODY_WAITS = () -> { };

    private interface Parent {
    }

    private interface Child {
    }

    private interface Other {
    }

    private final AtomicInteger destroyed = new AtomicInteger();
    private long openBefore;

    @BeforeEach
    void count() {
        openBefore = Lifetime.openObjects();
    }

    private final List<Long> freed = new ArrayList<>();
    private RdmaException unfreeable;

    @AfterEach
    void nothingIsLeftOpen() {
        assertThat(Lifetime.openObjects()).isEqualTo(openBefore);
    }

    private static Lifetime begin(Class<?> type, String description, Lifetime... parents) {
        Lifetime life = Lifetime.begin(type, parents);
        life.describe(() -> description);
        return life;
    }

    private void close(Lifetime life) throws RdmaException {
        life.close(NOBODY_WAITS, destroyed::incrementAndGet);
    }

    @Test
    void aParentRefusesToCloseAndNamesItsOpenChildren() throws RdmaException {
        Lifetime parent = begin(Parent.class, "p");
        Lifetime first = begin(Child.class, "one", parent);
        Lifetime second = begin(Other.class, "two", parent);

        assertThatIllegalStateException().isThrownBy(() -> close(parent)).withMessage(
                "Parent[p] cannot be closed while it has open children, close them first: Child[one], Other[two]");

        assertThat(parent.isOpen()).isTrue();
        assertThat(destroyed).hasValue(0);
        close(first);
        assertThatIllegalStateException().isThrownBy(() -> close(parent)).withMessageContaining("Other[two]")
                .satisfies(e -> assertThat(e.getMessage()).doesNotContain("Child[one]"));
        close(second);
        close(parent);
        assertThat(List.of(parent.isOpen(), first.isOpen(), second.isOpen())).containsOnly(false);
    }

    @Test
    void aChildOfTwoParentsKeepsBothOpen() throws RdmaException {
        Lifetime one = begin(Parent.class, "one");
        Lifetime two = begin(Parent.class, "two");
        Lifetime child = begin(Child.class, "c", one, two);

        assertThatIllegalStateException().isThrownBy(() -> close(one)).withMessageContaining("Child[c]");
        assertThatIllegalStateException().isThrownBy(() -> close(two)).withMessageContaining("Child[c]");

        close(child);
        close(two);
        close(one);
    }

    @Test
    void aParentThatWasAddedTwiceIsRemovedTwice() throws RdmaException {
        Lifetime first = begin(Parent.class, "first");
        Lifetime second = begin(Parent.class, "second");
        Lifetime child = begin(Child.class, "c", first);
        List<Integer> childless = new ArrayList<>();
        second.whenChildless(() -> childless.add(0));
        child.addParent(second);
        child.addParent(second);
        assertThat(second.children()).containsExactly(child);

        child.removeParent(first);
        close(first);
        child.removeParent(second);
        assertThatIllegalStateException().isThrownBy(() -> close(second)).withMessageContaining("Child[c]");
        assertThat(childless).isEmpty();
        child.removeParent(second);
        assertThat(childless).hasSize(1);
        close(second);

        assertThatIllegalStateException().isThrownBy(() -> child.addParent(second)).withMessage("Parent is closed");
        close(child);
    }

    @Test
    void theLastChildThatIsClosedMayCloseItsParent() throws RdmaException {
        Lifetime parent = begin(Parent.class, "p");
        List<Integer> childless = new ArrayList<>();
        parent.whenChildless(() -> childless.add(destroyed.get()));
        Lifetime first = begin(Child.class, "one", parent);
        Lifetime second = begin(Child.class, "two", parent);
        close(first);
        assertThat(childless).isEmpty();
        close(second);
        assertThat(childless).containsExactly(2);
        close(second);
        assertThat(childless).hasSize(1);

        Lifetime third = begin(Child.class, "three", parent);
        parent.whenChildless(() -> {
            try {
                close(parent);
            } catch (RdmaException e) {
                throw new AssertionError(e);
            }
        });
        close(third);
        assertThat(parent.isOpen()).isFalse();
    }

    @Test
    void aSecondCloseDoesNothing() throws RdmaException {
        Lifetime life = begin(Object.class, "o");

        close(life);
        close(life);

        assertThat(destroyed).hasValue(1);
    }

    @Test
    void useAfterCloseIsRefused() throws RdmaException {
        Lifetime life = begin(Object.class, "o");
        close(life);

        assertThatIllegalStateException().isThrownBy(life::ensureOpen).withMessage("Object is closed");
        assertThatIllegalStateException().isThrownBy(life::enter).withMessage("Object is closed");
        assertThatIllegalStateException().isThrownBy(() -> Lifetime.begin(Child.class, life))
                .withMessage("Object is closed");
    }

    @Test
    void aClosedParentLeavesTheOtherParentsAlone() throws RdmaException {
        Lifetime open = begin(Parent.class, "open");
        Lifetime closed = begin(Parent.class, "closed");
        close(closed);

        assertThatIllegalStateException().isThrownBy(() -> Lifetime.begin(Child.class, open, closed));

        assertThat(open.children()).isEmpty();
        close(open);
    }

    @Test
    void childrenAreToldApartByTheirType() throws RdmaException {
        Lifetime parent = begin(Parent.class, "p");
        Lifetime child = begin(Child.class, "one", parent);
        Lifetime other = begin(Other.class, "two", parent);

        assertThat(parent.children().stream().filter(life -> life.isOf(Child.class))).containsExactly(child);

        close(child);
        close(other);
        close(parent);
    }

    @Test
    void ofManyChildrenSomeAreNamed() throws RdmaException {
        Lifetime parent = begin(Parent.class, "p");
        List<Lifetime> children = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            children.add(begin(Child.class, "c" + i, parent));
        }

        assertThatIllegalStateException().isThrownBy(() -> close(parent)).withMessageContaining("Child[c")
                .withMessageEndingWith(" and 980 more");

        for (Lifetime child : children) {
            close(child);
        }
        close(parent);
    }

    @Test
    void aFailedDestroyLeavesItOpenAndClosable() throws RdmaException {
        Lifetime parent = begin(Parent.class, "p");
        Lifetime life = begin(Object.class, "o", parent);

        assertThatThrownBy(() -> life.close(NOBODY_WAITS, () -> {
            throw Failures.of("ibv_destroy_cq", 16);
        })).isInstanceOf(RdmaException.class).hasMessageContaining("EBUSY");

        assertThat(life.isOpen()).isTrue();
        assertThat(parent.children()).containsExactly(life);
        life.enter();
        life.leave();
        close(life);
        close(parent);
        assertThat(destroyed).hasValue(2);
    }

    @Test
    void aCloseFromWithinItselfIsRefusedInsteadOfWaitingForItself() throws Exception {
        Lifetime life = begin(Object.class, "o");

        Background.run(() -> life.close(NOBODY_WAITS, () -> {
            assertThatIllegalStateException().isThrownBy(() -> close(life))
                    .withMessage("Object[o] is already being closed by this thread");
            destroyed.incrementAndGet();
        })).result();

        assertThat(life.isOpen()).isFalse();
        close(life);
        assertThat(destroyed).hasValue(1);
    }

    @Test
    void aFailedCreationLeavesNothingBehind() throws RdmaException {
        Lifetime parent = begin(Parent.class, "p");

        assertThatThrownBy(() -> make(parent, () -> {
            throw Failures.of("ibv_create_cq", 12);
        }, life -> life)).isInstanceOf(RdmaException.class);

        assertThat(parent.children()).isEmpty();
        assertThat(freed).isEmpty();
        assertThat(Lifetime.openObjects()).isEqualTo(openBefore + 1);
        close(parent);
    }

    @Test
    void theLifeOfWhatCKeepsIsNotCounted() {
        Lifetime life = Lifetime.beginPinned(Object.class, null);

        assertThat(life.isOpen()).isTrue();
        assertThat(Lifetime.openObjects()).isEqualTo(openBefore);
    }

    @Test
    void closeWaitsForThoseInsideAndKeepsOthersOut() throws Exception {
        Lifetime life = begin(Object.class, "o");
        life.enter();
        life.enter();
        AtomicInteger woken = new AtomicInteger();
        try (Background<Void> closer = Background.run(
                () -> life.close(woken::incrementAndGet, destroyed::incrementAndGet))) {
            closer.awaitInside(Lifetime.class, "awaitUntil").awaitWaiting();

            assertThat(woken).hasValue(1);
            assertThatIllegalStateException().isThrownBy(life::enter);
            life.leave();
            assertThat(closer.isDone()).isFalse();
            assertThat(destroyed).hasValue(0);
            life.leave();
            closer.result();
        }
        assertThat(destroyed).hasValue(1);
    }

    @Test
    void anInterruptOfTheCloserIsKeptForLater() throws Exception {
        Lifetime life = begin(Object.class, "o");
        life.enter();
        try (Background<Boolean> closer = Background.call(() -> {
            close(life);
            return Thread.currentThread().isInterrupted();
        })) {
            closer.awaitInside(Lifetime.class, "awaitUntil").awaitWaiting();
            closer.interrupt();
            life.leave();

            assertThat(closer.result()).isTrue();
        }
        assertThat(destroyed).hasValue(1);
    }

    @Test
    void manyClosersDestroyOnce() throws Exception {
        for (int round = 0; round < 200; round++) {
            Lifetime life = begin(Object.class, "o");
            CountDownLatch start = new CountDownLatch(1);
            List<Background<Void>> closers = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                closers.add(Background.run(() -> {
                    start.await();
                    close(life);
                }));
            }
            start.countDown();
            for (Background<Void> closer : closers) {
                closer.result();
            }
            assertThat(destroyed).hasValue(round + 1);
        }
    }

    @Test
    void aConstructorThatFailsLeavesNeitherANativeObjectNorALife() throws RdmaException {
        Lifetime parent = begin(Parent.class, "p");

        assertThatIllegalStateException().isThrownBy(() -> make(parent, () -> 7, life -> {
            throw new IllegalStateException("no");
        })).withMessage("no");

        assertThat(freed).containsExactly(7L);
        assertThat(parent.children()).isEmpty();
        close(parent);
    }

    @Test
    void whatCannotBeFreedIsFreedByTheCloseOfAParent() throws RdmaException {
        Lifetime parent = begin(Parent.class, "p");
        Lifetime other = begin(Parent.class, "o");
        unfreeable = Failures.of("ibv_dereg_mr", 16);
        List<String> released = new ArrayList<>();

        assertThatThrownBy(() -> Lifetime.make(Child.class, List.of(parent, other), arena -> 7, this::free,
                (life, address) -> {
                    throw new StackOverflowError("no");
                }, () -> released.add("memory"))).hasMessage("no").hasSuppressedException(unfreeable);

        assertThat(released).isEmpty();
        assertThatThrownBy(() -> close(parent)).isSameAs(unfreeable);
        unfreeable = null;
        close(parent);
        assertThat(freed).containsExactly(7L);
        assertThat(released).containsExactly("memory");
        close(other);
        assertThat(freed).hasSize(1);
    }

    /** As a thread that uses an id, whose channel's lock is needed to destroy the queue pair of the id. */
    @Test
    void whoHoldsALockThatUndoingNeedsDoesNotWaitForAThreadThatUndoes() throws Exception {
        Lifetime parent = begin(Parent.class, "p");
        Lifetime other = begin(Parent.class, "o");
        ReentrantLock needed = new ReentrantLock();
        unfreeable = Failures.of("rdma_destroy_qp", 16);
        assertThatThrownBy(() -> Lifetime.make(Child.class, List.of(parent, other), arena -> 7, address -> {
            needed.lock();
            try {
                free(address);
            } finally {
                needed.unlock();
            }
        }, (life, address) -> {
            throw new StackOverflowError("no");
        })).hasMessage("no");
        unfreeable = null;

        CountDownLatch held = new CountDownLatch(1);
        Background<Void> holding = Background.run(() -> {
            needed.lock();
            try {
                held.countDown();
                while (!needed.hasQueuedThreads()) {
                    Thread.yield();
                }
                assertThatIllegalStateException().isThrownBy(() -> close(other)).withMessageContaining("Child");
            } finally {
                needed.unlock();
            }
        });
        held.await();
        Background<Void> undoing = Background.run(() -> close(parent));
        holding.result();
        undoing.result();
        assertThat(freed).containsExactly(7L);
        close(other);
    }

    @Test
    void aThrowOfAParentDoesNotKeepACloseWaiting() throws Exception {
        Lifetime parent = begin(Parent.class, "p");
        Lifetime life = begin(Child.class, "c", parent);
        parent.whenChildless(() -> {
            throw new IllegalStateException("childless");
        });

        assertThatIllegalStateException().isThrownBy(() -> close(life)).withMessage("childless");

        Background.run(() -> close(life)).result();
        close(parent);
    }

    @Test
    void aThrowOfOneParentKeepsNoOtherOpen() throws Exception {
        Lifetime first = begin(Parent.class, "first");
        Lifetime second = begin(Parent.class, "second");
        Lifetime life = begin(Child.class, "c", first, second);
        first.whenChildless(() -> {
            throw new IllegalStateException("childless");
        });

        assertThatIllegalStateException().isThrownBy(() -> close(life)).withMessage("childless");

        close(second);
        close(first);
    }

    @Test
    void aParentThatCouldNotBeAddedHasNoChild() throws Exception {
        Lifetime parent = begin(Parent.class, "p");
        Lifetime later = begin(Parent.class, "later");
        Lifetime life = begin(Child.class, "c", parent);

        assertThat(FailingSteps.failAtEach(() -> {
            life.addParent(later);
            return () -> life.removeParent(later);
        }, later::children)).isEqualTo(2);

        life.addParent(later);
        FailingSteps.failNext(new OutOfMemoryError("for a test"), () -> assertThatThrownBy(
                () -> life.addParent(later)).isInstanceOf(OutOfMemoryError.class));
        assertThat(later.children()).containsExactly(life);
        close(life);
        close(later);
        close(parent);
    }

    @FunctionalInterface
    private interface Create {
        long create() throws RdmaException;
    }

    private <T> T make(Lifetime parent, Create creator, Function<Lifetime, T> constructor) throws RdmaException {
        return Lifetime.make(Child.class, List.of(parent), arena -> creator.create(), this::free,
                (life, address) -> constructor.apply(life));
    }

    private void free(long address) throws RdmaException {
        if (unfreeable != null) {
            throw unfreeable;
        }
        freed.add(address);
    }
}
