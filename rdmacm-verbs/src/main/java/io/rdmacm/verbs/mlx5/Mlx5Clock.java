// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import io.rdmacm.bindings.CFunction;

/**
 * What converts time stamps of a device to nanoseconds ({@code struct mlx5dv_clock_info}, mlx5dv_get_clock_info(3)).
 *
 * @param nanoseconds the time when the counter had the value {@code lastCycles}
 * @param lastCycles the counter at that time
 * @param fraction the part of a nanosecond that is left over, shifted
 * @param multiplier nanoseconds for a cycle, shifted
 * @param shift by how many bits the multiplier and the fraction are shifted
 * @param mask the bits that the counter has
 */
public record Mlx5Clock(long nanoseconds, long lastCycles, long fraction, int multiplier, int shift, long mask) {
    /**
     * Converts a time stamp of the device to nanoseconds ({@code mlx5dv_ts_to_ns}, mlx5dv_ts_to_ns(3)).
     *
     * @param timestamp the time stamp of a completion, in cycles
     * @return the time in nanoseconds, of the kernel's clock for this device
     */
    @CFunction("mlx5dv_ts_to_ns")
    public long toNanoseconds(long timestamp) {
        long factor = Integer.toUnsignedLong(multiplier);
        long delta = timestamp - lastCycles & mask;
        // A time stamp that would be half the range ahead was taken before the state was read.
        if (Long.compareUnsigned(delta, mask >>> 1) > 0) {
            delta = lastCycles - timestamp & mask;
            return nanoseconds - (delta * factor - fraction >>> shift);
        }
        return nanoseconds + (delta * factor + fraction >>> shift);
    }
}
