// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

/**
 * The sizes and the limit of a shared receive queue ({@code struct ibv_srq_attr}, ibv_query_srq(3)).
 *
 * @param maxRequests how many receive work requests can be outstanding
 * @param maxScatterGather how many scatter/gather entries each may have
 * @param limit an async event is raised when fewer receives than this are left; 0 when none is to be raised (any more)
 */
public record SharedReceiveQueueAttributes(int maxRequests, int maxScatterGather, int limit) {
    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException when one is negative
     */
    public SharedReceiveQueueAttributes {
        if (maxRequests < 0 || maxScatterGather < 0 || limit < 0) {
            throw new IllegalArgumentException("the sizes of a shared receive queue cannot be negative: " + maxRequests
                    + " requests, " + maxScatterGather + " scatter/gather entries, limit " + limit);
        }
    }
}
