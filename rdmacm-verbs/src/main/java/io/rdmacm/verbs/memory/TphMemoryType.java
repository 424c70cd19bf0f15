// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.memory;

import io.rdmacm.bindings.Rdma;

/**
 * The memory that a DMA handle is for, as a TLP processing hint (TPH) of PCIe ({@code enum ibv_tph_mem_type},
 * ibv_alloc_dmah(3)).
 */
public enum TphMemoryType {
    /** Volatile memory. */
    VM(Rdma.IBV_TPH_MEM_TYPE_VM()),
    /** Persistent memory. */
    PM(Rdma.IBV_TPH_MEM_TYPE_PM());

    private final int value;

    TphMemoryType(int value) {
        this.value = value;
    }

    /** {@return the C constant} */
    public int value() {
        return value;
    }
}
