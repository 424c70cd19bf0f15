// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.ArrayList;
import java.util.List;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves an id from one channel to another. rdma_migrate_id waits until every event of the id that librdmacm has handed
 * out is acknowledged. So the move is refused while the program holds one, and events that were read but not yet
 * delivered are copied and acknowledged first.
 *
 * <p>Connect requests are read before a listener moves, and their new ids are moved one by one. Otherwise the kernel
 * would move the event but leave the new id on the old channel, and librdmacm drops an event whose id it does not find
 * on the channel. This still happens to a request that arrives between the reading and the move.
 */
final class CmIdMigration {
    private static final Logger LOG = LoggerFactory.getLogger(CmIdMigration.class);
    private static final NativeFunction MIGRATE_ID = NativeFunction.of("rdma_migrate_id");

    private CmIdMigration() {
    }

    static void run(CmId id, EventChannel target) throws RdmaException {
        // Two channels are always locked in the same order. The id may move elsewhere before both are locked.
        EventChannel source = id.channelUnchecked();
        EventChannel first = source.isBefore(target) ? source : target;
        EventChannel second = first == source ? target : source;
        first.lock().lock();
        second.lock().lock();
        try {
            if (source != id.channelUnchecked()) {
                throw new IllegalStateException(id + " is being moved by another thread");
            }
            requireNoOpenEvents(id);
            id.lookup().requireOutsideC();
            if (source != target) {
                move(id, source, target);
            }
        } finally {
            second.lock().unlock();
            first.lock().unlock();
        }
        source.wake();
    }

    private static void requireNoOpenEvents(CmId id) {
        List<Lifetime> open = id.lifetime().children().stream().filter(c -> c.isOf(CmEvent.class)).toList();
        if (!open.isEmpty()) {
            throw new IllegalStateException(id + " cannot be moved while it has events that are not closed: "
                    + Lifetime.named(open));
        }
    }

    private static void move(CmId id, EventChannel source, EventChannel target) throws RdmaException {
        // First of all, because this fails when the target is being closed, and keeps it open otherwise.
        id.lifetime().addParent(target.lifetime());
        boolean moved = false;
        try {
            List<RawEvent> waiting = takePending(id, source);
            try {
                // First, because there may be no memory for it.
                target.register(id, id.nativeAddress());
                try {
                    migrate(id.nativeAddress(), id, target);
                    moved = true;
                    id.movedTo(target);
                } finally {
                    (moved ? source : target).forget(id.nativeAddress());
                }
                waiting.removeIf(event -> event.type() == CmEventType.CONNECT_REQUEST && !follows(event, id, target));
            } finally {
                (moved ? target : source).addPending(waiting);
            }
        } finally {
            id.lifetime().removeParent((moved ? source : target).lifetime());
        }
    }

    /** Moves the new id of a request after its listener. If that fails, its device was removed: drops the request. */
    private static boolean follows(RawEvent request, CmId listener, EventChannel target) {
        try {
            migrate(request.id(), listener, target);
            return true;
        } catch (RdmaException e) {
            LOG.debug("a connect request could not be moved with its listener", e);
        }
        try {
            CmId.destroyUnseen(request.id());
        } catch (RdmaException e) {
            LOG.warn("the id of a connect request could not be destroyed", e);
        }
        return false;
    }

    private static List<RawEvent> takePending(CmId id, EventChannel source) throws RdmaException {
        List<RawEvent> waiting = new ArrayList<>();
        List<RawEvent> taken = source.takePending(id);
        boolean copied = false;
        try {
            for (RawEvent event : taken) {
                waiting.add(event.isDetached() ? event : event.detached());
            }
            copied = true;
        } finally {
            if (!copied) {
                source.addPending(taken);
            }
        }
        for (RawEvent event : taken) {
            CmEvent.acknowledge(event);
        }
        return waiting;
    }

    private static void migrate(long address, CmId id, EventChannel target) throws RdmaException {
        CmFailures.check(MIGRATE_ID, MIGRATE_ID.callInt(address, target.nativeAddress()), id.label());
    }
}
