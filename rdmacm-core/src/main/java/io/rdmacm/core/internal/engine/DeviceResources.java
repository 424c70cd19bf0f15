// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmId;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.device.DeviceAttributes;
import io.rdmacm.verbs.device.TransportType;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.life.Parts;
import io.rdmacm.verbs.pool.RegisteredPool;
import io.rdmacm.verbs.pool.RegisteredSlice;
import io.rdmacm.verbs.pool.RegistrationCache;
import io.rdmacm.verbs.work.AccessFlag;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the connections of a manager, or all streams, share over one device: a protection domain, so that memory that is
 * registered once can be used with each of them, and pools of buffers. Those of a manager are created and closed by it;
 * those of the streams are created with the first one, and closed with the last one and the last region of the program.
 */
public final class DeviceResources {
    private static final Logger LOG = LoggerFactory.getLogger(DeviceResources.class);
    private static final int LINE = 64;
    // the names of the devices that the log has told of
    private static final Set<String> ANNOUNCED = ConcurrentHashMap.newKeySet();
    // Guarded by itself; used when a stream is created or closed.
    private static final Map<VerbsContext, DeviceResources> OF_STREAMS = new HashMap<>();

    // Of a manager: librdmacm keeps a device open only as long as an id is bound to it. Null for streams.
    private final @Nullable CmLoop loop;
    private final @Nullable CmId anchor;
    private final VerbsContext context;
    private final ProtectionDomain domain;
    private final int maxCompletions;
    private final int maxRequests;
    private final boolean iwarp;
    // changed with their own lock held
    private final Map<Kind, RegisteredPool> pools = new ConcurrentHashMap<>();
    // of memory of programs that peers read; null until there is some, guarded by the pools
    private @Nullable RegistrationCache registrations;
    // the buffers of messages that the program still reads or fills in, although their connection is closed
    private final Set<RegisteredSlice> lent = ConcurrentHashMap.newKeySet();
    // guarded by OF_STREAMS
    private int streams;

    private DeviceResources(VerbsContext context, @Nullable CmLoop loop, @Nullable CmId anchor) throws RdmaException {
        this.loop = loop;
        this.anchor = anchor;
        this.context = context;
        DeviceAttributes limits = context.queryDevice();
        maxCompletions = limits.maxCompletionQueueEntries();
        maxRequests = limits.maxQueuePairRequests();
        iwarp = context.transportType() == TransportType.IWARP;
        if (ANNOUNCED.add(context.deviceName())) {
            LOG.info("using the device {}, {}, firmware {}", context.deviceName(), context.transportType(),
                    limits.firmwareVersion());
        }
        // last, for nobody could close it if something failed after it
        domain = context.allocateProtectionDomain();
    }

    /** What the buffers of a pool are for: their size, and whether peers write to them. */
    private record Kind(int size, boolean remote) {
    }

    /** Opens an id that is only bound to an address, to find its device; to be closed by the loop. */
    public static CmId open(CmLoop loop, InetSocketAddress local) throws RdmaException {
        try (Parts parts = new Parts()) {
            // Closed later, because the caller may hold locks that the thread of the loop needs.
            CmId id = parts.add(loop.open(new Ignored()), loop::closeLater);
            Link.bind(id, local);
            return parts.complete(id);
        }
    }

    /** Creates the resources of a manager for the device that an id is bound to. */
    public static DeviceResources create(CmLoop loop, CmId id) throws RdmaException {
        try (Parts parts = new Parts()) {
            CmId anchor = parts.add(open(loop, new InetSocketAddress(id.localAddress().getAddress(), 0)),
                    loop::closeLater);
            return parts.complete(new DeviceResources(id.context(), loop, anchor));
        }
    }

    /** Returns the resources of all streams over the device that an id is bound to, to be released. */
    public static DeviceResources acquire(CmId id) throws RdmaException {
        VerbsContext context = id.context();
        synchronized (OF_STREAMS) {
            DeviceResources device = OF_STREAMS.get(context);
            if (device == null) {
                device = ofStreams(context);
            }
            device.streams++;
            return device;
        }
    }

    private static DeviceResources ofStreams(VerbsContext context) throws RdmaException {
        try (Parts parts = new Parts()) {
            DeviceResources created = parts.add(new DeviceResources(context, null, null),
                    device -> device.domain.close());
            VerbsAccess.get().lifeOf(created.domain).whenChildless(created::noRegionIsLeft);
            OF_STREAMS.put(context, created);
            return parts.complete(created);
        }
    }

    /** Returns the protection domain. */
    public ProtectionDomain domain() {
        return domain;
    }

    /** Returns the device. */
    public VerbsContext context() {
        return context;
    }

    /** Returns how many completions a queue of this device can hold. */
    public int maxCompletions() {
        return maxCompletions;
    }

    /** Returns how many requests a queue of this device can hold. */
    public int maxRequests() {
        return maxRequests;
    }

