// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;

import io.rdmacm.verbs.testing.Seed;
import org.junit.jupiter.api.Test;

class QueuePairTableTest {
    /** Numbers as devices give them, one after the other, and others that collide. */
    @Test
    void findsWhatIsInIt() {
        for (int range : new int[] {4, 40, 4000, Integer.MAX_VALUE}) {
            Random random = Seed.random(range);
            QueuePairTable<String> table = new QueuePairTable<>();
            Map<Integer, String> expected = new HashMap<>();
            for (int i = 0; i < 20_000; i++) {
                int number = random.nextBoolean() ? i % range : random.nextInt(range);
                if (random.nextInt(i % 2000 < 1000 ? 4 : 2) == 0) {
                    table.remove(number, expected.remove(number));
                } else if (!expected.containsKey(number)) {
                    String connection = "connection " + i;
                    table.put(number, connection);
                    expected.put(number, connection);
                }
                assertThat(table.get(number)).isEqualTo(expected.get(number));
                if (i % 500 == 0) {
                    expected.forEach((key, value) -> assertThat(table.get(key)).isEqualTo(value));
                    assertThat(table.all()).hasSize(expected.size());
                    // Assertions on collections compare each element with each.
                    assertThat(Set.copyOf(table.all()).equals(Set.copyOf(expected.values()))).isTrue();
                    assertThat(table.all().isEmpty()).isEqualTo(expected.isEmpty());
                }
            }
        }
    }

    @Test
    void anEmptyTable() {
        QueuePairTable<String> table = new QueuePairTable<>();
        table.remove(1, "x");
        assertThat(table.get(1)).isNull();
        assertThat(table.all()).isEmpty();
        assertThat(table.all().isEmpty()).isTrue();
        table.put(-1, "x");
        assertThat(table.get(-1)).isEqualTo("x");
        assertThat(table.all().isEmpty()).isFalse();
        table.remove(-1, "x");
        assertThat(table.all().isEmpty()).isTrue();
    }

    /** A device may give a number away before the connection that had it is removed. */
    @Test
    void theNumberOfAConnectionThatIsBeingRemoved() {
        QueuePairTable<String> table = new QueuePairTable<>();
        table.put(7, "old");
        table.put(7, "new");
        assertThat(table.get(7)).isEqualTo("new");
        table.remove(7, "old");
        assertThat(table.get(7)).isEqualTo("new");
        assertThat(table.all()).containsExactly("new");
        table.remove(7, "new");
        assertThat(table.all().isEmpty()).isTrue();
    }
}
