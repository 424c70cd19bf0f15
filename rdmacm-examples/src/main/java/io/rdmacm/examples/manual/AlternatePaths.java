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

/** The two steps of automatic path migration: arming an alternate path, and migrating to it. */
final class AlternatePaths {
    private AlternatePaths() {
    }

    /**
     * Sets the alternate path of a connected queue pair and arms it. Once the peer has armed its own too, the device
     * migrates when the primary path fails.
     *
     * @param port the local port of the alternate path; 0 for that of the primary path
     * @param lid the destination LID of the alternate path; 0 for that of the primary path
     */
    static void arm(QueuePair pair, int port, int lid) throws RdmaException {
        QueuePairAttributes current = pair.query().attributes();
        pair.modify(QueuePairAttributes.builder().alternatePath(alternate(current, port, lid))
                .pathMigrationState(PathMigrationState.REARM).build());
    }

    /** Returns a copy of the primary path with another port and destination LID. */
    static AlternatePath alternate(QueuePairAttributes current, int port, int lid) {
        AddressAttributes first = current.path();
        int begin = port == 0 ? first.port() : port;
        AddressAttributes second = new AddressAttributes(first.globalRoute(), lid == 0 ? first.destinationLid() : lid,
                first.serviceLevel(), first.sourcePathBits(), first.staticRate(), begin);
        return new AlternatePath(second, current.partitionKeyIndex(), begin, current.timeout());
    }

    /** Explains why a device refused an alternate path. */
    static String explain(QueuePair pair, RdmaException refusal) throws RdmaException {
        LinkLayer link = pair.context().queryPort(pair.query().attributes().port()).linkLayer();
        return pair.context().deviceName() + " refused an alternate path (" + refusal.getMessage() + "); "
                + (link == LinkLayer.ETHERNET
                        ? "its port is Ethernet, and path migration exists on InfiniBand only: on RoCE, use bonded"
                                + " network interfaces"
                        : "is there a second path, and does the device support automatic path migration?");
    }

    /** Migrates now, although the primary path works, and waits until the device reports that it has migrated. */
    static void migrate(QueuePair pair, Duration timeout) throws IOException, InterruptedException {
        pair.modify(QueuePairAttributes.migrate(PathMigrationState.MIGRATED));
        while (true) {
            try (AsyncEvent event = pair.context().getAsyncEvent(timeout)) {
                if (event.type() == AsyncEventType.PATH_MIG_ERR) {
                    throw new IOException("the device could not migrate to the alternate path");
                }
                if (event.type() == AsyncEventType.PATH_MIG) {
                    return;
                }
            }
        }
    }
}
