// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.List;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;

/** The devices that librdmacm has opened (rdma_get_devices(3)). */
public final class RdmaDevices {
    private RdmaDevices() {
    }

    /**
     * Returns the contexts of all RDMA devices ({@code rdma_get_devices}), the same objects as {@link CmId#context()}
     * returns.
     *
     * @return the contexts; they belong to librdmacm and need not be closed
     * @throws RdmaException ENODEV when this machine has no RDMA device
     */
    @CFunction({"rdma_get_devices", "rdma_free_devices"})
    public static List<VerbsContext> list() throws RdmaException {
        try (OpenDevices devices = OpenDevices.get()) {
            return devices.contexts().mapToObj(CmContextPin::context).toList();
        }
    }
}
