// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.internal.NativeFunction;

/** The rate of a link or of an address handle ({@code enum ibv_rate}, ibv_rate_to_mbps(3)). */
public enum Rate {
    /** As fast as the port. */
    RATE_MAX(Rdma.IBV_RATE_MAX()),
    /** 2.5 Gbit/s. */
    RATE_2_5_GBPS(Rdma.IBV_RATE_2_5_GBPS()),
    /** 5 Gbit/s. */
    RATE_5_GBPS(Rdma.IBV_RATE_5_GBPS()),
    /** 10 Gbit/s. */
    RATE_10_GBPS(Rdma.IBV_RATE_10_GBPS()),
    /** 20 Gbit/s. */
    RATE_20_GBPS(Rdma.IBV_RATE_20_GBPS()),
    /** 30 Gbit/s. */
    RATE_30_GBPS(Rdma.IBV_RATE_30_GBPS()),
    /** 40 Gbit/s. */
    RATE_40_GBPS(Rdma.IBV_RATE_40_GBPS()),
    /** 60 Gbit/s. */
    RATE_60_GBPS(Rdma.IBV_RATE_60_GBPS()),
    /** 80 Gbit/s. */
    RATE_80_GBPS(Rdma.IBV_RATE_80_GBPS()),
    /** 120 Gbit/s. */
    RATE_120_GBPS(Rdma.IBV_RATE_120_GBPS()),
    /** 14 Gbit/s. */
    RATE_14_GBPS(Rdma.IBV_RATE_14_GBPS()),
    /** 56 Gbit/s. */
    RATE_56_GBPS(Rdma.IBV_RATE_56_GBPS()),
    /** 112 Gbit/s. */
    RATE_112_GBPS(Rdma.IBV_RATE_112_GBPS()),
    /** 168 Gbit/s. */
    RATE_168_GBPS(Rdma.IBV_RATE_168_GBPS()),
    /** 25 Gbit/s. */
    RATE_25_GBPS(Rdma.IBV_RATE_25_GBPS()),
    /** 100 Gbit/s. */
    RATE_100_GBPS(Rdma.IBV_RATE_100_GBPS()),
    /** 200 Gbit/s. */
    RATE_200_GBPS(Rdma.IBV_RATE_200_GBPS()),
    /** 300 Gbit/s. */
    RATE_300_GBPS(Rdma.IBV_RATE_300_GBPS()),
    /** 28 Gbit/s. */
    RATE_28_GBPS(Rdma.IBV_RATE_28_GBPS()),
    /** 50 Gbit/s. */
    RATE_50_GBPS(Rdma.IBV_RATE_50_GBPS()),
    /** 400 Gbit/s. */
    RATE_400_GBPS(Rdma.IBV_RATE_400_GBPS()),
    /** 600 Gbit/s. */
    RATE_600_GBPS(Rdma.IBV_RATE_600_GBPS()),
    /** 800 Gbit/s. */
    RATE_800_GBPS(Rdma.IBV_RATE_800_GBPS()),
    /** 1200 Gbit/s. */
    RATE_1200_GBPS(Rdma.IBV_RATE_1200_GBPS());

    private static final NativeFunction TO_MULT = NativeFunction.of("ibv_rate_to_mult");
    private static final NativeFunction OF_MULT = NativeFunction.of("mult_to_ibv_rate");
    private static final NativeFunction TO_MBPS = NativeFunction.of("ibv_rate_to_mbps");
    private static final NativeFunction OF_MBPS = NativeFunction.of("mbps_to_ibv_rate");

    private final int value;

    Rate(int value) {
        this.value = value;
    }

    /** The C constant. */
    public int value() {
        return value;
    }

    /** The rate of a C constant; {@link #RATE_MAX} for one that is not known. */
    public static Rate of(int value) {
        for (Rate rate : values()) {
            if (rate.value == value) {
                return rate;
            }
        }
        return RATE_MAX;
    }

    /**
     * How many times 2.5 Gbit/s it is ({@code ibv_rate_to_mult}).
     *
     * @return -1 for {@link #RATE_MAX} and for rates that are no such multiple
     */
    @CFunction("ibv_rate_to_mult")
    public int toMultiplier() throws RdmaException {
        return TO_MULT.callInt(value);
    }

    /**
     * The rate that is a multiple of 2.5 Gbit/s ({@code mult_to_ibv_rate}).
     *
     * @return {@link #RATE_MAX} when there is none
     */
    @CFunction("mult_to_ibv_rate")
    public static Rate ofMultiplier(int multiplier) throws RdmaException {
        return of(OF_MULT.callInt(multiplier));
    }

    /**
     * Its Mbit/s ({@code ibv_rate_to_mbps}).
     *
     * @return -1 for {@link #RATE_MAX}
     */
    @CFunction("ibv_rate_to_mbps")
    public int toMegabits() throws RdmaException {
        return TO_MBPS.callInt(value);
    }

    /**
     * The rate of so many Mbit/s ({@code mbps_to_ibv_rate}).
     *
     * @return {@link #RATE_MAX} when there is none
     */
    @CFunction("mbps_to_ibv_rate")
    public static Rate ofMegabits(int megabits) throws RdmaException {
        return of(OF_MBPS.callInt(megabits));
    }
}
