// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;

/**
 * A driver, as the kernel numbers them ({@code enum rdma_driver_id}). It is in the upper half of the resource type that
 * an {@linkplain io.rdmacm.verbs.ParentDomainAllocator allocator} gets.
 */
public enum DriverId {
    /** A driver that this library does not know. */
    UNKNOWN(Rdma.RDMA_DRIVER_UNKNOWN()),
    /** NVIDIA ConnectX-4 and later, BlueField. */
    MLX5(Rdma.RDMA_DRIVER_MLX5()),
    /** NVIDIA ConnectX-3. */
    MLX4(Rdma.RDMA_DRIVER_MLX4()),
    /** Chelsio T3. */
    CXGB3(Rdma.RDMA_DRIVER_CXGB3()),
    /** Chelsio T4 and later. */
    CXGB4(Rdma.RDMA_DRIVER_CXGB4()),
    /** Mellanox InfiniHost. */
    MTHCA(Rdma.RDMA_DRIVER_MTHCA()),
    /** Broadcom NetXtreme. */
    BNXT_RE(Rdma.RDMA_DRIVER_BNXT_RE()),
    /** Emulex OneConnect. */
    OCRDMA(Rdma.RDMA_DRIVER_OCRDMA()),
    /** Intel NetEffect. */
    NES(Rdma.RDMA_DRIVER_NES()),
    /** Intel Ethernet; the number was that of its predecessor i40iw. */
    IRDMA(Rdma.RDMA_DRIVER_IRDMA()),
    /** VMware paravirtual RDMA. */
    VMW_PVRDMA(Rdma.RDMA_DRIVER_VMW_PVRDMA()),
    /** QLogic FastLinQ. */
    QEDR(Rdma.RDMA_DRIVER_QEDR()),
    /** HiSilicon. */
    HNS(Rdma.RDMA_DRIVER_HNS()),
    /** Cisco VIC. */
    USNIC(Rdma.RDMA_DRIVER_USNIC()),
    /** SoftRoCE. */
    RXE(Rdma.RDMA_DRIVER_RXE()),
    /** Cornelis Omni-Path. */
    HFI1(Rdma.RDMA_DRIVER_HFI1()),
    /** Intel True Scale. */
    QIB(Rdma.RDMA_DRIVER_QIB()),
    /** Amazon EFA. */
    EFA(Rdma.RDMA_DRIVER_EFA()),
    /** SoftiWARP. */
    SIW(Rdma.RDMA_DRIVER_SIW()),
    /** Alibaba Elastic RDMA. */
    ERDMA(Rdma.RDMA_DRIVER_ERDMA()),
    /** Microsoft Azure. */
    MANA(Rdma.RDMA_DRIVER_MANA()),
    /** AMD Pensando; since rdma-core 61. */
    IONIC(Rdma.RDMA_DRIVER_IONIC());

    private final int value;

    DriverId(int value) {
        this.value = value;
    }

    /** {@return the C constant} */
    public int value() {
        return value;
    }

    /**
     * Returns the driver with the given C constant.
     *
     * @param value a value of {@code enum rdma_driver_id}
     * @return the driver; {@link #UNKNOWN} for an unknown constant
     */
    public static DriverId of(int value) {
        for (DriverId driver : values()) {
            if (driver.value == value) {
                return driver;
            }
        }
        return UNKNOWN;
    }

    /**
     * Returns the driver that a resource type belongs to.
     *
     * @param resourceType what an {@link io.rdmacm.verbs.ParentDomainAllocator} is asked for
     * @return the driver; {@link #UNKNOWN} if this library does not know it
     */
    public static DriverId ofResourceType(long resourceType) {
        return of((int) (resourceType >>> Integer.SIZE));
    }
}
