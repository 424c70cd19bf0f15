// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import io.rdmacm.verbs.queue.QueuePairAttributes;

/**
 * What a query tells of a queue pair ({@code ibv_query_qp}). Immutable. Values that its state or transport has no use
 * for are as the driver left them.
 *
 * @param attributes all but the rate limit, which cannot be queried
 * @param sendQueueDraining whether, in the state SQD, work that was begun is still going on
 * @param initAttributes what it was made with, and the sizes that the device gave it
 */
public record QueuePairStatus(QueuePairAttributes attributes, boolean sendQueueDraining,
        QueuePairInitAttributes initAttributes) {
}
