// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.net.SocketAddress;
import java.util.HashMap;
import java.util.Map;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.Lifetime;
import org.jspecify.annotations.Nullable;

/** The multicast groups that an id is a member of. Used with the lock of the id's channel held. */
final class MulticastMemberships {
    // By the context that is in their events.
    private final Map<Long, MulticastMembership> byContext = new HashMap<>();

    MulticastMembership join(CmId id, SocketAddress group, MulticastMembership.Role role) throws RdmaException {
        if (byContext.values().stream().anyMatch(membership -> membership.isOf(group))) {
            throw new IllegalStateException(id + " is already a member of " + group);
        }
        return MulticastMembership.join(id, group, role);
    }

    void add(MulticastMembership membership) {
        byContext.put(membership.context(), membership);
    }

    void remove(MulticastMembership membership) {
        byContext.remove(membership.context());
    }

    /** A queue pair was created, which C attaches to the groups: it cannot be closed before they are left. */
    void keepOpen(Lifetime queuePair) {
        byContext.values().forEach(membership -> membership.lifetime().addParent(queuePair));
    }

    /** Undoes {@link #keepOpen}. */
    void letGo(Lifetime queuePair) {
        byContext.values().forEach(membership -> membership.lifetime().removeParent(queuePair));
    }

    /** Returns the membership that an event is about; null when there is none. */
    @Nullable MulticastMembership of(RawEvent event) {
        return event.isMulticast() ? byContext.get(event.multicastContext()) : null;
    }
}
