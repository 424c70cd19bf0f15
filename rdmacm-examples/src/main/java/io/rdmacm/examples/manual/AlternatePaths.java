// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.manual;

import java.io.IOException;
import java.time.Duration;

import io.rdmacm.verbs.AsyncEvent;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.AlternatePath;
import io.rdmacm.verbs.device.AsyncEventType;
import io.rdmacm.verbs.device.LinkLayer;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.PathMigrationState;
import io.rdmacm.verbs.queue.QueuePairAttributes;

/** The two steps of automatic path migration: to arm an alternate path, and to go over to it. */
final class AlternatePaths {
    private AlternatePaths() {
    }

    /**
     * Names the alternate path of a connected queue pair and arms it: from now on the device goes over when the first
     * path fails, as soon as the peer has armed its own.
     *
     * @param port where the path begins; 0 for that of the first path
     * @param lid where it leads to; 0 for that of the first path
     */
    static void arm(QueuePair pair, int port, int lid) throws RdmaException {
        QueuePairAttributes current = pair.query().attributes();
        pair.modify(QueuePairAttributes.builder().alternatePath(alternate(current, port, lid))
                .pathMigrationState(PathMigrationState.REARM).build());
    }

    /** Differs from the first path in where it begins and leads to. */
    static AlternatePath alternate(QueuePairAttributes current, int port, int lid) {
        AddressAttributes first = current.path();
        int begin = port == 0 ? first.port() : port;
        AddressAttributes second = new AddressAttributes(first.globalRoute(), lid == 0 ? first.destinationLid() : lid,
                first.serviceLevel(), first.sourcePathBits(), first.staticRate(), begin);
        return new AlternatePath(second, current.partitionKeyIndex(), begin, current.timeout());
    }

    /** Why a device refused an alternate path, for people. */
    static String explain(QueuePair pair, RdmaException refusal) throws RdmaException {
        LinkLayer link = pair.context().queryPort(pair.query().attributes().port()).linkLayer();
        return pair.context().deviceName() + " refused an alternate one (" + refusal.getMessage() + "); "
                + (link == LinkLayer.ETHERNET
                        ? "its port is Ethernet, and paths migrate on InfiniBand only: on RoCE bonded network"
                                + " interfaces take that part"
                        : "has the port a second path, and the device automatic path migration?");
    }

    /** Goes over now, though the first path is well. The device says when it has. */
    static void goOver(QueuePair pair, Duration timeout) throws IOException, InterruptedException {
        pair.modify(QueuePairAttributes.migrate(PathMigrationState.MIGRATED));
        while (true) {
            try (AsyncEvent event = pair.context().getAsyncEvent(timeout)) {
                if (event.type() == AsyncEventType.PATH_MIG_ERR) {
                    throw new IOException("the device could not go over to the alternate path");
                }
                if (event.type() == AsyncEventType.PATH_MIG) {
                    return;
                }
            }
        }
    }
}
