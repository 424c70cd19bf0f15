// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Function;

import io.rdmacm.bindings.efa.efadv_device_attr;
import io.rdmacm.bindings.efa.efadv_mr_attr;
import io.rdmacm.bindings.mlx5.mlx5_ib_uapi_query_port;
import io.rdmacm.bindings.mlx5.mlx5dv_context;
import io.rdmacm.verbs.efa.EfaDeviceAttributes;
import io.rdmacm.verbs.efa.EfaMemoryAttributes;
import io.rdmacm.verbs.mlx5.Mlx5DeviceAttributes;
import io.rdmacm.verbs.mlx5.Mlx5PortAttributes;
import io.rdmacm.verbs.testing.Accessors;
import org.junit.jupiter.api.Test;

/** Attributes that are read from a struct of C are values, as records are. */
class AttributesValueTest {
    @Test
    void theTextNamesEachAttribute() {
        try (Arena arena = Arena.ofConfined()) {
            Accessors.assertNamed(EfaDeviceAttributes.of(efadv_device_attr.allocate(arena)));
            Accessors.assertNamed(EfaMemoryAttributes.of(efadv_mr_attr.allocate(arena)));
            Accessors.assertNamed(Mlx5DeviceAttributes.of(mlx5dv_context.allocate(arena)));
            Accessors.assertNamed(Mlx5PortAttributes.of(mlx5_ib_uapi_query_port.allocate(arena)));
        }
    }

    @Test
    void equalStructsAreEqualAttributes() {
        assertEqualLike(efadv_device_attr::allocate, EfaDeviceAttributes::of);
        assertEqualLike(efadv_mr_attr::allocate, EfaMemoryAttributes::of);
        assertEqualLike(mlx5dv_context::allocate, Mlx5DeviceAttributes::of);
        assertEqualLike(mlx5_ib_uapi_query_port::allocate, Mlx5PortAttributes::of);
    }

    private static void assertEqualLike(Function<Arena, MemorySegment> allocate, Function<MemorySegment, ?> of) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = allocate.apply(arena);
            Object attributes = of.apply(struct);
            assertThat(of.apply(struct)).isEqualTo(attributes).hasSameHashCodeAs(attributes);
            struct.set(ValueLayout.JAVA_BYTE, 0, (byte) 1);
            assertThat(of.apply(struct)).isNotEqualTo(attributes);
        }
    }
}
