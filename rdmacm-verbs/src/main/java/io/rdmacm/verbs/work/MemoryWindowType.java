// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import io.rdmacm.bindings.Rdma;

/** The type of a memory window, which determines how it is bound ({@code enum ibv_mw_type}, ibv_alloc_mw(3)). */
public enum MemoryWindowType {
    /**
     * Bound by {@link io.rdmacm.verbs.MemoryWindow#bind MemoryWindow.bind}; accessible through all queue pairs of its
     * protection domain.
     */
    TYPE_1(Rdma.IBV_MW_TYPE_1()),
    /**
     * Bound by a work request
     * ({@link io.rdmacm.verbs.SendRequest#bindMemoryWindow SendRequest.bindMemoryWindow}); can be invalidated by its
     * remote key, also by the peer.
     */
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
