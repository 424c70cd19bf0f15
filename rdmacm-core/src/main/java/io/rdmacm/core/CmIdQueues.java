// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.foreign.Arena;
import java.lang.ref.WeakReference;
import java.util.function.Consumer;

import io.rdmacm.bindings.ibv_qp_attr;
import io.rdmacm.bindings.rdma_cm_id;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.codec.EceStructs;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.internal.life.Parts;
import io.rdmacm.verbs.queue.Ece;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.SharedReceiveQueueType;
import org.jspecify.annotations.Nullable;

/**
 * The queue pair and the shared receive queue of an id, which librdmacm creates and destroys, and what the id knows
 * about queue pairs that it did not create. Methods are called with the lock of the id's channel held unless they say
 * otherwise.
 */
final class CmIdQueues {
    private static final NativeFunction CREATE_QP = NativeFunction.of("rdma_create_qp");
    private static final NativeFunction CREATE_QP_EX = NativeFunction.of("rdma_create_qp_ex");
    private static final NativeFunction DESTROY_QP = NativeFunction.of("rdma_destroy_qp");

    private static final NativeFunction CREATE_SRQ = NativeFunction.of("rdma_create_srq");
    private static final NativeFunction CREATE_SRQ_EX = NativeFunction.of("rdma_create_srq_ex");
    private static final NativeFunction DESTROY_SRQ = NativeFunction.of("rdma_destroy_srq");
    private static final NativeFunction SET_LOCAL_ECE = NativeFunction.of("rdma_set_local_ece");
    private static final NativeFunction GET_REMOTE_ECE = NativeFunction.of("rdma_get_remote_ece");
    private static final NativeFunction INIT_QP_ATTR = NativeFunction.of("rdma_init_qp_attr");
    private static final NativeFunction MODIFY_QP = NativeFunction.of("ibv_modify_qp");

    private final CmId id;
    // Becomes null when C has destroyed it, not when its close begins: until then the id cannot have another one.
    private volatile @Nullable QueuePair queuePair;
    private volatile @Nullable SharedReceiveQueue sharedReceiveQueue;

    CmIdQueues(CmId id) {
        this.id = id;
    }

    /** Returns the queue pair; null when there is none or it was closed. Needs no lock. */
    @Nullable QueuePair openQueuePair() {
        QueuePair current = queuePair;
        return current != null && current.isOpen() ? current : null;
    }

    QueuePair createQueuePair(ProtectionDomain domain, QueuePairInitAttributes attributes) throws RdmaException {
        requireFitting(domain, attributes);
        undoFailed();
        QueuePairInitAttributes complete = withOwnReceiveQueue(attributes);
        try (Parts parts = new Parts()) {
            QueuePair created = VerbsAccess.get().createQueuePair(id.lifetime(), domain, complete,
                    (init, arena) -> createNative(domain, complete, init),
                    freer(DESTROY_QP, queues -> queues.queuePair = null));
            Lifetime life = VerbsAccess.get().lifeOf(created);
            // if it cannot be destroyed now, the close of a parent does it
            parts.add(created, QueuePair::close, life);
            parts.add(life, id.memberships()::letGo);
            id.memberships().keepOpen(life);
            queuePair = created;
            return parts.complete(created);
        }
    }

    private long createNative(ProtectionDomain domain, QueuePairInitAttributes attributes, long init)
            throws RdmaException {
        if (attributes.isExtended()) {
            Check.minusOne(CREATE_QP_EX, CREATE_QP_EX.callInt(id.nativeAddress(), init));
        } else {
            long pd = VerbsAccess.get().addressOf(domain);
            Check.minusOne(CREATE_QP, CREATE_QP.callInt(id.nativeAddress(), pd, init));
        }
        return Memory.getLong(id.nativeAddress() + rdma_cm_id.qp$offset());
    }

    /** Returns the shared receive queue; null when there is none or C has destroyed it. Needs no lock. */
    @Nullable SharedReceiveQueue sharedReceiveQueue() {
        return sharedReceiveQueue;
    }

    SharedReceiveQueue createSharedReceiveQueue(ProtectionDomain domain, SharedReceiveQueueInitAttributes attributes)
            throws RdmaException {
        requireSameDevice(domain);
        if (sharedReceiveQueue != null || queuePair != null) {
            throw new IllegalStateException(id + " already has a shared receive queue or a queue pair");
        }
        undoFailed();
        SharedReceiveQueue created = VerbsAccess.get().createSharedReceiveQueue(id.lifetime(), domain, attributes,
                (init, arena) -> {
                    createNative(domain, attributes, init);
                    return Memory.getLong(id.nativeAddress() + rdma_cm_id.srq$offset());
                }, freer(DESTROY_SRQ, queues -> queues.sharedReceiveQueue = null));
        sharedReceiveQueue = created;
        return created;
    }

