// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_device_attr_ex;
import io.rdmacm.bindings.ibv_port_attr;
import io.rdmacm.bindings.ibv_tm_caps;
import io.rdmacm.verbs.device.DeviceAttributesEx;
import io.rdmacm.verbs.device.RxHashField;
import io.rdmacm.verbs.device.RxHashFunction;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.work.FlagSet;
import org.junit.jupiter.api.Test;

/** Bits that stand for something, each among the others. */
class DeviceStructsTest {
    @Test
    @Covers("ibv_is_qpt_supported")
    void aQueuePairTypeIsSupportedIfItsBitIsSet() {
        FlagSet<RxHashField> fields = RxHashField.of(0);
        FlagSet<RxHashFunction> none = RxHashFunction.of(0);
        for (QueuePairType type : QueuePairType.values()) {
            FlagSet<QueuePairType> only = QueuePairType.ofMask(1 << type.value());
            FlagSet<QueuePairType> others = QueuePairType.ofMask(~(1 << type.value()));
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

    @Test
    @Covers("ibv_query_port")
    void aPortRequiresAGlobalRouteIfItsBitIsSet() {
        int required = Rdma.IBV_QPF_GRH_REQUIRED();
        assertThat(requiresGlobalRoute(required)).isTrue();
        assertThat(requiresGlobalRoute(~required)).isFalse();
        assertThat(requiresGlobalRoute(0)).isFalse();
    }

    private static boolean requiresGlobalRoute(int flags) {
        try (Arena arena = Arena.ofConfined()) {
            long port = arena.allocate(ibv_port_attr.layout()).address();
            Memory.putByte(port + ibv_port_attr.flags$offset(), (byte) flags);
            return DeviceStructs.readPort(port).globalRouteRequired();
        }
    }

    @Test
    @Covers("ibv_query_device_ex")
    void tagsAreMatchedOverRcIfItsBitIsSet() {
        int rc = Rdma.IBV_TM_CAP_RC();
        assertThat(matchesTagsOverRc(rc)).isTrue();
        assertThat(matchesTagsOverRc(~rc)).isFalse();
        assertThat(matchesTagsOverRc(0)).isFalse();
    }

    private static boolean matchesTagsOverRc(int flags) {
        try (Arena arena = Arena.ofConfined()) {
            long device = arena.allocate(ibv_device_attr_ex.layout()).address();
            Memory.putInt(device + ibv_device_attr_ex.tm_caps$offset() + ibv_tm_caps.flags$offset(), flags);
            return DeviceStructs.readDeviceEx(device).tagMatching().reliableConnection();
        }
    }
}
