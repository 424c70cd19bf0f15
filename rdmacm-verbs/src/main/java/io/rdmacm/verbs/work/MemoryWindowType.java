// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.MemoryWindow;
import io.rdmacm.verbs.SendRequest;

/** How a memory window is bound ({@code enum ibv_mw_type}, ibv_alloc_mw(3)). */
public enum MemoryWindowType {
    /** By {@link MemoryWindow#bind}; it serves all queue pairs of its domain. */
    TYPE_1(Rdma.IBV_MW_TYPE_1()),
    /** By a work request ({@link SendRequest#bindMemoryWindow}); it can be invalidated by key, also by the peer. */
    TYPE_2(Rdma.IBV_MW_TYPE_2());

    private final int value;

    MemoryWindowType(int value) {
        this.value = value;
    }

    /** {@return the C constant} */
    public int value() {
        return value;
    }
}
