// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.Locale;

import io.rdmacm.verbs.queue.QueuePairType;

/**
 * How much private data fits into each message of the connection manager: the size of the field in the InfiniBand
 * message, less the header that librdmacm adds to a connect in the port spaces TCP and UDP.
 */
enum PrivateDataLimit {
    CONNECT(56, 180), ACCEPT(196, 136), REJECT(148, 136);

    private final int connection;
    private final int datagram;

    PrivateDataLimit(int connection, int datagram) {
        this.connection = connection;
        this.datagram = datagram;
    }

    /** Returns the limit in bytes. */
    int of(PortSpace portSpace) {
        return portSpace.queuePairType() == QueuePairType.UD ? datagram : connection;
    }

    void check(PortSpace portSpace, byte[] data) {
        int limit = of(portSpace);
        if (data.length > limit) {
            throw new IllegalArgumentException(name().toLowerCase(Locale.ROOT) + " takes at most " + limit
                    + " bytes of private data in the port space " + portSpace + ", not " + data.length);
        }
    }
}
