// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import io.rdmacm.bindings.ibv_gid_entry;
import io.rdmacm.verbs.internal.Memory;

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
    static GidEntry read(long address) {
        return new GidEntry(Gid.of(Memory.bytes(address + ibv_gid_entry.gid$offset(), Gid.BYTES)),
                Memory.getInt(address + ibv_gid_entry.gid_index$offset()),
                Memory.getInt(address + ibv_gid_entry.port_num$offset()),
                GidType.of(Memory.getInt(address + ibv_gid_entry.gid_type$offset())),
                Memory.getInt(address + ibv_gid_entry.ndev_ifindex$offset()));
    }
}
