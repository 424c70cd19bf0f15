// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.ArrayList;
import java.util.List;

import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.internal.NativeFunction;

/**
 * Moves an id from one channel to another. C waits until all events that it has given out for the id are acknowledged:
 * so those in the hands of a program forbid the move, and those that were only read are copied and given back.
 *
 * <p>Connect requests are read before a listener moves, and their ids moved one by one: the kernel would move the event
 * but leave the new id on the old channel, and librdmacm drops an event whose id it cannot look into. That is what
 * happens to a request that comes in between the reading and the move.
 */
final class CmIdMigration {
    private static final NativeFunction MIGRATE_ID = NativeFunction.of("rdma_migrate_id");

    private CmIdMigration() {
    }

    static void run(CmId id, EventChannel target) throws RdmaException {
        // Two channels are locked in one order everywhere, and the id may have moved before both are.
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
        List<String> open = id.lifetime().openChildren().stream().filter(c -> c.startsWith("CmEvent")).toList();
        if (!open.isEmpty()) {
            throw new IllegalStateException(id + " cannot be moved while it has events that are not closed: "
                    + String.join(", ", open));
        }
    }

    private static void move(CmId id, EventChannel source, EventChannel target) throws RdmaException {
        List<RawEvent> waiting = takePending(id, source);
        boolean moved = false;
        try {
            migrate(id.nativeAddress(), id, target);
            for (RawEvent event : waiting) {
                if (event.type() == CmEventType.CONNECT_REQUEST) {
                    migrate(event.id(), id, target);
                }
            }
            source.forget(id.nativeAddress());
            target.register(id, id.nativeAddress());
            id.moveTo(target);
            moved = true;
        } finally {
            (moved ? target : source).addPending(waiting);
        }
    }

    private static List<RawEvent> takePending(CmId id, EventChannel source) throws RdmaException {
        List<RawEvent> waiting = new ArrayList<>();
        for (RawEvent event : source.takePending(id)) {
            waiting.add(event.isDetached() ? event : event.detached());
            CmEvent.acknowledge(event);
        }
        return waiting;
    }

    private static void migrate(long address, CmId id, EventChannel target) throws RdmaException {
        CmFailures.check(MIGRATE_ID, MIGRATE_ID.callInt(address, target.nativeAddress()), id.label());
    }
}
