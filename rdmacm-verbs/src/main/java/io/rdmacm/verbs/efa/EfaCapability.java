// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import io.rdmacm.bindings.efa.Efa;
import io.rdmacm.verbs.work.FlagSet;

/** What an EFA device can do (efadv_query_device(3)). */
public enum EfaCapability {
    /** RDMA reads. */
    RDMA_READ(Efa.EFADV_DEVICE_ATTR_CAPS_RDMA_READ()),
    /** SRD queue pairs try again when the receiver is not ready, as often as {@link EfaTransitions} says. */
    RNR_RETRY(Efa.EFADV_DEVICE_ATTR_CAPS_RNR_RETRY()),
    /** Completion queues with the GID of senders that have no address handle here. */
    CQ_WITH_SGID(Efa.EFADV_DEVICE_ATTR_CAPS_CQ_WITH_SGID()),
    /** RDMA writes; reported since rdma-core 46. */
    RDMA_WRITE(Efa.EFADV_DEVICE_ATTR_CAPS_RDMA_WRITE()),
    /** Writes with an immediate value that consume no receive; reported since rdma-core 52. */
    UNSOLICITED_WRITE_RECV(Efa.EFADV_DEVICE_ATTR_CAPS_UNSOLICITED_WRITE_RECV()),
    /** Completion queues in memory that the program brings; reported since rdma-core 59. */
    CQ_WITH_EXT_MEM_DMABUF(Efa.EFADV_DEVICE_ATTR_CAPS_CQ_WITH_EXT_MEM_DMABUF()),
    /** Completion counters ({@link io.rdmacm.verbs.counter.CompletionCounter}); reported since rdma-core 65. */
    COMP_CNTR(Efa.EFADV_DEVICE_ATTR_CAPS_COMP_CNTR());

    private final int bit;

    EfaCapability(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }

    /**
     * Returns the capabilities in a bit mask.
     *
     * @param mask the bits, as in C
     * @return the capabilities; keeps bits that this library has no name for
     */
    public static FlagSet<EfaCapability> of(int mask) {
        return FlagSet.of(EfaCapability.class, Integer.toUnsignedLong(mask), EfaCapability::bit);
    }
}
