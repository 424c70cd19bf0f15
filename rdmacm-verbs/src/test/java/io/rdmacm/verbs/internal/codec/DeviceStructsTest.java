// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdmacm.verbs.device.DeviceAttributesEx;
import io.rdmacm.verbs.device.RxHashField;
import io.rdmacm.verbs.device.RxHashFunction;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.work.FlagSet;
import org.junit.jupiter.api.Test;

/** Sets of queue pair types as bit masks. */
class DeviceStructsTest {
    @Test
    @Covers("ibv_is_qpt_supported")
    void aQueuePairTypeIsSupportedIfItsBitIsSet() {
        FlagSet<RxHashField> fields = RxHashField.of(0);
        FlagSet<RxHashFunction> none = RxHashFunction.of(0);
        for (QueuePairType type : QueuePairType.values()) {
            FlagSet<QueuePairType> only = DeviceStructs.typesOf(1 << type.value());
            FlagSet<QueuePairType> others = DeviceStructs.typesOf(~(1 << type.value()));
            assertThat(only).containsExactly(type);
            assertThat(others.bits()).isEqualTo(0xffffffffL & ~only.bits());
            assertThat(new DeviceAttributesEx.Tso(1, only).supports(type)).isTrue();
            assertThat(new DeviceAttributesEx.Tso(1, others).supports(type)).isFalse();
            assertThat(new DeviceAttributesEx.PacketPacing(0, 1, only).supports(type)).isTrue();
            assertThat(new DeviceAttributesEx.PacketPacing(0, 1, others).supports(type)).isFalse();
            assertThat(new DeviceAttributesEx.Rss(only, 0, 0, fields, none).supports(type)).isTrue();
            assertThat(new DeviceAttributesEx.Rss(others, 0, 0, fields, none).supports(type)).isFalse();
        }
    }
}
