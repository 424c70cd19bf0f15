// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.device;

import io.rdmacm.verbs.work.FlagSet;

/**
 * What the completion counters of a device can do ({@code struct ibv_comp_cntr_caps}, ibv_query_comp_cntr_caps(3)).
 *
 * @param maxValue the largest value of a counter, an unsigned number; a counter that would exceed it starts again at 0
 * @param maxCounters the maximum number of counters
 * @param operations the operations that can be counted
 */
public record CompletionCounterCapabilities(long maxValue, long maxCounters,
        FlagSet<CompletionCounterOperation> operations) {
}
