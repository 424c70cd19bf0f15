// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device.machine;

import java.util.HexFormat;

import io.rdmacm.verbs.address.Gid;

/**
 * The address of an end, for its peer.
 *
 * @param queuePair the number of the queue pair
 * @param lid the local identifier of the port; 0 on Ethernet
 * @param gid the global identifier of the port
 * @param memory the address that the peer may read and write
 * @param key the remote key of the region
 */
public record PeerAddress(int queuePair, int lid, Gid gid, long memory, int key) {
    /** {@return a line that {@link #parse} reads} */
    public String encode() {
        return queuePair + " " + lid + " " + HexFormat.of().formatHex(gid.toBytes()) + " " + memory + " " + key;
    }

    /** {@return what {@link #encode} was given} */
    public static PeerAddress parse(String line) {
        String[] words = line.split(" ");
        return new PeerAddress(Integer.parseInt(words[0]), Integer.parseInt(words[1]),
                Gid.of(HexFormat.of().parseHex(words[2])), Long.parseLong(words[3]), Integer.parseInt(words[4]));
    }
}
