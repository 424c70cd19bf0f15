// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

/**
 * How a port is seen by the embedded switch ({@code struct mlx5dv_port}, mlx5dv_query_port(3)).
 *
 * @param flags which of the other values are valid, bits of {@code MLX5DV_QUERY_PORT_*}
 * @param vport the number of the virtual port
 * @param vportVhcaId the id of the device behind the virtual port
 * @param switchOwnerVhcaId the id of the device that owns the switch
 * @param steeringIcmReceive the address of the root of steering for what is received
 * @param steeringIcmSend the address of the root of steering for what is sent
 * @param metadata what the metadata register C0 of packets of this virtual port contains
 * @param metadataMask which bits of that register count
 */
public record Mlx5PortAttributes(long flags, int vport, int vportVhcaId, int switchOwnerVhcaId,
        long steeringIcmReceive, long steeringIcmSend, int metadata, int metadataMask) {
}
