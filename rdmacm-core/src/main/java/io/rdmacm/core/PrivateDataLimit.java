// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import io.rdmacm.verbs.QueuePairType;

/**
 * How much private data fits into the messages of the connection manager: what the InfiniBand messages hold, less the
 * header that librdmacm puts into a connect of the port spaces TCP and UDP.
 */
enum PrivateDataLimit {
    CONNECT(56, 180), ACCEPT(196, 136), REJECT(148, 136);

    private final int connection;
    private final int datagram;

    PrivateDataLimit(int connection, int datagram) {
        this.connection = connection;
        this.datagram = datagram;
    }

    void check(PortSpace portSpace, byte[] data) {
        int most = portSpace.queuePairType() == QueuePairType.UD ? datagram : connection;
        if (data.length > most) {
            throw new IllegalArgumentException(name().toLowerCase() + " of the port space " + portSpace
                    + " takes at most " + most + " bytes of private data, not " + data.length);
        }
    }
}
