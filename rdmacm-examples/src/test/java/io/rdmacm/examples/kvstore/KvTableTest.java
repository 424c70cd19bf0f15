// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.kvstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

import io.rdmacm.verbs.testing.Background;
import org.junit.jupiter.api.Test;

class KvTableTest {
    private static final KvLayout LAYOUT = new KvLayout(64, 16, 100);

    @Test
    void givesWhatWasPut() {
        try (Arena arena = Arena.ofConfined()) {
            KvTable table = new KvTable(LAYOUT, arena);
            KvSlot copy = new KvSlot(LAYOUT);
            Map<String, byte[]> expected = new HashMap<>();
            // Some keys share slots, some values are replaced by shorter ones.
            for (int i = 0; i < 120; i++) {
                String key = "key " + i % 30;
                byte[] value = filled(i, 100 - i % 90);
                if (table.put(bytes(key), value) != KvTable.FULL) {
                    expected.put(key, value);
                }
            }
            assertThat(expected.size()).isEqualTo(30);
            expected.forEach((key, value) -> assertThat(get(table, bytes(key), copy)).isEqualTo(value));
            assertThat(get(table, bytes("absent"), copy)).isNull();
        }
    }

    @Test
    void versionsAreEvenAndGrow() {
        try (Arena arena = Arena.ofConfined()) {
            KvTable table = new KvTable(LAYOUT, arena);
            assertThat(table.put(bytes("a"), filled(1, 8))).isEqualTo(2);
            assertThat(table.put(bytes("a"), filled(2, 8))).isEqualTo(4);
        }
    }

    @Test
    void isFullWhenAKeyHasNoSlotLeft() {
        try (Arena arena = Arena.ofConfined()) {
            KvTable table = new KvTable(new KvLayout(KvLayout.PROBES, 16, 8), arena);
            for (int i = 0; i < KvLayout.PROBES; i++) {
                assertThat(table.put(bytes("key " + i), filled(i, 8))).isNotEqualTo(KvTable.FULL);
            }
            assertThat(table.put(bytes("one more"), filled(9, 8))).isEqualTo(KvTable.FULL);
            assertThat(table.put(bytes("key 3"), filled(9, 8))).isEqualTo(4);
            assertThat(get(table, bytes("one more"), new KvSlot(table.layout()))).isNull();
        }
    }

    @Test
    void refusesWhatDoesNotFit() {
        try (Arena arena = Arena.ofConfined()) {
            KvTable table = new KvTable(LAYOUT, arena);
            assertThatThrownBy(() -> table.put(new byte[0], new byte[1])).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> table.put(new byte[17], new byte[1])).hasMessageContaining("17");
            assertThatThrownBy(() -> table.put(new byte[1], new byte[101])).hasMessageContaining("101");
        }
        assertThatThrownBy(() -> new KvLayout(12, 1, 1)).hasMessageContaining("power of two");
    }

    /** What a read that met a write brings: one part of the one version, one of the other, wherever it is cut. */
    @Test
    void mixturesAreTorn() {
        byte[] key = bytes("the key");
        byte[] old = slot(2, key, filled(1, 90));
        byte[] young = slot(4, key, filled(2, 90));
        int length = KvSlot.HEADER + key.length + 90;
        KvSlot copy = new KvSlot(LAYOUT);
        for (int cut = 1; cut < length; cut++) {
            // Versions are equal in all bytes but the first.
            byte[] mixture = young.clone();
            System.arraycopy(old, 0, mixture, 0, cut);
            assertThat(look(copy, mixture, key)).as("old up to " + cut).isEqualTo(KvSlot.Content.TORN);
            mixture = old.clone();
            System.arraycopy(young, 0, mixture, 0, cut);
            assertThat(look(copy, mixture, key)).as("young up to " + cut).isEqualTo(KvSlot.Content.TORN);
        }
        assertThat(look(copy, old, key)).isEqualTo(KvSlot.Content.FOUND);
        assertThat(look(copy, young, key)).isEqualTo(KvSlot.Content.FOUND);
        assertThat(copy.value()).isEqualTo(filled(2, 90));
        assertThat(look(copy, young, bytes("another"))).isEqualTo(KvSlot.Content.OTHER_KEY);
        assertThat(look(copy, slot(3, key, filled(1, 90)), key)).isEqualTo(KvSlot.Content.TORN);
        assertThat(look(copy, new byte[LAYOUT.slotBytes()], key)).isEqualTo(KvSlot.Content.EMPTY);
        byte[] wild = young.clone();
        Arrays.fill(wild, KvSlot.LENGTHS, KvSlot.HEADER, (byte) -1);
        assertThat(look(copy, wild, key)).isEqualTo(KvSlot.Content.TORN);
    }

    @Test
    void readersNeverSeeAMixture() throws Exception {
        try (Arena arena = Arena.ofShared()) {
            KvTable table = new KvTable(LAYOUT, arena);
            byte[] key = bytes("hot");
            table.put(key, filled(0, 100));
            AtomicBoolean stop = new AtomicBoolean();
            try (Background<Integer> writer = Background.call(() -> {
                int put = 1;
                for (; !stop.get(); put++) {
                    table.put(key, filled(put, 100));
                }
                return put;
            })) {
                KvSlot copy = new KvSlot(LAYOUT);
                for (int i = 0; i < 20_000; i++) {
                    byte[] value = get(table, key, copy);
                    assertThat(value).isEqualTo(filled(value[0], 100));
                }
                stop.set(true);
                assertThat(writer.result()).isPositive();
            }
        }
    }

    @Test
    void layoutTravels() {
        ByteBuffer buffer = ByteBuffer.allocate(KvLayout.BYTES);
        LAYOUT.write(buffer);
        assertThat(KvLayout.read(buffer.flip())).isEqualTo(LAYOUT);
        assertThat(LAYOUT.slotBytes()).isEqualTo(136);
        for (int probe = 0; probe < KvLayout.PROBES; probe++) {
            assertThat(LAYOUT.offset(bytes("any"), probe)).isBetween(0L, LAYOUT.bytes() - LAYOUT.slotBytes())
                    .matches(offset -> offset % LAYOUT.slotBytes() == 0);
        }
    }

    /** Gets a value as a client does. */
    private static byte[] get(KvTable table, byte[] key, KvSlot copy) {
        try {
            return table.layout().find(key, copy, offset -> MemorySegment.copy(table.memory(), ValueLayout.JAVA_BYTE,
                    offset, copy.bytes(), 0, copy.bytes().length));
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static KvSlot.Content look(KvSlot copy, byte[] slot, byte[] key) {
        System.arraycopy(slot, 0, copy.bytes(), 0, slot.length);
        return copy.check(key);
    }

    private static byte[] slot(long version, byte[] key, byte[] value) {
        KvSlot slot = new KvSlot(LAYOUT);
        slot.fill(version, key, value);
        return slot.bytes();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    /** All bytes differ from those of the put before. */
    private static byte[] filled(int put, int length) {
        byte[] value = new byte[length];
        Arrays.fill(value, (byte) put);
        return value;
    }
}
