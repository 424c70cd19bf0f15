// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_port_attr;
import io.rdmacm.verbs.address.ExponentialDelay;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.work.FlagSet;

/** The attributes of a port ({@code struct ibv_port_attr}, ibv_query_port(3)). */
public final class PortAttributes {
    // enum ibv_mtu numbers the powers of two from 256 on, starting at 1.
    private static final int MTU_BASE = 128;

    // a copy on the heap
    private final MemorySegment struct;

    private PortAttributes(MemorySegment struct) {
        this.struct = struct;
    }

    /**
     * Returns what a {@code struct ibv_port_attr} says.
     *
     * @param struct is copied; an older library leaves {@code active_speed_ex} 0
     * @return the attributes
     */
    public static PortAttributes of(MemorySegment struct) {
        return new PortAttributes(Memory.heapCopy(struct, ibv_port_attr.sizeof()));
    }

    /** {@return the logical state; the port can send and receive in {@link PortState#ACTIVE}} */
    public PortState state() {
        return PortState.of(ibv_port_attr.state(struct));
    }

    /** {@return the largest MTU that the port supports, in bytes: 256 to 4096} */
    public int maxMtu() {
        return mtu(ibv_port_attr.max_mtu(struct));
    }

    /** {@return the MTU in use, in bytes: 256 to 4096} */
    public int activeMtu() {
        return mtu(ibv_port_attr.active_mtu(struct));
    }

    /** {@return the length of the GID table} */
    public int gidTableLength() {
        return ibv_port_attr.gid_tbl_len(struct);
    }

    /** {@return what the port can do} */
    public FlagSet<PortCapability> capabilities() {
        return PortCapability.of(ibv_port_attr.port_cap_flags(struct));
    }

    /** {@return the maximum size of a message in bytes} */
    public long maxMessageSize() {
        return Integer.toUnsignedLong(ibv_port_attr.max_msg_sz(struct));
    }

    /** {@return the number of packets that arrived with a bad partition key} */
    public long badPartitionKeys() {
        return Integer.toUnsignedLong(ibv_port_attr.bad_pkey_cntr(struct));
    }

    /** {@return the number of packets that arrived with a wrong queue key} */
    public long queueKeyViolations() {
        return Integer.toUnsignedLong(ibv_port_attr.qkey_viol_cntr(struct));
    }

    /** {@return the length of the partition key table} */
    public int partitionKeyTableLength() {
        return Short.toUnsignedInt(ibv_port_attr.pkey_tbl_len(struct));
    }

    /** {@return the base LID (local identifier); 0 on Ethernet} */
    public int lid() {
        return Short.toUnsignedInt(ibv_port_attr.lid(struct));
    }

    /** {@return the LID of the subnet manager} */
    public int subnetManagerLid() {
        return Short.toUnsignedInt(ibv_port_attr.sm_lid(struct));
    }

    /** {@return the LMC: how many low bits of the LID the port accepts in any combination} */
    public int lidMaskControl() {
        return Byte.toUnsignedInt(ibv_port_attr.lmc(struct));
    }

    /** {@return the number of data virtual lanes} */
    public VirtualLanes maxVirtualLanes() {
        return new VirtualLanes(Byte.toUnsignedInt(ibv_port_attr.max_vl_num(struct)));
    }

    /** {@return the service level of the subnet manager} */
    public int subnetManagerServiceLevel() {
        return Byte.toUnsignedInt(ibv_port_attr.sm_sl(struct));
    }

    /** {@return the maximum time that a packet takes through the subnet} */
    public ExponentialDelay subnetTimeout() {
        return new ExponentialDelay(Byte.toUnsignedInt(ibv_port_attr.subnet_timeout(struct)));
    }

    /** {@return the type of initialization that the subnet manager performed} */
    public int initTypeReply() {
        return Byte.toUnsignedInt(ibv_port_attr.init_type_reply(struct));
    }

    /** {@return the number of lanes in use} */
    public LinkWidth activeWidth() {
        return new LinkWidth(Byte.toUnsignedInt(ibv_port_attr.active_width(struct)));
    }

    /** {@return the speed of each lane, at most {@link LinkSpeed#NDR}; see {@link #speed()}} */
    public LinkSpeed activeSpeed() {
        return new LinkSpeed(Byte.toUnsignedInt(ibv_port_attr.active_speed(struct)));
    }

    /** {@return the physical state of the link} */
    public PhysicalState physicalState() {
        return new PhysicalState(Byte.toUnsignedInt(ibv_port_attr.phys_state(struct)));
    }

    /** {@return the link layer} */
    public LinkLayer linkLayer() {
        return LinkLayer.of(ibv_port_attr.link_layer(struct));
    }

    /** {@return whether all address handles need a global route ({@code IBV_QPF_GRH_REQUIRED})} */
    public boolean globalRouteRequired() {
        return (ibv_port_attr.flags(struct) & Rdma.IBV_QPF_GRH_REQUIRED()) != 0;
    }

    /** {@return further capabilities ({@code port_cap_flags2})} */
    public FlagSet<ExtendedPortCapability> extendedCapabilities() {
        return ExtendedPortCapability.of(Short.toUnsignedInt(ibv_port_attr.port_cap_flags2(struct)));
    }

    /**
     * {@return the speed of each lane, also beyond {@link LinkSpeed#NDR} ({@code active_speed_ex}); code 0 if it is not
     * reported, as by releases before rdma-core 49 and older kernels}
     */
    public LinkSpeed activeSpeedEx() {
        return new LinkSpeed(ibv_port_attr.active_speed_ex(struct));
    }

    /** {@return the speed of each lane: {@link #activeSpeedEx} if it is reported, otherwise {@link #activeSpeed}} */
    public LinkSpeed speed() {
        LinkSpeed beyond = activeSpeedEx();
        return beyond.code() != 0 ? beyond : activeSpeed();
    }

    private static int mtu(int code) {
        return code == 0 ? 0 : MTU_BASE << code;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PortAttributes that && struct.mismatch(that.struct) < 0;
    }

    @Override
    public int hashCode() {
        return Objects.hash(state(), lid(), gidTableLength());
    }

    @Override
    public String toString() {
        return "PortAttributes[state=" + state() + ", maxMtu=" + maxMtu() + ", activeMtu=" + activeMtu()
                + ", gidTableLength=" + gidTableLength() + ", capabilities=" + capabilities()
                + ", maxMessageSize=" + maxMessageSize() + ", badPartitionKeys=" + badPartitionKeys()
                + ", queueKeyViolations=" + queueKeyViolations()
                + ", partitionKeyTableLength=" + partitionKeyTableLength() + ", lid=" + lid()
                + ", subnetManagerLid=" + subnetManagerLid() + ", lidMaskControl=" + lidMaskControl()
                + ", maxVirtualLanes=" + maxVirtualLanes()
                + ", subnetManagerServiceLevel=" + subnetManagerServiceLevel() + ", subnetTimeout=" + subnetTimeout()
                + ", initTypeReply=" + initTypeReply() + ", activeWidth=" + activeWidth()
                + ", activeSpeed=" + activeSpeed() + ", physicalState=" + physicalState()
                + ", linkLayer=" + linkLayer() + ", globalRouteRequired=" + globalRouteRequired()
                + ", extendedCapabilities=" + extendedCapabilities() + ", activeSpeedEx=" + activeSpeedEx() + "]";
    }
}
