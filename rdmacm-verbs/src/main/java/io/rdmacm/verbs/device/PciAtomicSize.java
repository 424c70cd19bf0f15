// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.work.FlagSet;

/** An operand size of atomic operations over PCI ({@code enum ibv_pci_atomic_op_size}, ibv_query_device_ex(3)). */
public enum PciAtomicSize {
    /** 4 bytes. */
    SIZE_4_BYTE(Rdma.IBV_PCI_ATOMIC_OPERATION_4_BYTE_SIZE_SUP()),
    /** 8 bytes. */
    SIZE_8_BYTE(Rdma.IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP()),
    /** 16 bytes. */
    SIZE_16_BYTE(Rdma.IBV_PCI_ATOMIC_OPERATION_16_BYTE_SIZE_SUP());

    private final int bit;

    PciAtomicSize(int bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public int bit() {
        return bit;
    }

    /**
     * Returns the sizes in a bit mask.
     *
     * @param mask the bits, as in C
     * @return the sizes; keeps bits that this library has no name for
     */
    public static FlagSet<PciAtomicSize> of(int mask) {
        return FlagSet.of(PciAtomicSize.class, Integer.toUnsignedLong(mask), PciAtomicSize::bit);
    }
}
