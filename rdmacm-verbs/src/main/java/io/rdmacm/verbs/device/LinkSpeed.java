// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import java.util.OptionalInt;

/**
 * The speed of each lane of a link ({@code ibv_port_attr.active_speed} and {@code active_speed_ex}, ibv_query_port(3)).
 * The C headers have no names for the codes; the constants bear those of the InfiniBand roadmap.
 *
 * @param code the code in C; codes that this library does not know are kept
 */
public record LinkSpeed(int code) {
    /** Single data rate: 2.5 Gbit/s per lane. */
    public static final LinkSpeed SDR = new LinkSpeed(1);
    /** Double data rate: 5 Gbit/s per lane. */
    public static final LinkSpeed DDR = new LinkSpeed(2);
    /** Quad data rate: 10 Gbit/s per lane. */
    public static final LinkSpeed QDR = new LinkSpeed(4);
    /** 10 Gbit/s per lane, with the encoding of FDR. */
    public static final LinkSpeed FDR10 = new LinkSpeed(8);
    /** Fourteen data rate: 14 Gbit/s per lane. */
    public static final LinkSpeed FDR = new LinkSpeed(16);
    /** Enhanced data rate: 25 Gbit/s per lane. */
    public static final LinkSpeed EDR = new LinkSpeed(32);
    /** High data rate: 50 Gbit/s per lane. */
    public static final LinkSpeed HDR = new LinkSpeed(64);
    /** Next data rate: 100 Gbit/s per lane. */
    public static final LinkSpeed NDR = new LinkSpeed(128);
    /** Extended data rate: 200 Gbit/s per lane. */
    public static final LinkSpeed XDR = new LinkSpeed(256);

    /** {@return the nominal speed of a lane in Mbit/s; empty if this library does not know the code} */
    public OptionalInt megabitsPerLane() {
        return switch (code) {
            case 1 -> OptionalInt.of(2_500);
            case 2 -> OptionalInt.of(5_000);
            case 4, 8 -> OptionalInt.of(10_000);
            case 16 -> OptionalInt.of(14_000);
            case 32 -> OptionalInt.of(25_000);
            case 64 -> OptionalInt.of(50_000);
            case 128 -> OptionalInt.of(100_000);
            case 256 -> OptionalInt.of(200_000);
            default -> OptionalInt.empty();
        };
    }

    @Override
    public String toString() {
        OptionalInt speed = megabitsPerLane();
        return (speed.isPresent() ? speed.getAsInt() + " Mbit/s a lane" : "unknown") + " (code "
                + Integer.toUnsignedString(code) + ")";
    }
}
