// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.foreign.Arena;
import java.util.EnumSet;
import java.util.Set;

import io.rdmacm.bindings.ibv_qp_attr;
import io.rdmacm.bindings.rdma_cm_id;
import io.rdmacm.verbs.Ece;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.QueuePairState;
import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.SharedReceiveQueueType;
import io.rdmacm.verbs.internal.Check;
import io.rdmacm.verbs.internal.EceStructs;
import io.rdmacm.verbs.internal.Lifetime;
import io.rdmacm.verbs.internal.Memory;
import io.rdmacm.verbs.internal.NativeFunction;
import io.rdmacm.verbs.internal.VerbsAccess;

/** The queue pair and the shared receive queue that belong to an id: made and destroyed through it. */
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
    private static final Set<CmIdState> CAN_MODIFY = EnumSet.complementOf(EnumSet.of(CmIdState.IDLE, CmIdState.BOUND,
            CmIdState.RESOLVING_ADDRESS, CmIdState.LISTENING, CmIdState.FAILED));

    private final CmId id;
    // Written with the lock of the id's channel held; null as soon as C has destroyed it, and not before: one that is
    // being closed still has its place in the id.
    private volatile QueuePair queuePair;
    private volatile SharedReceiveQueue sharedReceiveQueue;

    CmIdQueues(CmId id) {
        this.id = id;
    }

    QueuePair openQueuePair() {
        QueuePair current = queuePair;
        return current != null && current.isOpen() ? current : null;
    }

    QueuePair createQueuePair(ProtectionDomain domain, QueuePairInitAttributes attributes) throws RdmaException {
        QueuePair[] made = new QueuePair[1];
        id.run("createQueuePair", CmId.WITH_DEVICE, () -> {
            requireFitting(domain, attributes);
            QueuePairInitAttributes complete = withOwnReceiveQueue(attributes);
            made[0] = VerbsAccess.get().createQueuePair(id.lifetime(), domain, complete, init -> {
                if (complete.isExtended()) {
                    Check.minusOne(CREATE_QP_EX, CREATE_QP_EX.callInt(id.nativeAddress(), init));
                } else {
                    long pd = VerbsAccess.get().addressOf(domain);
                    Check.minusOne(CREATE_QP, CREATE_QP.callInt(id.nativeAddress(), pd, init));
                }
                return Memory.getLong(id.nativeAddress() + rdma_cm_id.qp$offset());
            }, this::destroyQueuePair);
            queuePair = made[0];
        });
        return made[0];
    }

    SharedReceiveQueue sharedReceiveQueue() {
        return sharedReceiveQueue;
    }

    SharedReceiveQueue createSharedReceiveQueue(ProtectionDomain domain, SharedReceiveQueueInitAttributes attributes)
            throws RdmaException {
        SharedReceiveQueue[] made = new SharedReceiveQueue[1];
        id.run("createSharedReceiveQueue", CmId.WITH_DEVICE, () -> {
            requireSameDevice(domain);
            if (sharedReceiveQueue != null || queuePair != null) {
                throw new IllegalStateException(id + " has a shared receive queue or a queue pair already");
            }
            made[0] = VerbsAccess.get().createSharedReceiveQueue(id.lifetime(), domain, attributes, init -> {
                createNative(domain, attributes, init);
                return Memory.getLong(id.nativeAddress() + rdma_cm_id.srq$offset());
            }, this::destroySharedReceiveQueue);
            sharedReceiveQueue = made[0];
        });
        return made[0];
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

    private void destroySharedReceiveQueue() throws RdmaException {
        EventChannel channel = id.lockChannel();
        try {
            DESTROY_SRQ.callInt(id.nativeAddress());
            sharedReceiveQueue = null;
        } finally {
            channel.lock().unlock();
        }
    }

    /** C takes the id's own queue where none is given: then this side must know it too, for the order of closing. */
    private QueuePairInitAttributes withOwnReceiveQueue(QueuePairInitAttributes attributes) {
        SharedReceiveQueue own = sharedReceiveQueue;
        return own == null || attributes.sharedReceiveQueue().isPresent()
                ? attributes
                : attributes.withSharedReceiveQueue(own);
    }

    void setLocalEce(Ece ece) throws RdmaException {
        requireNoQueuePair("options of enhanced connection establishment are set");
        try (Arena arena = Arena.ofConfined()) {
            long struct = EceStructs.write(ece, arena);
            Check.minusOne(SET_LOCAL_ECE, SET_LOCAL_ECE.callInt(id.nativeAddress(), struct));
        }
    }

    Ece remoteEce() throws RdmaException {
        requireNoQueuePair("options of enhanced connection establishment are asked for");
        try (Arena arena = Arena.ofConfined()) {
            long struct = EceStructs.allocate(arena);
            Check.minusOne(GET_REMOTE_ECE, GET_REMOTE_ECE.callInt(id.nativeAddress(), struct));
            return EceStructs.read(struct);
        }
    }

    private void requireNoQueuePair(String what) {
        if (openQueuePair() != null) {
            throw new IllegalStateException(what + " before the queue pair is made, and " + id + " has one");
        }
    }

    void modify(QueuePair outside, QueuePairState wanted) throws RdmaException {
        id.run("modifyQueuePair", CAN_MODIFY, () -> {
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
        });
    }

    private void destroyQueuePair() throws RdmaException {
        EventChannel channel = id.lockChannel();
        try {
            DESTROY_QP.callInt(id.nativeAddress());
            queuePair = null;
        } finally {
            channel.lock().unlock();
        }
    }

    private void requireFitting(ProtectionDomain domain, QueuePairInitAttributes attributes) {
        if (queuePair != null) {
            throw new IllegalStateException(id + " has a queue pair already: " + queuePair);
        }
        requireSameDevice(domain);
        if (attributes.type() != id.portSpaceUnchecked().queuePairType()) {
            throw new IllegalArgumentException("ids of the port space " + id.portSpaceUnchecked()
                    + " have queue pairs of the type " + id.portSpaceUnchecked().queuePairType() + ", not "
                    + attributes.type());
        }
    }

    private void requireSameDevice(ProtectionDomain domain) {
        if (domain.context() != id.context()) {
            throw new IllegalArgumentException("the protection domain belongs to another device: " + domain.context()
                    + ", the id to " + id.context());
        }
    }
}
