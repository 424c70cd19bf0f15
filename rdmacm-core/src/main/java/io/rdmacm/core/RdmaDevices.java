// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.verbs.CFunction;
import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.internal.Check;
import io.rdmacm.verbs.internal.Memory;
import io.rdmacm.verbs.internal.NativeFunction;

/** The devices that librdmacm has opened (rdma_get_devices(3)). */
public final class RdmaDevices {
    private static final NativeFunction GET_DEVICES = NativeFunction.of("rdma_get_devices");
    private static final NativeFunction FREE_DEVICES = NativeFunction.of("rdma_free_devices");

    private RdmaDevices() {
    }

    /**
     * The contexts of all RDMA devices, the same ones that ids are bound to ({@code rdma_get_devices}). They belong to
     * librdmacm and need no close.
     *
     * @throws RdmaException ENODEV when this machine has no RDMA device
     */
    @CFunction({"rdma_get_devices", "rdma_free_devices"})
    public static List<VerbsContext> list() throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            long count = arena.allocate(Integer.BYTES, Integer.BYTES).address();
            long array = Check.pointer(GET_DEVICES, GET_DEVICES.callLong(count));
            try {
                List<VerbsContext> contexts = new ArrayList<>();
                for (int i = 0; i < Memory.getInt(count); i++) {
                    contexts.add(DeviceHold.context(Memory.getLong(array + (long) i * Long.BYTES)));
                }
                return List.copyOf(contexts);
            } finally {
                FREE_DEVICES.callInt(array);
            }
        }
    }
}