    /** Destroys queues that could not be made nor be undone: C would forget them for the next ones. */
    private void undoFailed() throws RdmaException {
        id.lifetime().undoFailed();
    }

    private void createNative(ProtectionDomain domain, SharedReceiveQueueInitAttributes attributes, long init)
            throws RdmaException {
        if (attributes.type() == SharedReceiveQueueType.BASIC) {
            long pd = VerbsAccess.get().addressOf(domain);
            Check.minusOne(CREATE_SRQ, CREATE_SRQ.callInt(id.nativeAddress(), pd, init));
        } else {
            Check.minusOne(CREATE_SRQ_EX, CREATE_SRQ_EX.callInt(id.nativeAddress(), init));
        }
    }

    /**
     * Adds the id's own shared receive queue, which C uses when the attributes have none: so the queue pair must be
     * closed before it.
     */
    private QueuePairInitAttributes withOwnReceiveQueue(QueuePairInitAttributes attributes) {
        SharedReceiveQueue own = sharedReceiveQueue;
        return own == null || attributes.sharedReceiveQueue().isPresent()
                ? attributes
                : attributes.toBuilder().sharedReceiveQueue(own).build();
    }

    void setLocalEce(Ece ece) throws RdmaException {
        requireNoQueuePair("set the local options for enhanced connection establishment");
        try (Arena arena = Arena.ofConfined()) {
            long struct = EceStructs.write(ece, arena);
            Check.minusOne(SET_LOCAL_ECE, SET_LOCAL_ECE.callInt(id.nativeAddress(), struct));
        }
    }

    Ece remoteEce() throws RdmaException {
        requireNoQueuePair("get the remote options for enhanced connection establishment");
        try (Arena arena = Arena.ofConfined()) {
            long struct = EceStructs.allocate(arena);
            Check.minusOne(GET_REMOTE_ECE, GET_REMOTE_ECE.callInt(id.nativeAddress(), struct));
            return EceStructs.read(struct);
        }
    }

    private void requireNoQueuePair(String what) {
        if (openQueuePair() != null) {
            throw new IllegalStateException("cannot " + what + ": " + id + " already has a queue pair");
        }
    }

    /** Moves a queue pair that was not created by the id to a state, with the attributes that librdmacm supplies. */
    void modify(QueuePair outside, QueuePairState wanted) throws RdmaException {
        Lifetime life = VerbsAccess.get().lifeOf(outside);
        life.enter();
        try (Arena arena = Arena.ofConfined()) {
            long values = arena.allocate(ibv_qp_attr.layout()).address();
            long mask = arena.allocate(Integer.BYTES, Integer.BYTES).address();
            Memory.putInt(values + ibv_qp_attr.qp_state$offset(), wanted.value());
            Check.minusOne(INIT_QP_ATTR, INIT_QP_ATTR.callInt(id.nativeAddress(), values, mask));
            long pair = VerbsAccess.get().addressOf(outside);
            Check.returned(MODIFY_QP, MODIFY_QP.callInt(pair, values, Memory.getInt(mask)));
        } finally {
            life.leave();
        }
    }

    /** Returns what frees a queue of the id. */
    private Lifetime.Freer freer(NativeFunction destroy, Consumer<CmIdQueues> forget) {
        long address = id.nativeAddress();
        // a strong reference would hide leaks from the detector
        WeakReference<CmIdQueues> weak = new WeakReference<>(this);
        return queue -> {
            CmIdQueues queues = weak.get();
            if (queues == null) {
                destroy.callInt(address);
            } else {
                queues.free(destroy, forget);
            }
        };
    }

    /** Takes the lock itself, because a close calls it. */
    private void free(NativeFunction destroy, Consumer<CmIdQueues> forget) throws RdmaException {
        EventChannel channel = id.lockChannel();
        try {
            destroy.callInt(id.nativeAddress());
            forget.accept(this);
        } finally {
            channel.lock().unlock();
        }
    }

    private void requireFitting(ProtectionDomain domain, QueuePairInitAttributes attributes) {
        if (queuePair != null) {
            throw new IllegalStateException(id + " already has a queue pair: " + queuePair);
        }
        requireSameDevice(domain);
        if (attributes.type() != id.portSpaceUnchecked().queuePairType()) {
            throw new IllegalArgumentException("an id of the port space " + id.portSpaceUnchecked()
                    + " needs a queue pair of the type " + id.portSpaceUnchecked().queuePairType() + ", not "
                    + attributes.type());
        }
    }

    private void requireSameDevice(ProtectionDomain domain) {
        if (domain.context() != id.context()) {
            throw new IllegalArgumentException("the protection domain belongs to another device, " + domain.context()
                    + ", than the id: " + id.context());
        }
    }
}
