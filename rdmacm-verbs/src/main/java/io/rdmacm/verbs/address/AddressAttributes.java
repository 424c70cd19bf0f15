// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import java.util.Objects;
import java.util.Optional;

import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * The way to another port ({@code struct ibv_ah_attr}, ibv_create_ah(3)): of an address handle, or of a connected queue
 * pair. Immutable.
 *
 * @param globalRoute the global route header; RoCE always needs one, InfiniBand between subnets only
 * @param destinationLid the local identifier of the other port, 16 bits; 0 on RoCE
 * @param serviceLevel 0 to 255, of which InfiniBand uses 4 bits
 * @param sourcePathBits which of the local identifiers of this port it is sent from: 0 to 127
 * @param staticRate the rate that the packets are slowed down to; {@link Rate#RATE_MAX} for the port's own
 * @param port the port of this device, from 1 on
 */
public record AddressAttributes(Optional<GlobalRoute> globalRoute, int destinationLid, int serviceLevel,
        int sourcePathBits, Rate staticRate, int port) {
    private static final int DEFAULT_HOP_LIMIT = 64;

    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException when one does not fit into its field
     */
    public AddressAttributes {
        Objects.requireNonNull(globalRoute, "globalRoute");
        Arguments.requireBits("destination LID", destinationLid, Short.SIZE);
        Arguments.requireBits("service level", serviceLevel, Byte.SIZE);
        Arguments.requireBits("source path bits", sourcePathBits, Byte.SIZE);
        Objects.requireNonNull(staticRate, "staticRate");
        Arguments.requireBits("port", port, Byte.SIZE);
    }

    /** Begins with port 1, no global route, the rate of the port, and 0 for all other values. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * The way to a port on RoCE.
     *
     * @param port the port of this device, from 1 on
     * @param destination the GID of the other port
     * @param sourceGidIndex the index of the GID of this port
     */
    public static AddressAttributes ofRoute(int port, Gid destination, int sourceGidIndex) {
        return builder().port(port).globalRoute(destination, sourceGidIndex).build();
    }

    /** Makes {@link AddressAttributes}. */
    public static final class Builder {
        private GlobalRoute globalRoute;
        private int destinationLid;
        private int serviceLevel;
        private int sourcePathBits;
        private Rate staticRate = Rate.RATE_MAX;
        private int port = 1;

        private Builder() {
        }

        /** A global route header. */
        public Builder globalRoute(GlobalRoute route) {
            globalRoute = route;
            return this;
        }

        /**
         * A global route header with a hop limit of 64, and 0 for flow label and traffic class.
         *
         * @param destination the GID of the other port
         * @param sourceGidIndex the index of the GID of this port
         */
        public Builder globalRoute(Gid destination, int sourceGidIndex) {
            return globalRoute(new GlobalRoute(destination, 0, sourceGidIndex, DEFAULT_HOP_LIMIT, 0));
        }

        /** The local identifier of the other port, on InfiniBand. */
        public Builder destinationLid(int lid) {
            destinationLid = lid;
            return this;
        }

        /** The service level. */
        public Builder serviceLevel(int level) {
            serviceLevel = level;
            return this;
        }

        /** Which of the local identifiers of this port it is sent from. */
        public Builder sourcePathBits(int bits) {
            sourcePathBits = bits;
            return this;
        }

        /** The rate that the packets are slowed down to. */
        public Builder staticRate(Rate rate) {
            staticRate = rate;
            return this;
        }

        /** The port of this device, from 1 on. */
        public Builder port(int number) {
            port = number;
            return this;
        }

        /**
         * The attributes.
         *
         * @throws IllegalArgumentException when a number does not fit into its field
         */
        public AddressAttributes build() {
            return new AddressAttributes(Optional.ofNullable(globalRoute), destinationLid, serviceLevel,
                    sourcePathBits, staticRate, port);
        }
    }
}
