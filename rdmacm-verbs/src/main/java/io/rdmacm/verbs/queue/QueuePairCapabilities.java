// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.queue;

/**
 * The capacities of a queue pair ({@code struct ibv_qp_cap}, ibv_create_qp(3)).
 *
 * @param maxSendRequests the number of send work requests that can be outstanding ({@code max_send_wr})
 * @param maxReceiveRequests the number of receive work requests that can be outstanding ({@code max_recv_wr})
 * @param maxSendScatterGather the number of scatter/gather entries per send work request ({@code max_send_sge})
 * @param maxReceiveScatterGather the number of scatter/gather entries per receive work request ({@code max_recv_sge})
 * @param maxInlineData the number of bytes that a send work request can carry inline ({@code max_inline_data})
 */
public record QueuePairCapabilities(int maxSendRequests, int maxReceiveRequests, int maxSendScatterGather,
        int maxReceiveScatterGather, int maxInlineData) {
    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a number is negative
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
