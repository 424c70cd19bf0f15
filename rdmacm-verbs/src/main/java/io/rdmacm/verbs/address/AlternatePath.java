// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import java.util.Objects;

import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * The path that a connected queue pair goes over to when its first one fails ({@code IBV_QP_ALT_PATH},
 * ibv_modify_qp(3)).
 *
 * @param path the way to the peer
 * @param partitionKeyIndex of the port's table
 * @param port of this device, from 1 on
 * @param timeout how long an acknowledgement is waited for on this path ({@code alt_timeout})
 */
public record AlternatePath(AddressAttributes path, int partitionKeyIndex, int port, AckTimeout timeout) {
    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException when one does not fit into its field
     */
    public AlternatePath {
        Objects.requireNonNull(path, "path");
        Arguments.requireBits("partition key index", partitionKeyIndex, Short.SIZE);
        Arguments.requireBits("port", port, Byte.SIZE);
        Objects.requireNonNull(timeout, "timeout");
    }
}
