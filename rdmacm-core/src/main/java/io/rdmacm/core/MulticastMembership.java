// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.foreign.Arena;
import java.lang.ref.WeakReference;
import java.net.SocketAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.rdma_cm_id;
import io.rdmacm.bindings.rdma_cm_join_mc_attr_ex;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Errno;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The membership of an id in a multicast group (rdma_join_multicast(3)), created by {@link CmId#joinMulticast}.
 * {@link #close()} leaves the group; close a membership before the queue pair of its id. If the id has a queue pair,
 * librdmacm attaches it to the group when the MULTICAST_JOIN event is read.
 *
 * <p>C has no struct for memberships: {@link #handle()} is that of the id.
 */
public final class MulticastMembership extends NativeObject {
    private static final Logger LOG = LoggerFactory.getLogger(MulticastMembership.class);
    private static final NativeFunction JOIN = NativeFunction.of("rdma_join_multicast");
    private static final NativeFunction JOIN_EX = NativeFunction.of("rdma_join_multicast_ex");
    private static final NativeFunction LEAVE = NativeFunction.of("rdma_leave_multicast");
    private static final AtomicLong CONTEXTS = new AtomicLong(1);

    private final CmId id;
    private final SocketAddress group;
    private final long context;

    /** The role of a member in its group ({@code join_flags}). */
    public enum Role {
        /** Sends and receives ({@code RDMA_MC_JOIN_FLAG_FULLMEMBER}). */
        FULL_MEMBER(Rdma.RDMA_MC_JOIN_FLAG_FULLMEMBER()),
        /** Only sends ({@code RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER}). */
        SEND_ONLY(Rdma.RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER());

        private final int flag;

        Role(int flag) {
            this.flag = flag;
        }

        /** {@return the C constant} */
        public int flag() {
            return flag;
        }
    }

    private MulticastMembership(CmId id, SocketAddress group, long context, Lifetime life) {
        super(life, id.nativeAddress(), rdma_cm_id.sizeof());
        this.id = id;
        this.group = group;
        this.context = context;
        life.describe(() -> group.toString());
    }

    /** Joins a group. With the lock of the id's channel held. */
    static MulticastMembership join(CmId id, SocketAddress group, Role role) throws RdmaException {
        QueuePair queuePair = id.openQueuePair();
        List<Lifetime> parents = queuePair == null
                ? List.of(id.lifetime())
                : List.of(id.lifetime(), VerbsAccess.get().lifeOf(queuePair));
        long address = id.nativeAddress();
        // a strong reference would hide leaks from the detector
        WeakReference<CmId> weak = new WeakReference<>(id);
        return Lifetime.make(MulticastMembership.class, parents, arena -> joinNative(id, group, role, arena),
                context -> leave(weak.get(), address, group, context),
                (life, context) -> Lifetime.publish(new MulticastMembership(id, group, context, life),
                        id.memberships()::add, id.memberships()::remove));
    }

    private static long joinNative(CmId id, SocketAddress group, Role role, Arena arena) throws RdmaException {
        long context = CONTEXTS.getAndIncrement();
        String detail = group.toString();
        long address = SocketAddresses.write(group, arena);
        if (role == Role.FULL_MEMBER) {
            CmFailures.check(JOIN, JOIN.callInt(id.nativeAddress(), address, context), detail);
            return context;
        }
        long attributes = arena.allocate(rdma_cm_join_mc_attr_ex.layout()).address();
        Memory.putInt(attributes + rdma_cm_join_mc_attr_ex.comp_mask$offset(),
                Rdma.RDMA_CM_JOIN_MC_ATTR_ADDRESS() | Rdma.RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS());
        Memory.putInt(attributes + rdma_cm_join_mc_attr_ex.join_flags$offset(), role.flag());
        Memory.putLong(attributes + rdma_cm_join_mc_attr_ex.addr$offset(), address);
        CmFailures.check(JOIN_EX, JOIN_EX.callInt(id.nativeAddress(), attributes, context), detail);
        return context;
    }

    /** {@return the address of the group} */
    public SocketAddress group() {
        life().ensureOpen();
        return group;
    }

    /** {@return the id that is a member of the group} */
    public CmId id() {
        life().ensureOpen();
        return id;
    }

    /** Returns whether this is a membership in the given group; also works when it is closed. */
    boolean isOf(SocketAddress other) {
        return group.equals(other);
    }

    /** Returns the context by which librdmacm identifies the events of this membership. */
    long context() {
        return context;
    }

    Lifetime lifetime() {
        return life();
    }

    /** @hidden */
    @Override
    @CFunction("rdma_leave_multicast")
    protected void destroy() throws RdmaException {
        EventChannel channel = id.lockChannel();
        try {
            super.destroy();
            id.memberships().remove(this);
        } finally {
            channel.lock().unlock();
        }
    }

    private static void leave(@Nullable CmId id, long address, SocketAddress group, long context)
            throws RdmaException {
        EventChannel channel = id == null ? null : id.lockChannel();
        try (Arena arena = Arena.ofConfined()) {
            if (channel != null) {
                // rdma_leave_multicast waits until all events of this membership are acknowledged.
                channel.dropPending(event -> event.owner() == id && event.isMulticast()
                        && event.multicastContext() == context);
            }
            if (LEAVE.callInt(address, SocketAddresses.write(group, arena)) != 0) {
                // C has forgotten the membership all the same, so it must not keep the id from being closed.
                LOG.warn("{}", Failures.of(LEAVE.name(), Errno.last(), group.toString()).getMessage());
            }
        } finally {
            if (channel != null) {
                channel.lock().unlock();
            }
        }
    }
}
