// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.foreign.Arena;
import java.net.SocketAddress;
import java.util.concurrent.atomic.AtomicLong;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.rdma_cm_id;
import io.rdmacm.bindings.rdma_cm_join_mc_attr_ex;
import io.rdmacm.verbs.CFunction;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.internal.Errno;
import io.rdmacm.verbs.internal.Lifetime;
import io.rdmacm.verbs.internal.Memory;
import io.rdmacm.verbs.internal.NativeFunction;
import io.rdmacm.verbs.internal.VerbsAccess;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * That an id is a member of a multicast group (rdma_join_multicast(3)): had from {@link CmId#joinMulticast}, ended by
 * {@link #close()}, which is due before the id's queue pair is closed. When the id has a queue pair, it is attached to
 * the group as the MULTICAST_JOIN event is taken.
 *
 * <p>C has no struct of its own for it: {@link #handle()} is that of the id.
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

    /** Which part a member takes in its group ({@code join_flags}). */
    public enum Role {
        /** Sends and receives ({@code RDMA_MC_JOIN_FLAG_FULLMEMBER}). */
        FULL_MEMBER(Rdma.RDMA_MC_JOIN_FLAG_FULLMEMBER()),
        /** Only sends ({@code RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER}). */
        SEND_ONLY(Rdma.RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER());

        private final int flag;

        Role(int flag) {
            this.flag = flag;
        }

        /** The C constant. */
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

    /** Joins. With the lock of the id's channel held. */
    static MulticastMembership join(CmId id, SocketAddress group, Role role) throws RdmaException {
        QueuePair queuePair = id.openQueuePair();
        Lifetime life = queuePair == null
                ? Lifetime.begin(MulticastMembership.class, id.lifetime())
                : Lifetime.begin(MulticastMembership.class, id.lifetime(), VerbsAccess.get().lifeOf(queuePair));
        long context = CONTEXTS.getAndIncrement();
        life.create(() -> joinNative(id, group, role, context));
        return new MulticastMembership(id, group, context, life);
    }

    private static long joinNative(CmId id, SocketAddress group, Role role, long context) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            long address = SocketAddresses.write(group, arena);
            if (role == Role.FULL_MEMBER) {
                CmFailures.check(JOIN, JOIN.callInt(id.nativeAddress(), address, context), group.toString());
                return context;
            }
            long attributes = arena.allocate(rdma_cm_join_mc_attr_ex.layout()).address();
            Memory.putInt(attributes + rdma_cm_join_mc_attr_ex.comp_mask$offset(),
                    Rdma.RDMA_CM_JOIN_MC_ATTR_ADDRESS() | Rdma.RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS());
            Memory.putInt(attributes + rdma_cm_join_mc_attr_ex.join_flags$offset(), role.flag());
            Memory.putLong(attributes + rdma_cm_join_mc_attr_ex.addr$offset(), address);
            CmFailures.check(JOIN_EX, JOIN_EX.callInt(id.nativeAddress(), attributes, context), group.toString());
            return context;
        }
    }

    /** The address of the group. */
    public SocketAddress group() {
        life().ensureOpen();
        return group;
    }

    /** The id that is the member. */
    public CmId id() {
        life().ensureOpen();
        return id;
    }

    /** Whether it is of a group, also while it is being closed. */
    boolean isOf(SocketAddress other) {
        return group.equals(other);
    }

    /** What librdmacm gives back with the events of this membership. */
    long context() {
        return context;
    }

    Lifetime lifetime() {
        return life();
    }

    /** Leaves the group and detaches the queue pair. */
    @Override
    @CFunction("rdma_leave_multicast")
    protected void destroy() throws RdmaException {
        EventChannel channel = id.lockChannel();
        try (Arena arena = Arena.ofConfined()) {
            // Events of this membership that nobody asked for: C would wait for them.
            channel.dropPending(event -> event.owner() == id && event.isMulticast()
                    && event.multicastContext() == context);
            if (LEAVE.callInt(id.nativeAddress(), SocketAddresses.write(group, arena)) != 0) {
                // C has let go of the membership all the same: it must not stand in the way of the id for ever.
                LOG.warn("{}", RdmaException.of(LEAVE.name(), Errno.last(), group.toString()).getMessage());
            }
            id.memberships().remove(this);
        } finally {
            channel.lock().unlock();
        }
    }
}
