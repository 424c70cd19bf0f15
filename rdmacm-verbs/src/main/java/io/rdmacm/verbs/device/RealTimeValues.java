// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

/**
 * What a device measures right now ({@code struct ibv_values_ex}, ibv_query_rt_values_ex(3)).
 *
 * @param rawClockSeconds the seconds of its raw clock; many devices count ticks in the nanoseconds alone
 * @param rawClockNanoseconds the nanoseconds, or ticks, of its raw clock
 */
public record RealTimeValues(long rawClockSeconds, long rawClockNanoseconds) {
}
