// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.mlx5.mlx5_ib_uapi_query_port;
import io.rdmacm.bindings.mlx5.mlx5_ib_uapi_reg;
import io.rdmacm.verbs.internal.ffi.Memory;

/**
 * How a port is seen by the embedded switch ({@code struct mlx5dv_port}, mlx5dv_query_port(3)).
 */
public final class Mlx5PortAttributes {
    // a copy on the heap
    private final MemorySegment struct;

    private Mlx5PortAttributes(MemorySegment struct) {
        this.struct = struct;
    }

    /**
     * Returns what a {@code struct mlx5dv_port} says.
     *
     * @param struct is copied
     * @return the attributes
     */
    public static Mlx5PortAttributes of(MemorySegment struct) {
        return new Mlx5PortAttributes(Memory.heapCopy(struct, mlx5_ib_uapi_query_port.sizeof()));
    }

    /** {@return which of the other values are valid, bits of {@code MLX5DV_QUERY_PORT_*}} */
    public long flags() {
        return mlx5_ib_uapi_query_port.flags(struct);
    }

    /** {@return the number of the virtual port} */
    public int vport() {
        return Short.toUnsignedInt(mlx5_ib_uapi_query_port.vport(struct));
    }

    /** {@return the id of the device behind the virtual port} */
    public int vportVhcaId() {
        return Short.toUnsignedInt(mlx5_ib_uapi_query_port.vport_vhca_id(struct));
    }

    /** {@return the id of the device that owns the switch} */
    public int switchOwnerVhcaId() {
        return Short.toUnsignedInt(mlx5_ib_uapi_query_port.esw_owner_vhca_id(struct));
    }

    /** {@return the address of the root of steering for what is received} */
    public long steeringIcmReceive() {
        return mlx5_ib_uapi_query_port.vport_steering_icm_rx(struct);
    }

    /** {@return the address of the root of steering for what is sent} */
    public long steeringIcmSend() {
        return mlx5_ib_uapi_query_port.vport_steering_icm_tx(struct);
    }

    /** {@return what the metadata register C0 of packets of this virtual port contains} */
    public int metadata() {
        return mlx5_ib_uapi_reg.value(mlx5_ib_uapi_query_port.reg_c0(struct));
    }

    /** {@return which bits of that register count} */
    public int metadataMask() {
        return mlx5_ib_uapi_reg.mask(mlx5_ib_uapi_query_port.reg_c0(struct));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Mlx5PortAttributes that && struct.mismatch(that.struct) < 0;
    }

    @Override
    public int hashCode() {
        return toString().hashCode();
    }

    @Override
    public String toString() {
        return "Mlx5PortAttributes[flags=0x" + Long.toHexString(flags()) + ", vport=" + vport() + ", vportVhcaId="
                + vportVhcaId() + ", switchOwnerVhcaId=" + switchOwnerVhcaId() + ", steeringIcmReceive=0x"
                + Long.toHexString(steeringIcmReceive()) + ", steeringIcmSend=0x"
                + Long.toHexString(steeringIcmSend()) + ", metadata=0x" + Integer.toHexString(metadata())
                + ", metadataMask=0x" + Integer.toHexString(metadataMask()) + "]";
    }
}
