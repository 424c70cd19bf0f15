// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.work.FlagSet;

/**
 * A capability of a device ({@code enum ibv_device_cap_flags} and the IBV_DEVICE_* constants, ibv_query_device(3),
 * ibv_query_device_ex(3)).
 */
public enum DeviceCapability {
    /** The maximum number of outstanding work requests of a queue pair can be changed. */
    RESIZE_MAX_WR(Rdma.IBV_DEVICE_RESIZE_MAX_WR()),
    /** The device counts bad partition keys per port. */
    BAD_PKEY_CNTR(Rdma.IBV_DEVICE_BAD_PKEY_CNTR()),
    /** The device counts queue key violations per port. */
    BAD_QKEY_CNTR(Rdma.IBV_DEVICE_BAD_QKEY_CNTR()),
    /** Raw packets can be multicast. */
    RAW_MULTI(Rdma.IBV_DEVICE_RAW_MULTI()),
    /** Automatic path migration is supported. */
    AUTO_PATH_MIG(Rdma.IBV_DEVICE_AUTO_PATH_MIG()),
    /** The port of a queue pair can be changed. */
    CHANGE_PHY_PORT(Rdma.IBV_DEVICE_CHANGE_PHY_PORT()),
    /** The device checks the port number of address handles. */
    UD_AV_PORT_ENFORCE(Rdma.IBV_DEVICE_UD_AV_PORT_ENFORCE()),
    /** The device honors the current state that is given when a queue pair is modified. */
    CURR_QP_STATE_MOD(Rdma.IBV_DEVICE_CURR_QP_STATE_MOD()),
    /** Ports can be shut down. */
    SHUTDOWN_PORT(Rdma.IBV_DEVICE_SHUTDOWN_PORT()),
    /** The port initialization type can be set and is reported. */
    INIT_TYPE(Rdma.IBV_DEVICE_INIT_TYPE()),
    /** The device reports when a port becomes active. */
    PORT_ACTIVE_EVENT(Rdma.IBV_DEVICE_PORT_ACTIVE_EVENT()),
    /** The device has a system image GUID. */
    SYS_IMAGE_GUID(Rdma.IBV_DEVICE_SYS_IMAGE_GUID()),
    /** Reliable connections can answer "receiver not ready" (RNR NAK). */
    RC_RNR_NAK_GEN(Rdma.IBV_DEVICE_RC_RNR_NAK_GEN()),
    /** Shared receive queues can be resized. */
    SRQ_RESIZE(Rdma.IBV_DEVICE_SRQ_RESIZE()),
    /** An event can be requested after a given number of completions. */
    N_NOTIFY_CQ(Rdma.IBV_DEVICE_N_NOTIFY_CQ()),
    /** Memory windows of type 1 are supported. */
    MEM_WINDOW(Rdma.IBV_DEVICE_MEM_WINDOW()),
    /** IP checksums can be offloaded on UD queue pairs. */
    UD_IP_CSUM(Rdma.IBV_DEVICE_UD_IP_CSUM()),
    /** XRC (extended reliable connected) is supported. */
    XRC(Rdma.IBV_DEVICE_XRC()),
    /** The memory management extensions are supported: local and remote invalidation among them. */
    MEM_MGT_EXTENSIONS(Rdma.IBV_DEVICE_MEM_MGT_EXTENSIONS()),
    /** Memory windows of type 2A are supported. */
    MEM_WINDOW_TYPE_2A(Rdma.IBV_DEVICE_MEM_WINDOW_TYPE_2A()),
    /** Memory windows of type 2B are supported. */
    MEM_WINDOW_TYPE_2B(Rdma.IBV_DEVICE_MEM_WINDOW_TYPE_2B()),
    /** IP checksums can be offloaded on RC queue pairs. */
    RC_IP_CSUM(Rdma.IBV_DEVICE_RC_IP_CSUM()),
    /** IP checksums can be offloaded on raw packet queue pairs. */
    RAW_IP_CSUM(Rdma.IBV_DEVICE_RAW_IP_CSUM()),
    /** Flow steering is supported. */
    MANAGED_FLOW_STEERING(Rdma.IBV_DEVICE_MANAGED_FLOW_STEERING()),
    /** The frame check sequence of raw packets can be scattered to memory; reported by the extended query only. */
    RAW_SCATTER_FCS(Rdma.IBV_DEVICE_RAW_SCATTER_FCS()),
    /** PCI writes can be padded to a full cache line; reported by the extended query only. */
    PCI_WRITE_END_PADDING(Rdma.IBV_DEVICE_PCI_WRITE_END_PADDING()),
    // The kernel reports the next three, but verbs.h has no names for them: those of ib_user_verbs.h are
    // IB_UVERBS_DEVICE_FLUSH_GLOBAL and so on.
    /** Flushes for global visibility are supported; reported by the extended query only. */
    FLUSH_GLOBAL(1L << 38),
    /** Flushes to persistent memory are supported; reported by the extended query only. */
    FLUSH_PERSISTENT(1L << 39),
    /** Atomic writes are supported; reported by the extended query only. */
    ATOMIC_WRITE(1L << 40),
    /**
     * The system is a confidential VM, in which the device reaches ordinary memory only through bounce buffers;
     * reported by the extended query only. See {@link io.rdmacm.verbs.memory.VerbsBuffer VerbsBuffer}.
     */
    CC_DMA_BOUNCE(Rdma.IBV_DEVICE_CC_DMA_BOUNCE());

    private final long bit;

    DeviceCapability(long bit) {
        this.bit = bit;
    }

    /** {@return the bit of the C constant} */
    public long bit() {
        return bit;
    }

    /**
     * Returns the capabilities in a bit mask.
     *
     * @param mask the bits, as in C
     * @return the capabilities; keeps bits that this library has no name for
     */
    public static FlagSet<DeviceCapability> of(long mask) {
        return FlagSet.of(DeviceCapability.class, mask, DeviceCapability::bit);
    }
}
