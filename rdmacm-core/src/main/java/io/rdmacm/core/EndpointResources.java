// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.foreign.MemorySegment;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.internal.life.Parts;
import io.rdmacm.verbs.work.AccessFlag;
import org.jspecify.annotations.Nullable;

/** What is created for an endpoint on demand and closed with it. */
final class EndpointResources {
    private final CmId id;
    private final Lifetime owner;
    // Guarded by this.
    private final Set<MemoryRegion> regions = new LinkedHashSet<>();
    private @Nullable ProtectionDomain own;
    private @Nullable ProtectionDomain given;
    // written under the lock, read without it when posting
    private volatile @Nullable EndpointQueues queues;

    EndpointResources(CmId id, Lifetime owner) {
        this.id = id;
        this.owner = owner;
    }

    /** Returns the domain of the attributes, or else the endpoint's own, which is allocated by the first call. */
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
            throw new IllegalStateException(owner + " already has a queue pair: " + queues.queuePair());
        }
        ProtectionDomain before = given;
        try {
            given = attributes.protectionDomain().orElse(before);
            queues = EndpointQueues.create(owner, id, domain(), attributes);
        } catch (Throwable t) {
            given = before;
            throw t;
        }
    }

    synchronized SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueInitAttributes attributes)
            throws RdmaException {
        return id.createSharedReceiveQueue(domain(), attributes);
    }

    synchronized MemoryRegion register(MemorySegment memory, AccessFlag... access) throws RdmaException {
        regions.removeIf(region -> !region.isOpen());
        try (Parts parts = new Parts()) {
            MemoryRegion region = domain().register(memory, access);
            parts.add(region, MemoryRegion::close, VerbsAccess.get().lifeOf(region));
            regions.add(region);
            return parts.complete(region);
        }
    }

    /** Returns the queue pair and what belongs to it; null before it is created. */
    @Nullable EndpointQueues queues() {
        return queues;
    }

    /** Wakes threads that wait for completions. */
    void wake() {
        EndpointQueues current = queues;
        if (current != null) {
            current.wake();
        }
    }

    /**
     * Throws an exception while a part of the endpoint is in use by an object that is not one of its parts: then no
     * part may be closed.
     *
     * @param bases the parts that are not kept here
     * @param inside whether threads may be inside the endpoint; they hold events for a moment, which do not count then
     */
    synchronized void requireUnused(List<NativeObject> bases, boolean inside) {
        List<Lifetime> parts = parts(bases).map(VerbsAccess.get()::lifeOf).toList();
        for (Lifetime part : parts) {
            List<Lifetime> others = part.children().stream().filter(child -> !parts.contains(child))
                    .filter(child -> !inside || !child.isOf(CmEvent.class)).toList();
            if (!others.isEmpty()) {
                throw new IllegalStateException(owner + " cannot be closed while its " + part + " has open children,"
                        + " close them first: " + Lifetime.named(others));
            }
        }
    }

    private Stream<NativeObject> parts(List<NativeObject> bases) {
        Stream<NativeObject> created = queues == null ? Stream.of() : queues.parts().stream();
        return Stream.of(bases.stream(), created, regions.stream(),
                Stream.of(id.sharedReceiveQueue(), own).filter(Objects::nonNull)).flatMap(Function.identity());
    }

    /** Closes everything. A close that failed can be repeated, because closing a part again has no effect. */
    synchronized void close() throws RdmaException {
        if (queues != null) {
            queues.close();
        }
        // As in C, even when the program created it: the queue pair may use it, so it could not be closed before.
        SharedReceiveQueue shared = id.sharedReceiveQueue();
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
