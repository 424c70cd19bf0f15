// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/**
 * The rate of a link or of an address handle ({@code enum ibv_rate}, ibv_rate_to_mbps(3)). Not an enum, so that codes
 * newer than this library are preserved from a query to their next use. There is exactly one object per code, so rates
 * can be compared with {@code ==}.
 */
public final class Rate {
    private static final int CODES = 1 << Byte.SIZE;
    private static final Rate[] BY_CODE = new Rate[CODES];
    private static final List<Rate> KNOWN = new ArrayList<>();

    /** The full rate of the port. */
    public static final Rate RATE_MAX = known(Rdma.IBV_RATE_MAX(), "RATE_MAX");
    /** 2.5 Gbit/s. */
    public static final Rate RATE_2_5_GBPS = known(Rdma.IBV_RATE_2_5_GBPS(), "RATE_2_5_GBPS");
    /** 5 Gbit/s. */
    public static final Rate RATE_5_GBPS = known(Rdma.IBV_RATE_5_GBPS(), "RATE_5_GBPS");
    /** 10 Gbit/s. */
    public static final Rate RATE_10_GBPS = known(Rdma.IBV_RATE_10_GBPS(), "RATE_10_GBPS");
    /** 20 Gbit/s. */
    public static final Rate RATE_20_GBPS = known(Rdma.IBV_RATE_20_GBPS(), "RATE_20_GBPS");
    /** 30 Gbit/s. */
    public static final Rate RATE_30_GBPS = known(Rdma.IBV_RATE_30_GBPS(), "RATE_30_GBPS");
    /** 40 Gbit/s. */
    public static final Rate RATE_40_GBPS = known(Rdma.IBV_RATE_40_GBPS(), "RATE_40_GBPS");
    /** 60 Gbit/s. */
    public static final Rate RATE_60_GBPS = known(Rdma.IBV_RATE_60_GBPS(), "RATE_60_GBPS");
    /** 80 Gbit/s. */
    public static final Rate RATE_80_GBPS = known(Rdma.IBV_RATE_80_GBPS(), "RATE_80_GBPS");
    /** 120 Gbit/s. */
    public static final Rate RATE_120_GBPS = known(Rdma.IBV_RATE_120_GBPS(), "RATE_120_GBPS");
    /** 14 Gbit/s. */
    public static final Rate RATE_14_GBPS = known(Rdma.IBV_RATE_14_GBPS(), "RATE_14_GBPS");
    /** 56 Gbit/s. */
    public static final Rate RATE_56_GBPS = known(Rdma.IBV_RATE_56_GBPS(), "RATE_56_GBPS");
    /** 112 Gbit/s. */
    public static final Rate RATE_112_GBPS = known(Rdma.IBV_RATE_112_GBPS(), "RATE_112_GBPS");
    /** 168 Gbit/s. */
    public static final Rate RATE_168_GBPS = known(Rdma.IBV_RATE_168_GBPS(), "RATE_168_GBPS");
    /** 25 Gbit/s. */
    public static final Rate RATE_25_GBPS = known(Rdma.IBV_RATE_25_GBPS(), "RATE_25_GBPS");
    /** 100 Gbit/s. */
    public static final Rate RATE_100_GBPS = known(Rdma.IBV_RATE_100_GBPS(), "RATE_100_GBPS");
    /** 200 Gbit/s. */
    public static final Rate RATE_200_GBPS = known(Rdma.IBV_RATE_200_GBPS(), "RATE_200_GBPS");
    /** 300 Gbit/s. */
    public static final Rate RATE_300_GBPS = known(Rdma.IBV_RATE_300_GBPS(), "RATE_300_GBPS");
    /** 28 Gbit/s. */
    public static final Rate RATE_28_GBPS = known(Rdma.IBV_RATE_28_GBPS(), "RATE_28_GBPS");
    /** 50 Gbit/s. */
    public static final Rate RATE_50_GBPS = known(Rdma.IBV_RATE_50_GBPS(), "RATE_50_GBPS");
    /** 400 Gbit/s. */
    public static final Rate RATE_400_GBPS = known(Rdma.IBV_RATE_400_GBPS(), "RATE_400_GBPS");
    /** 600 Gbit/s. */
    public static final Rate RATE_600_GBPS = known(Rdma.IBV_RATE_600_GBPS(), "RATE_600_GBPS");
    /** 800 Gbit/s. */
    public static final Rate RATE_800_GBPS = known(Rdma.IBV_RATE_800_GBPS(), "RATE_800_GBPS");
    /** 1200 Gbit/s. */
    public static final Rate RATE_1200_GBPS = known(Rdma.IBV_RATE_1200_GBPS(), "RATE_1200_GBPS");

