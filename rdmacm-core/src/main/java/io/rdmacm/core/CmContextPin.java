// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.rdmacm.bindings.rdma_cm_id;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.life.ContextPin;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * Pins a context of librdmacm: keeps librdmacm from closing it while it is in use here.
 *
 * <p>librdmacm closes the context of a removed device when no id is bound to it any more and something, such as
 * rdma_get_devices, makes it look for the devices again. So an id that is bound to the context pins it, and where there
 * is none, a list of {@link OpenDevices} does. Such a list is held only from the time the last id goes until the last
 * use ends.
 */
final class CmContextPin extends ContextPin {
    // The addresses of the ids that C has not destroyed. Their memory can be read while this set is locked. Addresses,
    // because a reference to a CmId would keep the leak detector from ever reporting it. Guarded by itself.
    private static final Set<Long> IDS = new HashSet<>();
    // By the address of the context.
    private static final Map<Long, CmContextPin> HOLDS = new ConcurrentHashMap<>();

    private final long context;
    private final int deviceIndex;
    // The pin, while no id is; guarded by this.
    private OpenDevices list;

    private CmContextPin(long context, int deviceIndex) {
        this.context = context;
        this.deviceIndex = deviceIndex;
    }

    /** The context at an address. librdmacm must not be able to close it during this call. */
    static VerbsContext context(long address) {
        int index = VerbsAccess.get().deviceIndexAt(address);
        return VerbsAccess.get().contextAt(address, () -> {
            CmContextPin hold = new CmContextPin(address, index);
            HOLDS.put(address, hold);
            return hold;
        });
    }

    /** C has created an id at this address, or could not destroy it. */
    static void made(long id) {
        synchronized (IDS) {
            IDS.add(id);
        }
    }

    private static void forget(long id) {
        synchronized (IDS) {
            IDS.remove(id);
        }
    }

    /**
     * An id is about to be destroyed.
     *
     * @throws IllegalStateException when its device was removed, and librdmacm would close the context while objects
     *         created from it are open
     */
    static void beforeDestroy(CmId id) {
        long address = id.nativeAddress();
        CmContextPin hold = HOLDS.get(contextOf(address));
        boolean kept = true;
        if (hold == null) {
            forget(address);
        } else {
            synchronized (hold) {
                forget(address);
                kept = hold.pinIfInUse();
                if (!kept) {
                    made(address);
                }
            }
        }
        if (!kept) {
            VerbsAccess verbs = VerbsAccess.get();
            Lifetime context = verbs.lifeOf(context(contextOf(address)));
            throw new IllegalStateException(id.lifetime() + " cannot be closed: it is the last id of " + context
                    + ", whose device was removed. Close what was created from that context first, and let calls on it"
                    + " return: " + Lifetime.named(context.children()));
        }
    }

    private static long contextOf(long id) {
        return Memory.getLong(id + rdma_cm_id.verbs$offset());
    }

    /** Whether an id pins the context. */
    @Override
    protected boolean isKeptByC() {
        synchronized (IDS) {
            return IDS.stream().anyMatch(id -> contextOf(id) == context) && isSame();
        }
    }

    /** Pins the context by a list; false when it is not in the list, because librdmacm has closed it. */
    @Override
    protected boolean pin() {
        try {
            OpenDevices devices = OpenDevices.get();
            if (devices.contexts().anyMatch(other -> other == context) && isSame()) {
                list = devices;
                return true;
            }
            devices.close();
            return false;
        } catch (RdmaException e) {
            return false;
        }
    }

    @Override
    protected void unpin() {
        try {
            list.close();
        } catch (RdmaException e) {
            throw new IllegalStateException(e);
        }
    }

    /** False when the context of another device has taken the address of a closed one. */
    private boolean isSame() {
        return VerbsAccess.get().deviceIndexAt(context) == deviceIndex;
    }
}
