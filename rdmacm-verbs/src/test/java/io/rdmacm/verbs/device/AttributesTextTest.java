// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import java.lang.foreign.Arena;

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

/** What attributes that are read from a struct of C say of themselves. */
class AttributesTextTest {
    @Test
    void theTextNamesEachAttribute() {
        try (Arena arena = Arena.ofConfined()) {
            Accessors.assertNamed(EfaDeviceAttributes.of(efadv_device_attr.allocate(arena)));
            Accessors.assertNamed(EfaMemoryAttributes.of(efadv_mr_attr.allocate(arena)));
            Accessors.assertNamed(Mlx5DeviceAttributes.of(mlx5dv_context.allocate(arena)));
            Accessors.assertNamed(Mlx5PortAttributes.of(mlx5_ib_uapi_query_port.allocate(arena)));
        }
    }
}
