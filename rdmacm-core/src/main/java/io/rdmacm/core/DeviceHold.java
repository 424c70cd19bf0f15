// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.rdmacm.bindings.rdma_cm_id;
import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.internal.Keeper;
import io.rdmacm.verbs.internal.Lifetime;
import io.rdmacm.verbs.internal.Memory;
import io.rdmacm.verbs.internal.NativeFunction;
import io.rdmacm.verbs.internal.VerbsAccess;

/**
 * Keeps librdmacm from closing the context of a removed device while it is used. It does so when no id is bound to the
 * device any more, and it has looked for the devices anew, as rdma_get_devices does, and some other calls. The list
 * that rdma_get_devices gives keeps what is in it.
 */
final class DeviceHold extends Keeper {
    private static final NativeFunction GET_DEVICES = NativeFunction.of("rdma_get_devices");
    private static final NativeFunction FREE_DEVICES = NativeFunction.of("rdma_free_devices");

    // The ids that C has not destroyed, by address; not the objects, lest none of them could be found lost. Guarded by
    // itself: what is in it can be read.
    private static final Set<Long> IDS = new HashSet<>();
    private static final Map<Long, DeviceHold> HOLDS = new ConcurrentHashMap<>();

    private final long context;
    private final int deviceIndex;
    // guarded by this
    private long list;

    private DeviceHold(long context, int deviceIndex) {
        this.context = context;
        this.deviceIndex = deviceIndex;
    }

    /** The context at an address, which cannot be freed during the call. */
    static VerbsContext context(long address) {
        int index = VerbsAccess.get().deviceIndexAt(address);
        return VerbsAccess.get().contextAt(address, () -> {
            DeviceHold hold = new DeviceHold(address, index);
            HOLDS.put(address, hold);
            return hold;
        });
    }

    /** There is an id at the address. */
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
     * The id is about to be destroyed.
     *
     * @throws IllegalStateException when C would free a removed device's context under what was made from it
     */
    static void beforeDestroy(CmId id) {
        long address = id.nativeAddress();
        DeviceHold hold = HOLDS.get(contextOf(address));
        boolean kept = true;
        if (hold == null) {
            forget(address);
        } else {
            synchronized (hold) {
                forget(address);
                kept = hold.keepFurther();
                if (!kept) {
                    made(address);
                }
            }
        }
        if (!kept) {
            VerbsAccess verbs = VerbsAccess.get();
            Lifetime context = verbs.lifeOf(context(contextOf(address)));
            throw new IllegalStateException(id.lifetime() + " is the last id of " + context + ", whose device was"
                    + " removed, and cannot be closed before what was made from that, nor while threads are inside: "
                    + Lifetime.named(context.children()));
        }
    }

    private static long contextOf(long id) {
        return Memory.getLong(id + rdma_cm_id.verbs$offset());
    }

    @Override
    protected boolean isKept() {
        synchronized (IDS) {
            return IDS.stream().anyMatch(id -> contextOf(id) == context) && isSame();
        }
    }

    @Override
    protected boolean hold() {
        try {
            long contexts = GET_DEVICES.callLong(0);
            if (contexts == 0) {
                return false;
            }
            for (long entry = contexts; Memory.getLong(entry) != 0; entry += Long.BYTES) {
                if (Memory.getLong(entry) == context && isSame()) {
                    list = contexts;
                    return true;
                }
            }
            FREE_DEVICES.callInt(contexts);
            return false;
        } catch (RdmaException e) {
            return false;
        }
    }

    @Override
    protected void letGo() {
        try {
            FREE_DEVICES.callInt(list);
        } catch (RdmaException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Another device's context may have come to lie at the address. */
    private boolean isSame() {
        return VerbsAccess.get().deviceIndexAt(context) == deviceIndex;
    }
}
