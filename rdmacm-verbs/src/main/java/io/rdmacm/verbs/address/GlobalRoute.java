// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import java.util.Objects;

import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * The contents of the global route header (GRH) of a packet ({@code struct ibv_global_route}, ibv_create_ah(3)). RoCE
 * always needs it, InfiniBand only between subnets and for multicast.
 *
 * @param destination the GID of the remote port
 * @param flowLabel the flow label, 20 bits
 * @param sourceGidIndex the index of the source GID in the GID table of the local port: 0 to 255
 * @param hopLimit the number of routers that the packet may pass: 0 to 255
 * @param trafficClass the traffic class, 0 to 255; on RoCE version 2 the upper 6 bits are the DSCP
 */
public record GlobalRoute(Gid destination, int flowLabel, int sourceGidIndex, int hopLimit, int trafficClass) {
    private static final int FLOW_LABEL_BITS = 20;

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a number does not fit into its field
     */
    public GlobalRoute {
        Objects.requireNonNull(destination, "destination");
        Arguments.requireBits("flow label", flowLabel, FLOW_LABEL_BITS);
        Arguments.requireBits("source GID index", sourceGidIndex, Byte.SIZE);
        Arguments.requireBits("hop limit", hopLimit, Byte.SIZE);
        Arguments.requireBits("traffic class", trafficClass, Byte.SIZE);
    }
}
