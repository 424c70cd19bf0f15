// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.life;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.concurrent.atomic.AtomicInteger;

import io.rdmacm.verbs.error.RdmaException;
import org.junit.jupiter.api.Test;

/** A context of librdmacm is pinned while it is in use and C would free it, and at no other time. */
class ContextPinTest {
    private final Pin pin = new Pin();

    /** Counts, in place of C. */
    private static final class Pin extends ContextPin {
        private boolean keptByC;
        private boolean freed;
        private int pins;
        private int unpins;

        @Override
        protected boolean isKeptByC() {
            return keptByC;
        }

        @Override
        protected boolean pin() {
            pins++;
            return !freed;
        }

        @Override
        protected void unpin() {
            unpins++;
        }
    }

    private void assertPinned(int pins, int unpins) {
        assertThat(pin.pins).isEqualTo(pins);
        assertThat(pin.unpins).isEqualTo(unpins);
    }

    @Test
    void itIsPinnedFromTheFirstUseToTheEndOfTheLast() {
        assertThat(pin.beginUse()).isTrue();
        assertThat(pin.beginUse()).isTrue();
        assertPinned(1, 0);
        pin.endUse();
        assertPinned(1, 0);
        pin.endUse();
        assertPinned(1, 1);
        assertThat(pin.beginUse()).isTrue();
        assertPinned(2, 1);
    }

    @Test
    void whatCKeepsIsNotPinned() {
        pin.keptByC = true;
        assertThat(pin.beginUse()).isTrue();
        pin.endUse();
        assertPinned(0, 0);
    }

    @Test
    void whatCHasFreedStaysUnusable() {
        pin.freed = true;
        assertThat(pin.beginUse()).isFalse();
        // there is another context at its address
        pin.freed = false;
        pin.keptByC = true;
        assertThat(pin.beginUse()).isFalse();
        assertPinned(1, 0);
    }

    @Test
    void whatWasReplacedIsNotUsedAgain() {
        pin.keptByC = true;
        assertThat(pin.beginUse()).isTrue();
        pin.endUse();
        pin.replaced();
        assertThat(pin.beginUse()).isFalse();
    }

    @Test
    void itIsPinnedWhenCIsAboutToLetGoOfItInUse() {
        assertThat(pin.pinIfInUse()).as("not in use").isTrue();
        pin.keptByC = true;
        assertThat(pin.beginUse()).isTrue();
        assertThat(pin.pinIfInUse()).as("C has another reason").isTrue();
        assertPinned(0, 0);

        pin.keptByC = false;
        assertThat(pin.pinIfInUse()).isTrue();
        assertThat(pin.pinIfInUse()).isTrue();
        assertPinned(1, 0);
        pin.endUse();
        assertPinned(1, 1);
    }

    @Test
    void itIsReportedThatItCouldNotBePinned() {
        pin.keptByC = true;
        assertThat(pin.beginUse()).isTrue();
        pin.keptByC = false;
        pin.freed = true;
        assertThat(pin.pinIfInUse()).isFalse();
        pin.endUse();
        assertPinned(1, 0);
    }

    @Test
    void callsAndChildrenAreUses() throws RdmaException {
        Lifetime life = Lifetime.beginPinned(Object.class, pin);
        life.enter();
        assertPinned(1, 0);
        Lifetime child = Lifetime.begin(Object.class, life);
        life.leave();
        assertPinned(1, 0);
        child.close(() -> { }, () -> { });
        assertPinned(1, 1);
        assertThat(life.isOpen()).isTrue();
    }

    @Test
    void aLifeEndsWhenCIsFoundToHaveFreedTheObject() {
        AtomicInteger ended = new AtomicInteger();
        Lifetime life = Lifetime.beginPinned(Object.class, pin);
        life.whenEnded(ended::incrementAndGet);
        pin.freed = true;

        assertThatIllegalStateException().isThrownBy(life::enter).withMessage("Object is closed");
        assertThat(life.isOpen()).isFalse();
        assertThat(life.isClosed()).isTrue();
        assertThatIllegalStateException().isThrownBy(life::enter).withMessage("Object is closed");
        life.replaced();
        assertThat(ended).hasValue(1);
    }

    @Test
    void aLifeEndsWhenItsObjectWasReplaced() {
        AtomicInteger ended = new AtomicInteger();
        Lifetime life = Lifetime.beginPinned(Object.class, pin);
        life.whenEnded(ended::incrementAndGet);
        life.replaced();

        assertThat(ended).hasValue(1);
        assertThat(life.isOpen()).isFalse();
        assertThatIllegalStateException().isThrownBy(() -> Lifetime.begin(Object.class, life));
        assertThat(pin.beginUse()).isFalse();
        assertPinned(0, 0);
    }
}
