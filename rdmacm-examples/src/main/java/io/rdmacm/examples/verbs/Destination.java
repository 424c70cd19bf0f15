// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.rdmacm.verbs.address.Gid;

/**
 * The address of a queue pair, and the text that is exchanged with the peer.
 *
 * @param lid the local identifier of the port; 0 on Ethernet
 * @param queuePair the number of the queue pair
 * @param packetNumber the sequence number of the first packet that it sends
 * @param gid the global identifier of the port; zero if it is not used
 */
record Destination(int lid, int queuePair, int packetNumber, Gid gid) {
    /** The address of no queue pair. */
    static final Destination NONE = new Destination(0, 0, 0, new Gid(0, 0));

    /** The length of the text in bytes, including the terminating zero. */
    static final int BYTES = "0000:000000:000000:00000000000000000000000000000000".length() + 1;

    private static final int HEX = 16;
    private static final Pattern TEXT = Pattern.compile(
            "(\\p{XDigit}{1,4}):(\\p{XDigit}{1,6}):(\\p{XDigit}{1,6}):(\\p{XDigit}{16})(\\p{XDigit}{16})\0.*");

    /** Returns the text for the peer. */
    String toText() {
        return String.format("%04x:%06x:%06x:%016x%016x\0", lid, queuePair, packetNumber, gid.subnetPrefix(),
                gid.interfaceId());
    }

    /** Parses the text from a peer. */
    static Destination of(String text) throws IOException {
        Matcher parts = TEXT.matcher(text);
        if (!parts.matches()) {
            throw new IOException("the peer did not send the address of a queue pair: it is not a ping-pong program");
        }
        return new Destination(Integer.parseInt(parts.group(1), HEX), Integer.parseInt(parts.group(2), HEX),
                Integer.parseInt(parts.group(3), HEX), new Gid(Long.parseUnsignedLong(parts.group(4), HEX),
                        Long.parseUnsignedLong(parts.group(5), HEX)));
    }

    /** Returns the line that the C programs print. */
    @Override
    public String toString() {
        return String.format("LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s", lid, queuePair, packetNumber, gid);
    }
}
