// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import java.util.Objects;
import java.util.Optional;

import io.rdmacm.verbs.internal.ffi.Arguments;
import org.jspecify.annotations.Nullable;

/**
 * The address vector of a remote port ({@code struct ibv_ah_attr}, ibv_create_ah(3)), for an address handle or a
 * connected queue pair. Immutable.
 *
 * @param globalRoute the contents of the global route header; always required on RoCE, and on InfiniBand only between
 *        subnets and for multicast
 * @param destinationLid the local identifier (LID) of the remote port, 16 bits; 0 on RoCE
 * @param serviceLevel the service level (SL), 0 to 255; InfiniBand uses only the lower 4 bits
 * @param sourcePathBits the low bits that select one of the LIDs of the local port: 0 to 255; InfiniBand uses 7 bits
 * @param staticRate the rate that packets are throttled to; {@link Rate#RATE_MAX} for the full rate of the port
 * @param port the number of the local port, starting at 1; 8 bits
 */
public record AddressAttributes(Optional<GlobalRoute> globalRoute, int destinationLid, int serviceLevel,
        int sourcePathBits, Rate staticRate, int port) {
    private static final int DEFAULT_HOP_LIMIT = 64;

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a number does not fit into its field
     */
    public AddressAttributes {
        Objects.requireNonNull(globalRoute, "globalRoute");
        Arguments.requireBits("destination LID", destinationLid, Short.SIZE);
        Arguments.requireBits("service level", serviceLevel, Byte.SIZE);
        Arguments.requireBits("source path bits", sourcePathBits, Byte.SIZE);
        Objects.requireNonNull(staticRate, "staticRate");
        Arguments.requireBits("port", port, Byte.SIZE);
    }

    /** {@return a builder that starts with port 1, no global route, the full rate of the port, and 0 for the rest} */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns the address vector of a port on RoCE, with a hop limit of 64.
     *
     * @param port the number of the local port, starting at 1
     * @param destination the GID of the remote port
     * @param sourceGidIndex the index of the source GID in the GID table of the local port
     * @return the address vector
     * @throws IllegalArgumentException if a number does not fit into its field
     */
    public static AddressAttributes ofRoute(int port, Gid destination, int sourceGidIndex) {
        return builder().port(port).globalRoute(destination, sourceGidIndex).build();
    }

    /** Builds {@link AddressAttributes}. Not thread-safe. */
    public static final class Builder {
        private @Nullable GlobalRoute globalRoute;
        private int destinationLid;
        private int serviceLevel;
        private int sourcePathBits;
        private Rate staticRate = Rate.RATE_MAX;
        private int port = 1;

        private Builder() {
        }

        /**
         * Sets the contents of the global route header.
         *
         * @param route the route; null for none
         * @return this builder
         */
        public Builder globalRoute(@Nullable GlobalRoute route) {
            globalRoute = route;
            return this;
        }

        /**
         * Sets a global route header with a hop limit of 64, and with 0 for flow label and traffic class.
         *
         * @param destination the GID of the remote port
         * @param sourceGidIndex the index of the source GID in the GID table of the local port
         * @return this builder
         * @throws IllegalArgumentException if the index is not from 0 to 255
         */
        public Builder globalRoute(Gid destination, int sourceGidIndex) {
            return globalRoute(new GlobalRoute(destination, 0, sourceGidIndex, DEFAULT_HOP_LIMIT, 0));
        }

        /**
         * Sets the LID of the remote port, for InfiniBand.
         *
         * @param lid 16 bits
         * @return this builder
         */
        public Builder destinationLid(int lid) {
            destinationLid = lid;
            return this;
        }

        /**
         * Sets the service level.
         *
         * @param level 0 to 255; InfiniBand uses only the lower 4 bits
         * @return this builder
         */
        public Builder serviceLevel(int level) {
            serviceLevel = level;
            return this;
        }

        /**
         * Sets the low bits that select one of the LIDs of the local port.
         *
         * @param bits 0 to 255; InfiniBand uses 7 bits
         * @return this builder
         */
        public Builder sourcePathBits(int bits) {
            sourcePathBits = bits;
            return this;
        }

        /**
         * Sets the rate that packets are throttled to.
         *
         * @param rate the rate; {@link Rate#RATE_MAX} for the full rate of the port
         * @return this builder
         */
        public Builder staticRate(Rate rate) {
            staticRate = rate;
            return this;
        }

        /**
         * Sets the local port.
         *
         * @param number the number of the port, starting at 1
         * @return this builder
         */
        public Builder port(int number) {
            port = number;
            return this;
        }

        /**
         * Builds the attributes.
         *
         * @return the attributes
         * @throws IllegalArgumentException if a number does not fit into its field
         */
        public AddressAttributes build() {
            return new AddressAttributes(Optional.ofNullable(globalRoute), destinationLid, serviceLevel,
                    sourcePathBits, staticRate, port);
        }
    }
}
