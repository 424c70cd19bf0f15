// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.codec.AddressStructs;
import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.ffi.NativeMemory;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * The membership of a queue pair in a multicast group ({@code ibv_attach_mcast}, ibv_attach_mcast(3)). The queue pair
 * receives the group's datagrams until {@link #close()}. The {@link #handle()} is the {@code union ibv_gid} of the
 * group.
 */
@CFunction("ibv_detach_mcast")
public final class MulticastAttachment extends NativeObject {
    private static final NativeFunction ATTACH_MCAST = NativeFunction.of("ibv_attach_mcast");
    private static final NativeFunction DETACH_MCAST = NativeFunction.of("ibv_detach_mcast");
    private static final int LID_BITS = 16;
    private static final int MULTICAST_BYTE = 0xff;

    private final QueuePair queuePair;
    private final Group group;

    private MulticastAttachment(QueuePair queuePair, Group group, Lifetime life, long address) {
        super(life, address, Gid.BYTES);
        this.queuePair = queuePair;
        this.group = group;
        life.describe(group::toString);
    }

    /** A group to which a queue pair can be attached only once. */
    record Group(Gid gid, int lid) {
        Group {
            Arguments.requireBits("multicast LID", lid, LID_BITS);
            boolean ipv4 = gid.isIpv4() && gid.toAddress().isMulticastAddress();
            if (gid.subnetPrefix() >>> Long.SIZE - Byte.SIZE != MULTICAST_BYTE && !ipv4) {
                throw new IllegalArgumentException("not the GID of a multicast group: " + gid);
            }
        }
    }

    /**
     * Attaches the queue pair. C would accept a second attachment to the same group, but the first detach would end
     * both.
     */
    static MulticastAttachment attach(QueuePair queuePair, Group group, Set<Group> attached) throws RdmaException {
        MemorySegment gid = NativeMemory.allocate(ATTACH_MCAST.name(), Gid.BYTES, Long.BYTES);
        AddressStructs.writeGid(group.gid(), gid.address());
        long pair = queuePair.address();
        return Lifetime.make(MulticastAttachment.class, List.of(queuePair.life()), arena -> {
            if (!attached.add(group)) {
                throw new IllegalStateException(queuePair + " is already attached to " + group);
            }
            boolean done = false;
            try {
                Check.returned(ATTACH_MCAST, ATTACH_MCAST.callInt(pair, gid.address(), group.lid()));
                done = true;
            } finally {
                if (!done) {
                    attached.remove(group);
                }
            }
            return gid.address();
        }, address -> {
            Check.returned(DETACH_MCAST, DETACH_MCAST.callInt(pair, gid.address(), group.lid()));
            attached.remove(group);
        }, (life, address) -> new MulticastAttachment(queuePair, group, life, address));
    }

    /** {@return the queue pair that receives the datagrams} */
    public QueuePair queuePair() {
        life().ensureOpen();
        return queuePair;
    }

    /** {@return the GID of the group} */
    public Gid gid() {
        life().ensureOpen();
        return group.gid();
    }

    /** {@return the LID of the group, 16 bits; 0 on RoCE} */
    public int lid() {
        life().ensureOpen();
        return group.lid();
    }
}
