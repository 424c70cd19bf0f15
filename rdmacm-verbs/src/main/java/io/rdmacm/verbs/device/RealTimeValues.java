// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

/**
 * Values that a device measures in real time ({@code struct ibv_values_ex}, ibv_query_rt_values_ex(3)).
 *
 * @param rawClockSeconds the seconds of its raw clock; many drivers report only ticks, in the other component
 * @param rawClockNanoseconds the nanoseconds of its raw clock, or its ticks
 */
public record RealTimeValues(long rawClockSeconds, long rawClockNanoseconds) {
}
