// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

/**
 * The capacities and the limit of a shared receive queue ({@code struct ibv_srq_attr}, ibv_query_srq(3)).
 *
 * @param maxRequests the number of receive work requests that can be outstanding ({@code max_wr})
 * @param maxScatterGather the number of scatter/gather entries per receive work request ({@code max_sge})
 * @param limit the async event SRQ_LIMIT_REACHED is raised once when fewer receives than this are left
 *        ({@code srq_limit}); 0 if no event is armed
 */
public record SharedReceiveQueueAttributes(int maxRequests, int maxScatterGather, int limit) {
    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a number is negative
     */
    public SharedReceiveQueueAttributes {
        if (maxRequests < 0 || maxScatterGather < 0 || limit < 0) {
            throw new IllegalArgumentException("the sizes of a shared receive queue cannot be negative: " + maxRequests
                    + " requests, " + maxScatterGather + " scatter/gather entries, limit " + limit);
        }
    }
}
