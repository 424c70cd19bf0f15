// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.util.HashMap;
import java.util.Map;

import io.rdmacm.core.CmId;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.device.DeviceAttributes;
import io.rdmacm.verbs.device.TransportType;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.work.AccessFlag;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What all streams over one device share: the protection domain, so that memory that is registered once can be written
 * to each of them, and the memory of their buffers. It is created with the first stream, and closed with the last one
 * and the last region of the program.
 */
final class StreamDevice {
    private static final Logger LOG = LoggerFactory.getLogger(StreamDevice.class);
    private static final VerbsAccess VERBS = VerbsAccess.get();
    // Guarded by itself; used when a stream is created or closed.
    private static final Map<VerbsContext, StreamDevice> DEVICES = new HashMap<>();

    private final VerbsContext context;
    private final ProtectionDomain domain;
    private final StreamPools sendPools;
    private final StreamPools receivePools;
    private final boolean iwarp;
    private final int maxRequests;
    private final int maxCompletions;
    // guarded by DEVICES
    private int streams;

    private StreamDevice(VerbsContext context, ProtectionDomain domain, DeviceAttributes limits) {
        this.context = context;
        this.domain = domain;
        this.sendPools = new StreamPools(domain, AccessFlag.LOCAL_WRITE);
        this.receivePools = new StreamPools(domain, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        this.iwarp = context.transportType() == TransportType.IWARP;
        this.maxRequests = limits.maxQueuePairRequests();
        this.maxCompletions = limits.maxCompletionQueueEntries();
    }

    /** Returns the device that an id is bound to, to be released. */
    static StreamDevice acquire(CmId id) throws RdmaException {
        VerbsContext context = id.context();
        synchronized (DEVICES) {
            StreamDevice device = DEVICES.get(context);
            if (device == null) {
                DeviceAttributes limits = context.queryDevice();
                ProtectionDomain domain = context.allocateProtectionDomain();
                boolean made = false;
                try {
                    device = new StreamDevice(context, domain, limits);
                    VERBS.lifeOf(domain).whenChildless(device::noRegionIsLeft);
                    DEVICES.put(context, device);
                    made = true;
                } finally {
                    if (!made) {
                        domain.close();
                    }
                }
            }
            device.streams++;
            return device;
        }
    }

    ProtectionDomain domain() {
        return domain;
    }

    VerbsContext context() {
        return context;
    }

    /** Returns the memory that only this side uses. */
    StreamPools sendPools() {
        return sendPools;
    }

    /** Returns the memory that peers write to. */
    StreamPools receivePools() {
        return receivePools;
    }

    /**
     * Returns whether it is an iWARP device: it has no write with immediate, a send that finds no receive ends the
     * connection, and the side that has connected must be the first one to send.
     */
    boolean isIwarp() {
        return iwarp;
    }

    /** Returns how many completions a queue can hold. */
    int maxCompletions() {
        return maxCompletions;
    }

    /** Returns how many messages a queue can hold, given a wish. */
    int queueSize(int wanted) {
        int most = Math.min(maxRequests, maxCompletions / 2);
        // on iWARP, a message may be two requests
        return Math.min(wanted, iwarp ? most / 3 : most);
    }

    /** Frees what is shared if this was the last stream. */
    void release() throws RdmaException {
        synchronized (DEVICES) {
            streams--;
            closeIfUnused();
        }
    }

    private void closeIfUnused() throws RdmaException {
        synchronized (DEVICES) {
            if (streams > 0) {
                return;
            }
            try {
                domain.close();
                DEVICES.remove(context, this);
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
}
