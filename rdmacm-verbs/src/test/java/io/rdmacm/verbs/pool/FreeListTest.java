// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;

/** The stack of free slices, without a device. */
class FreeListTest {
    private final FreeList list = new FreeList();
    private final Slot first = list.add(null, Arena.ofAuto().allocate(4 * 64, 64), 64);

    @Test
    void aSliceThatComesBackMakesAnotherHead() throws ReflectiveOperationException {
        VarHandle head = MethodHandles.privateLookupIn(FreeList.class, MethodHandles.lookup())
                .findVarHandle(FreeList.class, "head", long.class);
        List<Object> heads = new ArrayList<>(List.of(head.get(list)));
        for (int i = 0; i < 100; i++) {
            Slot top = list.pop();
            Slot next = list.pop();
            // A pop that began before would now put the second slice, which is taken, on top.
            list.push(top);
            heads.add(head.get(list));
            list.pop();
            list.push(next);
            list.push(top);
            heads.add(head.get(list));
        }
        assertThat(heads).doesNotHaveDuplicates();
    }

    @Test
    void theListCountsWhatIsFree() {
        assertThat(list.size()).isEqualTo(4);
        assertThat(list.free()).isEqualTo(3);
        assertThat(list.end()).isEqualTo(1);
        list.push(first);
        Slot one = list.pop();
        assertThat(one).isSameAs(first);
        assertThat(list.end()).isEqualTo(1);
        assertThat(list.hasEnded()).isFalse();
        list.push(one);
        assertThat(list.end()).isZero();
        assertThat(list.hasEnded()).isTrue();
        assertThat(list.end()).isZero();
    }
}
