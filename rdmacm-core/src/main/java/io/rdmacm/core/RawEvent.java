// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import io.rdmacm.bindings.rdma_cm_event;
import io.rdmacm.verbs.internal.Memory;

/**
 * An event that was read and not delivered yet.
 *
 * @param address of the {@code struct rdma_cm_event}
 * @param owner the id that the kernel counts it for, and that cannot be destroyed before it is acknowledged: the
 *        listening id for a connect request, else the id itself; null when that is gone
 * @param type what happened
 */
record RawEvent(long address, CmId owner, CmEventType type) {
    int status() {
        return Memory.getInt(address + rdma_cm_event.status$offset());
    }

    /** The address of the id that the event is about; for a connect request the new one. */
    long id() {
        return Memory.getLong(address + rdma_cm_event.id$offset());
    }

    /** The address of {@code param}, a union of the parameters of connections and of datagrams. */
    long parameters() {
        return address + rdma_cm_event.param$offset();
    }
}
