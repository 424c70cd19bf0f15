// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import java.util.Objects;

import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * The path that a connected queue pair migrates to when its primary path fails ({@code IBV_QP_ALT_PATH},
 * ibv_modify_qp(3)).
 *
 * @param path the address vector of the peer on this path ({@code alt_ah_attr})
 * @param partitionKeyIndex the index of the partition key in the table of the port ({@code alt_pkey_index}), 16 bits
 * @param port the number of the local port, starting at 1 ({@code alt_port_num}), 8 bits
 * @param timeout how long to wait for an acknowledgement on this path ({@code alt_timeout})
 */
public record AlternatePath(AddressAttributes path, int partitionKeyIndex, int port, AckTimeout timeout) {
    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a number does not fit into its field
     */
    public AlternatePath {
        Objects.requireNonNull(path, "path");
        Arguments.requireBits("partition key index", partitionKeyIndex, Short.SIZE);
        Arguments.requireBits("port", port, Byte.SIZE);
        Objects.requireNonNull(timeout, "timeout");
    }
}
