// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.verbs;

import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.rdmacm.verbs.address.Gid;

/**
 * Where messages for a queue pair are sent, and the text that tells a peer of it.
 *
 * @param lid the local identifier of the port; 0 on Ethernet
 * @param queuePair the number of the queue pair
 * @param packetNumber the number of the first packet that it will send
 * @param gid the global identifier of the port; zero when it is not to be used
 */
record Destination(int lid, int queuePair, int packetNumber, Gid gid) {
    /** No queue pair. */
    static final Destination NONE = new Destination(0, 0, 0, new Gid(0, 0));

    /** How many bytes the text has, with the zero that ends it. */
    static final int BYTES = "0000:000000:000000:00000000000000000000000000000000".length() + 1;

    private static final int HEX = 16;
    private static final Pattern TEXT = Pattern.compile(
            "(\\p{XDigit}{1,4}):(\\p{XDigit}{1,6}):(\\p{XDigit}{1,6}):(\\p{XDigit}{16})(\\p{XDigit}{16})\0.*");

    /** For a peer. */
    String toText() {
        return String.format("%04x:%06x:%06x:%016x%016x\0", lid, queuePair, packetNumber, gid.subnetPrefix(),
                gid.interfaceId());
    }

    /** From a peer. */
    static Destination of(String text) throws IOException {
        Matcher parts = TEXT.matcher(text);
        if (!parts.matches()) {
            throw new IOException("the peer sent no address of a queue pair: it is another kind of program");
        }
        return new Destination(Integer.parseInt(parts.group(1), HEX), Integer.parseInt(parts.group(2), HEX),
                Integer.parseInt(parts.group(3), HEX), new Gid(Long.parseUnsignedLong(parts.group(4), HEX),
                        Long.parseUnsignedLong(parts.group(5), HEX)));
    }

    /** For people. */
    @Override
    public String toString() {
        return String.format("LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s", lid, queuePair, packetNumber, gid);
    }
}
