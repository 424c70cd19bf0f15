// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_qp_init_attr_ex;
import io.rdmacm.bindings.ibv_rx_hash_conf;
import io.rdmacm.verbs.device.RxHashField;
import io.rdmacm.verbs.internal.codec.QueuePairStructs;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.queue.QueuePairCreateFlag;
import io.rdmacm.verbs.work.SendOperation;

/** Writes the init attributes of queue pairs to C structs. They hold addresses of other objects. */
final class QueuePairInitStructs {
    private QueuePairInitStructs() {
    }

    /**
     * Allocates and writes a {@code struct ibv_qp_init_attr_ex}, which starts with the members of a
     * {@code struct ibv_qp_init_attr}.
     */
    static long write(QueuePairInitAttributes attributes, Arena arena) {
        long init = arena.allocate(ibv_qp_init_attr_ex.layout()).address();
        attributes.sendCompletionQueue().ifPresent(
                queue -> Memory.putLong(init + ibv_qp_init_attr_ex.send_cq$offset(), queue.address()));
        attributes.receiveCompletionQueue().ifPresent(
                queue -> Memory.putLong(init + ibv_qp_init_attr_ex.recv_cq$offset(), queue.address()));
        attributes.sharedReceiveQueue().ifPresent(
                queue -> Memory.putLong(init + ibv_qp_init_attr_ex.srq$offset(), queue.address()));
        Memory.putInt(init + ibv_qp_init_attr_ex.qp_type$offset(), attributes.type().value());
        Memory.putInt(init + ibv_qp_init_attr_ex.sq_sig_all$offset(), attributes.signalAll() ? 1 : 0);
        QueuePairStructs.write(attributes.ownCapabilities(), init + ibv_qp_init_attr_ex.cap$offset());
        Memory.putInt(init + ibv_qp_init_attr_ex.comp_mask$offset(), writeExtended(attributes, init, arena));
        return init;
    }

    /** Writes the extended attributes that are set, and returns their {@code comp_mask}. */
    private static int writeExtended(QueuePairInitAttributes attributes, long init, Arena arena) {
        int mask = 0;
        if (!attributes.createFlags().isEmpty()) {
            Memory.putInt(init + ibv_qp_init_attr_ex.create_flags$offset(),
                    Flags.mask(attributes.createFlags(), QueuePairCreateFlag::bit));
            attributes.sourceQueuePair().ifPresent(
                    number -> Memory.putInt(init + ibv_qp_init_attr_ex.source_qpn$offset(), number));
            mask |= Rdma.IBV_QP_INIT_ATTR_CREATE_FLAGS();
        }
        if (attributes.maxTsoHeader() > 0) {
            Memory.putShort(init + ibv_qp_init_attr_ex.max_tso_header$offset(), (short) attributes.maxTsoHeader());
            mask |= Rdma.IBV_QP_INIT_ATTR_MAX_TSO_HEADER();
        }
        if (!attributes.sendOperations().isEmpty()) {
            Memory.putLong(init + ibv_qp_init_attr_ex.send_ops_flags$offset(),
                    Flags.mask(attributes.sendOperations(), SendOperation::bit));
            mask |= Rdma.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS();
        }
        if (attributes.receiveSideScaling().isPresent()) {
            write(attributes.receiveSideScaling().get(), init, arena);
            mask |= Rdma.IBV_QP_INIT_ATTR_IND_TABLE() | Rdma.IBV_QP_INIT_ATTR_RX_HASH();
        }
        return mask;
    }

    private static void write(ReceiveSideScaling scaling, long init, Arena arena) {
        Memory.putLong(init + ibv_qp_init_attr_ex.rwq_ind_tbl$offset(), scaling.table().address());
        byte[] key = scaling.key();
        long hash = init + ibv_qp_init_attr_ex.rx_hash_conf$offset();
        Memory.putByte(hash + ibv_rx_hash_conf.rx_hash_function$offset(), (byte) scaling.function().bit());
        Memory.putByte(hash + ibv_rx_hash_conf.rx_hash_key_len$offset(), (byte) key.length);
        Memory.putLong(hash + ibv_rx_hash_conf.rx_hash_key$offset(),
                arena.allocateFrom(ValueLayout.JAVA_BYTE, key).address());
        // 64 bits, of which INNER is bit 31
        Memory.putLong(hash + ibv_rx_hash_conf.rx_hash_fields_mask$offset(),
                Integer.toUnsignedLong(Flags.mask(scaling.fields(), RxHashField::bit)));
    }
}
