// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.foreign.MemorySegment;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import io.rdmacm.verbs.AccessFlag;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.internal.Lifetime;
import io.rdmacm.verbs.internal.VerbsAccess;

/** What was made for an endpoint after it was made itself, and ends with it. */
final class EndpointResources {
    private final CmId id;
    private final Lifetime owner;
    // All below is guarded by this.
    private final Set<MemoryRegion> regions = new LinkedHashSet<>();
    private ProtectionDomain own;
    private ProtectionDomain given;
    private SharedReceiveQueue shared;
    // read without the lock by the data path
    private volatile EndpointQueues queues;

    EndpointResources(CmId id, Lifetime owner) {
        this.id = id;
        this.owner = owner;
    }

    /** The domain of the attributes, else one that is made now. */
    synchronized ProtectionDomain domain() throws RdmaException {
        if (given != null) {
            return given;
        }
        if (own == null) {
            own = id.context().allocateProtectionDomain();
        }
        return own;
    }

    synchronized void createQueuePair(EndpointAttributes attributes) throws RdmaException {
        if (queues != null) {
            throw new IllegalStateException(owner + " has a queue pair already: " + queues.queuePair());
        }
        ProtectionDomain before = given;
        boolean made = false;
        try {
            given = attributes.protectionDomain().orElse(before);
            queues = EndpointQueues.create(owner, id, domain(), attributes);
            made = true;
        } finally {
            if (!made) {
                given = before;
            }
        }
    }

    synchronized SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueInitAttributes attributes)
            throws RdmaException {
        shared = id.createSharedReceiveQueue(domain(), attributes);
        return shared;
    }

    synchronized MemoryRegion register(MemorySegment memory, AccessFlag... access) throws RdmaException {
        regions.removeIf(region -> !region.isOpen());
        MemoryRegion region = domain().register(memory, access);
        regions.add(region);
        return region;
    }

    /** Null before there is a queue pair. */
    EndpointQueues queues() {
        return queues;
    }

    /** Whoever waits for completions looks again. */
    void wake() {
        EndpointQueues current = queues;
        if (current != null) {
            current.wake();
        }
    }

    /** Refuses while the own domain is used by what was not made here. */
    synchronized void requireUnused() {
        if (own == null || !own.isOpen()) {
            return;
        }
        List<String> children = VerbsAccess.get().lifeOf(own).openChildren();
        for (MemoryRegion region : regions) {
            children.remove(VerbsAccess.get().lifeOf(region).toString());
        }
        if (queues != null) {
            children.remove(VerbsAccess.get().lifeOf(queues.queuePair()).toString());
        }
        if (shared != null) {
            children.remove(VerbsAccess.get().lifeOf(shared).toString());
        }
        if (!children.isEmpty()) {
            throw new IllegalStateException(owner + " cannot be closed while its protection domain has open children,"
                    + " close them first: " + String.join(", ", children));
        }
    }

    /** Each step does nothing the second time, so that a close that failed can be repeated. */
    synchronized void close() throws RdmaException {
        if (queues != null) {
            queues.close();
        }
        if (shared != null) {
            shared.close();
        }
        for (MemoryRegion region : List.copyOf(regions)) {
            region.close();
            regions.remove(region);
        }
        if (own != null) {
            own.close();
        }
    }
}
