// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmId;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.pool.RegisteredPool;
import io.rdmacm.verbs.pool.RegisteredSlice;

/** What the connections over one device share: a protection domain, and a pool of buffers for each message size. */
public final class DeviceResources {
    private static final int LINE = 64;

    private final CmLoop loop;
    private final ProtectionDomain domain;
    // librdmacm keeps a device open only as long as an id is bound to it
    private final CmId anchor;
    private final int maxCompletions;
    // by the size of a buffer; guarded by itself
    private final Map<Integer, RegisteredPool> pools = new ConcurrentHashMap<>();
    // the buffers of messages that the program still reads or fills in, although their connection is closed
    private final Set<RegisteredSlice> lent = ConcurrentHashMap.newKeySet();

    private DeviceResources(CmLoop loop, CmId anchor, ProtectionDomain domain, int maxCompletions) {
        this.loop = loop;
        this.anchor = anchor;
        this.domain = domain;
        this.maxCompletions = maxCompletions;
    }

    /** Opens an id that is only bound to an address, to find its device; to be closed by the loop. */
    public static CmId open(CmLoop loop, InetSocketAddress local) throws RdmaException {
        CmId id = loop.open(new Ignored());
        boolean bound = false;
        try {
            Link.bind(id, local);
            bound = true;
            return id;
        } finally {
            if (!bound) {
                // The caller may hold locks that the thread of the loop needs.
                loop.closeLater(id);
            }
        }
    }

    /** Creates the resources for the device that an id is bound to. */
    public static DeviceResources create(CmLoop loop, CmId id) throws RdmaException {
        CmId anchor = open(loop, new InetSocketAddress(id.localAddress().getAddress(), 0));
        ProtectionDomain domain = null;
        try {
            int maxCompletions = id.context().queryDevice().maxCompletionQueueEntries();
            domain = id.context().allocateProtectionDomain();
            return new DeviceResources(loop, anchor, domain, maxCompletions);
        } finally {
            if (domain == null) {
                loop.closeLater(anchor);
            }
        }
    }

    /** Returns the protection domain. */
    public ProtectionDomain domain() {
        return domain;
    }

    /** Returns how many completions a queue of this device can hold. */
    public int maxCompletions() {
        return maxCompletions;
    }

    /** Returns the device. */
    public VerbsContext context() {
        return domain.context();
    }

    /** Returns the pool of the buffers for messages of a size. */
    public RegisteredPool pool(int messageSize) throws RdmaException {
        int size = (int) Math.min(Integer.MAX_VALUE / LINE * LINE, (messageSize + LINE - 1L) / LINE * LINE);
        RegisteredPool pool = pools.get(size);
        if (pool == null) {
            synchronized (pools) {
                pool = pools.get(size);
                if (pool == null) {
                    pool = RegisteredPool.create(domain, size);
                    pools.put(size, pool);
                }
            }
        }
        return pool;
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

    /** Closes everything, after all connections; refused while the program has regions of the domain open. */
    public void close() throws RdmaException {
        // The memory of messages stays readable: nobody takes slices any more, and the garbage collector frees it.
        for (RegisteredSlice slice : List.copyOf(lent)) {
            reclaim(slice);
        }
        for (Map.Entry<Integer, RegisteredPool> pool : new ArrayList<>(pools.entrySet())) {
            pool.getValue().close();
            pools.remove(pool.getKey());
        }
        domain.close();
        loop.close(anchor);
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
