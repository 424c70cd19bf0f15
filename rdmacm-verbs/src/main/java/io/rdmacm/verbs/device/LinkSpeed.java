// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import java.util.OptionalInt;

import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * How fast each lane of a link is ({@code ibv_port_attr.active_speed}, ibv_query_port(3)). C has no names for its
 * codes; the constants have those of the InfiniBand roadmap.
 *
 * @param code the code of C, 8 bits; one that is newer than this library is kept
 */
public record LinkSpeed(int code) {
    /** 2.5 Gbit/s a lane. */
    public static final LinkSpeed SDR = new LinkSpeed(1);
    /** 5 Gbit/s a lane. */
    public static final LinkSpeed DDR = new LinkSpeed(2);
    /** 10 Gbit/s a lane. */
    public static final LinkSpeed QDR = new LinkSpeed(4);
    /** 10 Gbit/s a lane, encoded as FDR is. */
    public static final LinkSpeed FDR10 = new LinkSpeed(8);
    /** 14 Gbit/s a lane. */
    public static final LinkSpeed FDR = new LinkSpeed(16);
    /** 25 Gbit/s a lane. */
    public static final LinkSpeed EDR = new LinkSpeed(32);
    /** 50 Gbit/s a lane. */
    public static final LinkSpeed HDR = new LinkSpeed(64);
    /** 100 Gbit/s a lane. */
    public static final LinkSpeed NDR = new LinkSpeed(128);

    /**
     * Checks the code.
     *
     * @throws IllegalArgumentException when the code does not fit into 8 bits
     */
    public LinkSpeed {
        Arguments.requireBits("code of the link speed", code, Byte.SIZE);
    }

    /** Returns the nominal speed of a lane in Mbit/s; empty for a code that this library does not know. */
    public OptionalInt megabitsPerLane() {
        return switch (code) {
            case 1 -> OptionalInt.of(2_500);
            case 2 -> OptionalInt.of(5_000);
            case 4, 8 -> OptionalInt.of(10_000);
            case 16 -> OptionalInt.of(14_000);
            case 32 -> OptionalInt.of(25_000);
            case 64 -> OptionalInt.of(50_000);
            case 128 -> OptionalInt.of(100_000);
            default -> OptionalInt.empty();
        };
    }

    @Override
    public String toString() {
        OptionalInt speed = megabitsPerLane();
        return (speed.isPresent() ? speed.getAsInt() + " Mbit/s a lane" : "unknown") + " (code " + code + ")";
    }
}
