// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

import io.rdmacm.bindings.ibv_gid_entry;

/**
 * An entry of a port's table of GIDs ({@code struct ibv_gid_entry}, ibv_query_gid_ex(3)).
 *
 * @param gid the GID
 * @param index its place in the table
 * @param port the number of the port, beginning with 1
 * @param type how packets look that are sent from it
 * @param networkInterface the index of the network interface that it belongs to, as {@code if_nametoindex} counts; 0
 *        for none
 */
public record GidEntry(Gid gid, int index, int port, GidType type, int networkInterface) {
}
