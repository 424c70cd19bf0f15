// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.address;

/**
 * An entry of the GID table of a port ({@code struct ibv_gid_entry}, ibv_query_gid_ex(3)).
 *
 * @param gid the GID
 * @param index the index of the entry in the table, starting at 0
 * @param port the number of the port, starting at 1
 * @param type the protocol of packets sent from this GID
 * @param networkInterface the index of the network interface that the GID belongs to (see if_nametoindex(3)); 0 for
 *        none
 */
public record GidEntry(Gid gid, int index, int port, GidType type, int networkInterface) {
}
