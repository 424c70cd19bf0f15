// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.MemorySegment;

import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.Test;

@WithFakeVerbs
class ScatterGatherListTest {
    @Test
    void partsAreAddedUntilTheListIsFull() throws RdmaException {
        ScatterGatherList list = ScatterGatherList.allocate(2);
        assertThat(list.size()).isZero();
        assertThat(list.capacity()).isEqualTo(2);
        try (FakeStack stack = new FakeStack()) {
            assertThat(list.add(stack.region(), 0, 4096).add(stack.region(), 4096, 0)).isSameAs(list);
            assertThat(list.size()).isEqualTo(2);
            assertThatIllegalStateException().isThrownBy(() -> list.add(stack.region(), 0, 1))
                    .withMessageContaining("2 parts");
            assertThat(list.clear()).isSameAs(list);
            assertThat(list.size()).isZero();
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> list.add(stack.region(), 1, 4096));
            assertThat(list.size()).isZero();
        }
    }

    @Test
    @SuppressWarnings("restricted")
    void moreThanDriversCountIsRefused() throws RdmaException {
        MemorySegment most = MemorySegment.ofAddress(1 << 20).reinterpret(1L << 33);
        try (FakeStack stack = new FakeStack(); MemoryRegion region = stack.domain().register(most)) {
            ScatterGatherList list = ScatterGatherList.allocate(4).add(region, 0, 1 << 30)
                    .add(region, 0, (1 << 30) - 1);
            assertThatIllegalArgumentException().isThrownBy(() -> list.add(region, 0, 1L << 31))
                    .withMessageContaining("2147483648 bytes");
            assertThatIllegalArgumentException().isThrownBy(() -> list.add(region, 0, 1))
                    .withMessageContaining("2147483648 bytes");
            assertThat(list.clear().bytes()).isZero();
            assertThat(list.add(region, 0, Integer.MAX_VALUE).length(0)).isEqualTo(Integer.MAX_VALUE);
            assertThat(list.copy().bytes()).isEqualTo(Integer.MAX_VALUE);
            assertThatIllegalArgumentException().isThrownBy(() -> list.add(region, 0, 1));
        }
    }

    @Test
    void aListHasRoomForAPart() {
        assertThat(ScatterGatherList.allocate(1).capacity()).isOne();
        assertThatIllegalArgumentException().isThrownBy(() -> ScatterGatherList.allocate(0))
                .withMessage("capacity must be at least 1: 0");
    }
}
