// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;

import io.rdmacm.bindings.ibv_qp_attr;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.AlternatePath;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.internal.codec.QueuePairStructs;
import io.rdmacm.verbs.queue.PathMigrationState;
import io.rdmacm.verbs.queue.QueuePairAttribute;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairCapabilities;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.work.AccessFlag;

/** Values for the attributes of queue pairs. */
public final class QueuePairValues {
    /** The path of {@link #ALL}. */
    public static final AddressAttributes PATH = AddressAttributes.ofRoute(3, new Gid(1, 2), 4);
    /** The alternate path of {@link #ALL}. */
    public static final AddressAttributes ALTERNATE = AddressAttributes.builder().destinationLid(0xfff0).port(5)
            .build();
    /** A value for every attribute; the values differ, so that members that are mixed up show. */
    public static final QueuePairAttributes ALL = QueuePairAttributes.builder().state(QueuePairState.RTS)
            .currentState(QueuePairState.SQD).pathMtu(2048).pathMigrationState(PathMigrationState.REARM)
            .queueKey(0x80010000).receivePacketNumber(0xfffffe).sendPacketNumber(0xfffffd)
            .destinationQueuePair(0xfffffc).accessFlags(AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC)
            .capabilities(new QueuePairCapabilities(1, 2, 3, 4, 5)).path(PATH)
            .alternatePath(new AlternatePath(ALTERNATE, 0xfffb, 0xfa, AckTimeout.ofCode(31))).partitionKeyIndex(0xfff9)
            .notifyWhenDrained(true).maxReadAtomic(0xf8).maxDestinationReadAtomic(0xf7)
            .minRnrTimer(RnrTimer.ofCode(30)).port(0xf6)
            .timeout(AckTimeout.ofCode(29)).retryCount(7).rnrRetry(6).rateLimit(0x7fffffff).build();

    private QueuePairValues() {
    }

    /** Returns plausible values for the wanted attributes, for a transition between two states. */
    public static QueuePairAttributes of(Set<QueuePairAttribute> wanted, QueuePairState from, QueuePairState to) {
        AddressAttributes path = AddressAttributes.ofRoute(1, new Gid(0, 1), 0);
        QueuePairAttributes all = QueuePairAttributes.builder().state(to).currentState(from).notifyWhenDrained(true)
                .accessFlags().partitionKeyIndex(0).port(1).queueKey(1).path(path).pathMtu(1024)
                .timeout(AckTimeout.ofCode(14)).retryCount(7).rnrRetry(7).receivePacketNumber(0).maxReadAtomic(1)
                .alternatePath(new AlternatePath(path, 0, 1, AckTimeout.INFINITE))
                .minRnrTimer(RnrTimer.ofCode(12)).sendPacketNumber(0).maxDestinationReadAtomic(1)
                .pathMigrationState(PathMigrationState.MIGRATED)
                .capabilities(new QueuePairCapabilities(1, 1, 1, 1, 0)).destinationQueuePair(1).rateLimit(1).build();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = ibv_qp_attr.allocate(arena);
            QueuePairStructs.write(all, struct.address());
            return QueuePairStructs.read(struct.address(), wanted);
        }
    }
}