    private static final NativeFunction TO_MULT = NativeFunction.of("ibv_rate_to_mult");
    private static final NativeFunction OF_MULT = NativeFunction.of("mult_to_ibv_rate");
    private static final NativeFunction TO_MBPS = NativeFunction.of("ibv_rate_to_mbps");
    private static final NativeFunction OF_MBPS = NativeFunction.of("mbps_to_ibv_rate");

    static {
        for (int value = 0; value < CODES; value++) {
            if (BY_CODE[value] == null) {
                BY_CODE[value] = new Rate(value, "unknown rate (code " + value + ")");
            }
        }
    }

    private final int value;
    private final String name;

    private Rate(int value, String name) {
        this.value = value;
        this.name = name;
    }

    private static Rate known(int value, String name) {
        Rate rate = new Rate(value, name);
        BY_CODE[value] = rate;
        KNOWN.add(rate);
        return rate;
    }

    /** {@return the rates that this library has names for, in the order of their declaration} */
    public static List<Rate> known() {
        return Collections.unmodifiableList(KNOWN);
    }

    /** {@return the C constant} */
    public int value() {
        return value;
    }

    /**
     * Returns the rate with the given C constant. A constant that this library has no name for is kept as it is.
     *
     * @param value a value of {@code enum ibv_rate}, 0 to 255: the fields of the C structs have 8 bits
     * @return the rate
     * @throws IllegalArgumentException if the constant does not fit into 8 bits
     */
    public static Rate of(int value) {
        Arguments.requireBits("code of the rate", value, Byte.SIZE);
        return BY_CODE[value];
    }

    /**
     * Returns this rate as a multiple of 2.5 Gbit/s ({@code ibv_rate_to_mult}).
     *
     * @return the multiplier; -1 for {@link #RATE_MAX} and for rates that are not such a multiple
     * @throws RdmaException if libibverbs is missing or too old (NativeLibraryException)
     */
    @CFunction("ibv_rate_to_mult")
    public int toMultiplier() throws RdmaException {
        return TO_MULT.callInt(value);
    }

    /**
     * Returns the rate that is the given multiple of 2.5 Gbit/s ({@code mult_to_ibv_rate}).
     *
     * @param multiplier the multiple, such as 4 for 10 Gbit/s
     * @return the rate; {@link #RATE_MAX} if there is no such rate
     * @throws RdmaException if libibverbs is missing or too old (NativeLibraryException)
     */
    @CFunction("mult_to_ibv_rate")
    public static Rate ofMultiplier(int multiplier) throws RdmaException {
        return of(OF_MULT.callInt(multiplier));
    }

    /**
     * Returns this rate in Mbit/s ({@code ibv_rate_to_mbps}).
     *
     * @return the rate in Mbit/s; -1 for {@link #RATE_MAX} and for rates that libibverbs does not know
     * @throws RdmaException if libibverbs is missing or too old (NativeLibraryException)
     */
    @CFunction("ibv_rate_to_mbps")
    public int toMegabits() throws RdmaException {
        return TO_MBPS.callInt(value);
    }

    /**
     * Returns the rate with the given number of Mbit/s ({@code mbps_to_ibv_rate}).
     *
     * @param megabits the rate in Mbit/s, such as 10000
     * @return the rate; {@link #RATE_MAX} if there is no such rate
     * @throws RdmaException if libibverbs is missing or too old (NativeLibraryException)
     */
    @CFunction("mbps_to_ibv_rate")
    public static Rate ofMegabits(int megabits) throws RdmaException {
        return of(OF_MBPS.callInt(megabits));
    }

    @Override
    public String toString() {
        return name;
    }
}
