// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import java.util.Objects;

import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * How a packet finds its way between subnets, and always on RoCE ({@code struct ibv_global_route},
 * ibv_create_ah(3)): what goes into its global route header.
 *
 * @param destination the GID of the other port
 * @param flowLabel 20 bits
 * @param sourceGidIndex the index, in the table of this port, of the GID that it is sent from: 0 to 255
 * @param hopLimit how many routers it may pass: 0 to 255
 * @param trafficClass 0 to 255; on RoCE version 2 the upper 6 bits are the DSCP
 */
public record GlobalRoute(Gid destination, int flowLabel, int sourceGidIndex, int hopLimit, int trafficClass) {
    private static final int FLOW_LABEL_BITS = 20;

    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException when one does not fit into its field
     */
    public GlobalRoute {
        Objects.requireNonNull(destination, "destination");
        Arguments.requireBits("flow label", flowLabel, FLOW_LABEL_BITS);
        Arguments.requireBits("source GID index", sourceGidIndex, Byte.SIZE);
        Arguments.requireBits("hop limit", hopLimit, Byte.SIZE);
        Arguments.requireBits("traffic class", trafficClass, Byte.SIZE);
    }
}
