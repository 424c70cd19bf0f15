// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import io.rdmacm.verbs.queue.QueuePairAttributes;

/**
 * The attributes of a queue pair at one moment, as {@link QueuePair#query} returns them ({@code ibv_query_qp},
 * ibv_query_qp(3)). Immutable. Attributes that do not apply to the state or the transport have whatever value the
 * driver left in them.
 *
 * @param attributes all attributes except the rate limit, which cannot be queried
 * @param sendQueueDraining whether work requests are still being executed; meaningful only in the state SQD
 * @param initAttributes the attributes with which the queue pair was created, with the actual sizes
 */
public record QueuePairStatus(QueuePairAttributes attributes, boolean sendQueueDraining,
        QueuePairInitAttributes initAttributes) {
}
