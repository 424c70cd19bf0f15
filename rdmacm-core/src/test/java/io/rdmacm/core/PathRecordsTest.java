// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

import io.rdmacm.bindings.ibv_path_data;
import io.rdmacm.bindings.ibv_path_record;
import org.junit.jupiter.api.Test;

/** Changes of path records, which have the byte order of the network. */
class PathRecordsTest {
    private static final int SIZE = (int) ibv_path_data.sizeof();

    private static byte[] ones(int count) {
        byte[] bytes = new byte[count * SIZE];
        Arrays.fill(bytes, (byte) -1);
        return bytes;
    }

    @Test
    void theMembersOfEachRecordAreSetAndAllOthersAreKept() {
        byte[] changed = PathRecords.of(ones(2)).serviceLevel(5).pathMtu(2048).toBytes();
        try (Arena arena = Arena.ofConfined()) {
            for (int i = 0; i < 2; i++) {
                MemorySegment struct = ibv_path_data.allocate(arena);
                MemorySegment.copy(changed, i * SIZE, struct, ValueLayout.JAVA_BYTE, 0, SIZE);
                MemorySegment path = ibv_path_data.path(struct);
                assertThat(Short.reverseBytes(ibv_path_record.qosclass_sl(path))).isEqualTo((short) 0xfff5);
                // the selector of "exactly", and IBV_MTU_2048
                assertThat(ibv_path_record.mtu(path)).isEqualTo((byte) (2 << 6 | 4));
                ibv_path_record.qosclass_sl(path, (short) -1);
                ibv_path_record.mtu(path, (byte) -1);
                assertThat(struct.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(ones(1));
            }
        }
    }

    @Test
    void whatCannotBeIsRefused() {
        PathRecords records = PathRecords.of(ones(1));
        for (int level : new int[] {-1, 16}) {
            assertThatIllegalArgumentException().isThrownBy(() -> records.serviceLevel(level));
        }
        for (int mtu : new int[] {0, 128, 1500, 8192, Integer.MIN_VALUE}) {
            assertThatIllegalArgumentException().isThrownBy(() -> records.pathMtu(mtu));
        }
        for (int length : new int[] {0, SIZE - 1, SIZE + 1}) {
            assertThatIllegalArgumentException().isThrownBy(() -> PathRecords.of(new byte[length]));
        }
    }
}
