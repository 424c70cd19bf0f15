// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.lang.foreign.Arena;
import java.util.EnumSet;
import java.util.Set;

import io.rdmacm.bindings.ibv_qp_attr;
import io.rdmacm.bindings.rdma_cm_id;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.QueuePairState;
import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.internal.Check;
import io.rdmacm.verbs.internal.Lifetime;
import io.rdmacm.verbs.internal.Memory;
import io.rdmacm.verbs.internal.NativeFunction;
import io.rdmacm.verbs.internal.VerbsAccess;

/** The queue pair that belongs to an id: made and destroyed through it. */
final class CmIdQueues {
    private static final NativeFunction CREATE_QP = NativeFunction.of("rdma_create_qp");
    private static final NativeFunction DESTROY_QP = NativeFunction.of("rdma_destroy_qp");

    private static final NativeFunction INIT_QP_ATTR = NativeFunction.of("rdma_init_qp_attr");
    private static final NativeFunction MODIFY_QP = NativeFunction.of("ibv_modify_qp");
    private static final Set<CmIdState> CAN_MODIFY = EnumSet.complementOf(EnumSet.of(CmIdState.IDLE, CmIdState.BOUND,
            CmIdState.RESOLVING_ADDRESS, CmIdState.LISTENING, CmIdState.FAILED));

    private final CmId id;
    // Written with the lock of the id's channel held.
    private volatile QueuePair queuePair;

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
            made[0] = VerbsAccess.get().createQueuePair(id.lifetime(), domain, attributes, init -> {
                long pd = VerbsAccess.get().addressOf(domain);
                Check.minusOne(CREATE_QP, CREATE_QP.callInt(id.nativeAddress(), pd, init));
                return Memory.getLong(id.nativeAddress() + rdma_cm_id.qp$offset());
            }, this::destroyQueuePair);
            queuePair = made[0];
        });
        return made[0];
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
        if (openQueuePair() != null) {
            throw new IllegalStateException(id + " has a queue pair already: " + queuePair);
        }
        if (domain.context() != id.context()) {
            throw new IllegalArgumentException("the protection domain belongs to another device: " + domain.context()
                    + ", the id to " + id.context());
        }
        if (attributes.type() != id.portSpaceUnchecked().queuePairType()) {
            throw new IllegalArgumentException("ids of the port space " + id.portSpaceUnchecked()
                    + " have queue pairs of the type " + id.portSpaceUnchecked().queuePairType() + ", not "
                    + attributes.type());
        }
    }
}
