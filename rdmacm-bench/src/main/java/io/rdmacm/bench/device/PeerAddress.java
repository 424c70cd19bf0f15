// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.device;

import java.util.HexFormat;

import io.rdmacm.verbs.address.Gid;

/**
 * What one end tells the other.
 *
 * @param queuePair the number of its queue pair
 * @param lid its local identifier; 0 on Ethernet
 * @param gid its global identifier
 * @param memory where its region begins
 * @param key the remote key of its region
 */
record PeerAddress(int queuePair, int lid, Gid gid, long memory, int key) {
    /** {@return a line that {@link #parse} reads} */
    String encode() {
        return queuePair + " " + lid + " " + HexFormat.of().formatHex(gid.toBytes()) + " " + memory + " " + key;
    }

    static PeerAddress parse(String line) {
        String[] words = line.split(" ");
        return new PeerAddress(Integer.parseInt(words[0]), Integer.parseInt(words[1]),
                Gid.of(HexFormat.of().parseHex(words[2])), Long.parseLong(words[3]), Integer.parseInt(words[4]));
    }
}
