// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.work.FlagSet;

/** What a device can do ({@code enum ibv_device_cap_flags} and IBV_DEVICE_*, ibv_query_device(3)). */
public enum DeviceCapability {
    /** The number of work requests of a queue pair can be changed. */
    RESIZE_MAX_WR(Rdma.IBV_DEVICE_RESIZE_MAX_WR()),
    /** Counts bad partition keys. */
    BAD_PKEY_CNTR(Rdma.IBV_DEVICE_BAD_PKEY_CNTR()),
    /** Counts bad queue keys. */
    BAD_QKEY_CNTR(Rdma.IBV_DEVICE_BAD_QKEY_CNTR()),
    /** Raw packets can be multicast. */
    RAW_MULTI(Rdma.IBV_DEVICE_RAW_MULTI()),
    /** Migrates paths by itself. */
    AUTO_PATH_MIG(Rdma.IBV_DEVICE_AUTO_PATH_MIG()),
    /** The port of a queue pair can be changed. */
    CHANGE_PHY_PORT(Rdma.IBV_DEVICE_CHANGE_PHY_PORT()),
    /** Checks the port of address handles. */
    UD_AV_PORT_ENFORCE(Rdma.IBV_DEVICE_UD_AV_PORT_ENFORCE()),
    /** Checks the current state given to a change of state. */
    CURR_QP_STATE_MOD(Rdma.IBV_DEVICE_CURR_QP_STATE_MOD()),
    /** Ports can be shut down. */
    SHUTDOWN_PORT(Rdma.IBV_DEVICE_SHUTDOWN_PORT()),
    /** Ports have init types. */
    INIT_TYPE(Rdma.IBV_DEVICE_INIT_TYPE()),
    /** Tells when a port becomes active. */
    PORT_ACTIVE_EVENT(Rdma.IBV_DEVICE_PORT_ACTIVE_EVENT()),
    /** Has a system image GUID. */
    SYS_IMAGE_GUID(Rdma.IBV_DEVICE_SYS_IMAGE_GUID()),
    /** Answers "receiver not ready" for reliable connections. */
    RC_RNR_NAK_GEN(Rdma.IBV_DEVICE_RC_RNR_NAK_GEN()),
    /** Shared receive queues can be resized. */
    SRQ_RESIZE(Rdma.IBV_DEVICE_SRQ_RESIZE()),
    /** Notifies after a number of completions. */
    N_NOTIFY_CQ(Rdma.IBV_DEVICE_N_NOTIFY_CQ()),
    /** Has memory windows of type 1. */
    MEM_WINDOW(Rdma.IBV_DEVICE_MEM_WINDOW()),
    /** Checksums IP over datagram queue pairs. */
    UD_IP_CSUM(Rdma.IBV_DEVICE_UD_IP_CSUM()),
    /** Has extended reliable connections. */
    XRC(Rdma.IBV_DEVICE_XRC()),
    /** Has the memory management extensions. */
    MEM_MGT_EXTENSIONS(Rdma.IBV_DEVICE_MEM_MGT_EXTENSIONS()),
    /** Has memory windows of type 2A. */
    MEM_WINDOW_TYPE_2A(Rdma.IBV_DEVICE_MEM_WINDOW_TYPE_2A()),
    /** Has memory windows of type 2B. */
    MEM_WINDOW_TYPE_2B(Rdma.IBV_DEVICE_MEM_WINDOW_TYPE_2B()),
    /** Checksums IP over reliable connections. */
    RC_IP_CSUM(Rdma.IBV_DEVICE_RC_IP_CSUM()),
    /** Checksums IP over raw packets. */
    RAW_IP_CSUM(Rdma.IBV_DEVICE_RAW_IP_CSUM()),
    /** Has flow steering. */
    MANAGED_FLOW_STEERING(Rdma.IBV_DEVICE_MANAGED_FLOW_STEERING()),
    /** Scatters the frame check sequence of raw packets; only in the extended query. */
    RAW_SCATTER_FCS(Rdma.IBV_DEVICE_RAW_SCATTER_FCS()),
    /** Pads the end of PCI writes; only in the extended query. */
    PCI_WRITE_END_PADDING(Rdma.IBV_DEVICE_PCI_WRITE_END_PADDING());

    private final long bit;

    DeviceCapability(long bit) {
        this.bit = bit;
    }

    /** The bit of the C constant. */
    public long bit() {
        return bit;
    }

    public static FlagSet<DeviceCapability> of(long mask) {
        return FlagSet.of(values(), mask, DeviceCapability::bit);
    }
}
