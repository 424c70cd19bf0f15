// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

/**
 * The sizes of a queue pair ({@code struct ibv_qp_cap}, ibv_create_qp(3)).
 *
 * @param maxSendRequests how many send work requests can be outstanding
 * @param maxReceiveRequests how many receive work requests can be outstanding
 * @param maxSendScatterGather how many scatter/gather entries a send work request may have
 * @param maxReceiveScatterGather how many scatter/gather entries a receive work request may have
 * @param maxInlineData how many bytes a send work request can carry inline
 */
public record QueuePairCapabilities(int maxSendRequests, int maxReceiveRequests, int maxSendScatterGather,
        int maxReceiveScatterGather, int maxInlineData) {
    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException when one is negative
     */
    public QueuePairCapabilities {
        if (maxSendRequests < 0 || maxReceiveRequests < 0 || maxSendScatterGather < 0 || maxReceiveScatterGather < 0
                || maxInlineData < 0) {
            throw new IllegalArgumentException("the capabilities of a queue pair cannot be negative: "
                    + maxSendRequests + " sends, " + maxReceiveRequests + " receives, " + maxSendScatterGather + " and "
                    + maxReceiveScatterGather + " scatter/gather entries, " + maxInlineData + " bytes inline");
        }
    }
}