    /**
     * Returns whether it is an iWARP device: it has no write with immediate, a send that finds no receive ends the
     * connection, and the side that has connected must be the first one to send.
     */
    public boolean isIwarp() {
        return iwarp;
    }

    /** Returns the pool of the buffers for messages of a size, which stays until the end. */
    public RegisteredPool pool(int messageSize) throws RdmaException {
        int size = (int) Math.min(Integer.MAX_VALUE / LINE * LINE, (messageSize + LINE - 1L) / LINE * LINE);
        return pool(new Kind(size, false));
    }

    private RegisteredPool open(Kind kind) throws RdmaException {
        return RegisteredPool.builder(domain).sliceSize(kind.size).access(kind.remote
                ? new AccessFlag[] {AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE}
                : new AccessFlag[] {AccessFlag.LOCAL_WRITE}).build();
    }

    private RegisteredPool pool(Kind kind) throws RdmaException {
        RegisteredPool pool = pools.get(kind);
        if (pool == null) {
            synchronized (pools) {
                pool = pools.get(kind);
                if (pool == null) {
                    try (Parts parts = new Parts()) {
                        pool = parts.add(open(kind), RegisteredPool::close);
                        pools.put(kind, pool);
                        parts.complete(pool);
                    }
                }
            }
        }
        return pool;
    }

    /**
     * Takes a buffer, which holds what its last user left there. Its pool exists as long as buffers of it are taken.
     *
     * @param remote whether peers write to it
     */
    public RegisteredSlice take(int size, boolean remote) throws RdmaException {
        synchronized (pools) {
            return pool(new Kind(size, remote)).take();
        }
    }

    /** Gives a buffer back that was taken, which no device uses any more. */
    public void giveBack(RegisteredSlice slice, boolean remote) throws RdmaException {
        synchronized (pools) {
            Kind kind = new Kind(slice.length(), remote);
            RegisteredPool pool = Objects.requireNonNull(pools.get(kind));
            slice.close();
            if (pool.taken() == 0) {
                pools.remove(kind);
                pool.close();
            }
        }
    }

    /** Returns the registrations of memory of programs that peers read, which stay until the end. */
    public RegistrationCache registrations() {
        synchronized (pools) {
            if (registrations == null) {
                registrations = RegistrationCache.builder(domain).access(AccessFlag.REMOTE_READ).build();
            }
            return registrations;
        }
    }

    /** Returns how many bytes its pools have registered, and those of programs that peers read. */
    public long registeredBytes() {
        synchronized (pools) {
            return pools.values().stream().mapToLong(RegisteredPool::registeredBytes).sum()
                    + (registrations == null ? 0 : registrations.registeredBytes());
        }
    }

    /** Returns how many buffers of its pools are in use. */
    public long buffersInUse() {
        return pools.values().stream().mapToLong(RegisteredPool::taken).sum();
    }

    /** Notes a slice that is still in use after the close of its connection. */
    public void lend(RegisteredSlice slice) {
        lent.add(slice);
    }

    /** Takes back a slice that was lent. */
    public void reclaim(RegisteredSlice slice) {
        lent.remove(slice);
        slice.close();
    }

    /** Closes those of a manager, after all connections; refused while the program has regions of the domain open. */
    public void close() throws RdmaException {
        // The memory of messages stays readable: nobody takes slices any more, and the garbage collector frees it.
        for (RegisteredSlice slice : List.copyOf(lent)) {
            reclaim(slice);
        }
        for (Map.Entry<Kind, RegisteredPool> pool : new ArrayList<>(pools.entrySet())) {
            pool.getValue().close();
            pools.remove(pool.getKey());
        }
        synchronized (pools) {
            if (registrations != null) {
                registrations.close();
            }
        }
        domain.close();
        Objects.requireNonNull(loop).close(Objects.requireNonNull(anchor));
    }

    /** A stream has been closed. */
    public void release() throws RdmaException {
        synchronized (OF_STREAMS) {
            streams--;
            closeIfUnused();
        }
    }

    private void closeIfUnused() throws RdmaException {
        synchronized (OF_STREAMS) {
            if (streams > 0) {
                return;
            }
            try {
                domain.close();
                OF_STREAMS.remove(context, this);
            } catch (IllegalStateException e) {
                LOG.debug("the program has regions in the protection domain of the streams, which stays open", e);
            }
        }
    }

    /** The last region has been closed, by a stream or by the program. */
    private void noRegionIsLeft() {
        try {
            closeIfUnused();
        } catch (RdmaException e) {
            LOG.debug("the protection domain of the streams cannot be closed; the next stream uses it again", e);
        }
    }

    /** Ignores the events of an id that is only bound to a device. */
    private static final class Ignored implements CmLoop.Handler {
        @Override
        public void handle(CmEvent event) {
        }

        @Override
        public void fail(RdmaException reason) {
        }
    }
}
