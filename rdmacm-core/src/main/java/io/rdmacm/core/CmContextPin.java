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
 * Keeps librdmacm from closing one of its contexts while this library uses it.
 *
 * <p>librdmacm closes the context of a removed device once no id is bound to it and something, such as
 * rdma_get_devices, makes it scan the devices again. An id that is bound to the context therefore keeps it open by
 * itself. When the last such id is destroyed while the context is still in use, the context is pinned with a list of
 * {@link OpenDevices}, which is freed when the last use ends.
 */
final class CmContextPin extends ContextPin {
    // The addresses of the ids that C has not destroyed; their memory can be read while this set is locked. Addresses,
    // because a reference to a CmId would keep the leak detector from ever reporting it. Guarded by itself.
    private static final Set<Long> IDS = new HashSet<>();
    // By the address of the context.
    private static final Map<Long, CmContextPin> PINS = new ConcurrentHashMap<>();

    private final long context;
    private final int deviceIndex;
    // Keeps the context open while it is pinned; guarded by this.
    @SuppressWarnings("NullAway.Init")
    private OpenDevices list;

    private CmContextPin(long context, int deviceIndex) {
        this.context = context;
        this.deviceIndex = deviceIndex;
    }

    /** Returns the context at an address. The caller makes sure that librdmacm cannot close it during this call. */
    static VerbsContext context(long address) {
        int index = VerbsAccess.get().deviceIndexAt(address);
        return VerbsAccess.get().contextAt(address, () -> {
            CmContextPin pin = new CmContextPin(address, index);
            PINS.put(address, pin);
            return pin;
        });
    }

    /** Notes that C has created an id at this address, or could not destroy it. */
    static void created(long id) {
        synchronized (IDS) {
            IDS.add(id);
        }
    }

    /** Undoes {@link #created}. */
    static void forget(long id) {
        synchronized (IDS) {
            IDS.remove(id);
        }
    }

    /**
     * Called before an id is destroyed: pins its context when it is the last id of a context in use.
     *
     * @throws IllegalStateException when the context cannot be pinned because its device was removed: librdmacm would
     *         close it while objects created from it are open
     */
    static void beforeDestroy(CmId id) {
        long address = id.nativeAddress();
        CmContextPin pin = PINS.get(contextOf(address));
        boolean kept = true;
        if (pin == null) {
            forget(address);
        } else {
            synchronized (pin) {
                forget(address);
                kept = pin.pinIfInUse();
                if (!kept) {
                    created(address);
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

    /** Returns whether an id is bound to the context. */
    @Override
    protected boolean isKeptByC() {
        synchronized (IDS) {
            return IDS.stream().anyMatch(id -> contextOf(id) == context) && isSame();
        }
    }

    /** Pins the context with a list of devices; returns false when it is not in the list: librdmacm has closed it. */
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

    /** Returns false when the context of another device has taken the address of a closed one. */
    private boolean isSame() {
        return VerbsAccess.get().deviceIndexAt(context) == deviceIndex;
    }
}
