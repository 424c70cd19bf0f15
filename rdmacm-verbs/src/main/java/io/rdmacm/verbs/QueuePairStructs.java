// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_qp_attr;
import io.rdmacm.bindings.ibv_qp_cap;
import io.rdmacm.bindings.ibv_qp_init_attr_ex;
import io.rdmacm.bindings.ibv_qp_rate_limit_attr;
import io.rdmacm.bindings.ibv_rx_hash_conf;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.AlternatePath;
import io.rdmacm.verbs.device.RxHashField;
import io.rdmacm.verbs.internal.codec.AddressStructs;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.queue.PathMigrationState;
import io.rdmacm.verbs.queue.QueuePairAttribute;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairCapabilities;
import io.rdmacm.verbs.queue.QueuePairCreateFlag;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.RateLimit;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendOperation;

/** The attributes of queue pairs between Java and the C structs. */
final class QueuePairStructs {
    // enum ibv_mtu counts the powers of two from 256 on
    private static final int MTU_BASE = 128;

    private QueuePairStructs() {
    }

    /** A new {@code struct ibv_qp_init_attr_ex}, which begins as {@code struct ibv_qp_init_attr} does. */
    static long write(QueuePairInitAttributes attributes, Arena arena) {
        long init = arena.allocate(ibv_qp_init_attr_ex.layout()).address();
        if (attributes.sendQueue() != null) {
            Memory.putLong(init + ibv_qp_init_attr_ex.send_cq$offset(), attributes.sendQueue().address());
        }
        if (attributes.receiveQueue() != null) {
            Memory.putLong(init + ibv_qp_init_attr_ex.recv_cq$offset(), attributes.receiveQueue().address());
        }
        attributes.sharedReceiveQueue().ifPresent(
                queue -> Memory.putLong(init + ibv_qp_init_attr_ex.srq$offset(), queue.address()));
        Memory.putInt(init + ibv_qp_init_attr_ex.qp_type$offset(), attributes.type().value());
        Memory.putInt(init + ibv_qp_init_attr_ex.sq_sig_all$offset(), attributes.signalAll() ? 1 : 0);
        write(attributes.ownCapabilities(), init + ibv_qp_init_attr_ex.cap$offset());
        Memory.putInt(init + ibv_qp_init_attr_ex.comp_mask$offset(), writeExtended(attributes, init, arena));
        return init;
    }

    /** The mask of what was written. */
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

    /** Reads a {@code struct ibv_qp_cap}. */
    static QueuePairCapabilities readCapabilities(long cap) {
        return new QueuePairCapabilities(Memory.getSize(cap + ibv_qp_cap.max_send_wr$offset()),
                Memory.getSize(cap + ibv_qp_cap.max_recv_wr$offset()),
                Memory.getSize(cap + ibv_qp_cap.max_send_sge$offset()),
                Memory.getSize(cap + ibv_qp_cap.max_recv_sge$offset()),
                Memory.getSize(cap + ibv_qp_cap.max_inline_data$offset()));
    }

    private static void write(QueuePairCapabilities sizes, long cap) {
        Memory.putInt(cap + ibv_qp_cap.max_send_wr$offset(), sizes.maxSendRequests());
        Memory.putInt(cap + ibv_qp_cap.max_recv_wr$offset(), sizes.maxReceiveRequests());
        Memory.putInt(cap + ibv_qp_cap.max_send_sge$offset(), sizes.maxSendScatterGather());
        Memory.putInt(cap + ibv_qp_cap.max_recv_sge$offset(), sizes.maxReceiveScatterGather());
        Memory.putInt(cap + ibv_qp_cap.max_inline_data$offset(), sizes.maxInlineData());
    }

    /** The mask of what is present. */
    static int mask(QueuePairAttributes attributes) {
        return Flags.mask(attributes.present(), QueuePairAttribute::bit);
    }

    /** Writes what is present into a zeroed {@code struct ibv_qp_attr}. */
    static void write(QueuePairAttributes attributes, long struct) {
        for (QueuePairAttribute attribute : attributes.present()) {
            Object value = attributes.get(attribute);
            switch (value) {
                case QueuePairState state -> Memory.putInt(struct + offset(attribute), state.value());
                case PathMigrationState state -> Memory.putInt(struct + offset(attribute), state.value());
                case Set<?> flags -> Memory.putInt(struct + offset(attribute),
                        Flags.mask(attributes.accessFlags(), AccessFlag::bit));
                case Boolean on -> Memory.putByte(struct + offset(attribute), (byte) (on ? 1 : 0));
                case AddressAttributes path -> AddressStructs.write(path, struct + offset(attribute));
                case AlternatePath path -> writeAlternate(path, struct);
                case AckTimeout timeout -> Memory.putByte(struct + offset(attribute), (byte) timeout.code());
                case RnrTimer timer -> Memory.putByte(struct + offset(attribute), (byte) timer.code());
                case QueuePairCapabilities sizes -> write(sizes, struct + offset(attribute));
                default -> writeNumber(attribute, (Integer) value, struct);
            }
        }
    }

    private static void writeNumber(QueuePairAttribute attribute, int value, long struct) {
        long address = struct + offset(attribute);
        switch (attribute) {
            case PATH_MTU -> Memory.putInt(address, Integer.numberOfTrailingZeros(value / MTU_BASE));
            case PKEY_INDEX -> Memory.putShort(address, (short) value);
            case QKEY, RQ_PSN, SQ_PSN, DEST_QPN, RATE_LIMIT -> Memory.putInt(address, value);
            default -> Memory.putByte(address, (byte) value);
        }
    }

    private static void writeAlternate(AlternatePath path, long struct) {
        AddressStructs.write(path.path(), struct + ibv_qp_attr.alt_ah_attr$offset());
        Memory.putShort(struct + ibv_qp_attr.alt_pkey_index$offset(), (short) path.partitionKeyIndex());
        Memory.putByte(struct + ibv_qp_attr.alt_port_num$offset(), (byte) path.port());
        Memory.putByte(struct + ibv_qp_attr.alt_timeout$offset(), (byte) path.timeout().code());
    }

    /** A new {@code struct ibv_qp_rate_limit_attr}. */
    static long write(RateLimit limit, Arena arena) {
        long struct = arena.allocate(ibv_qp_rate_limit_attr.layout()).address();
        Memory.putInt(struct + ibv_qp_rate_limit_attr.rate_limit$offset(), limit.kilobitsPerSecond());
        Memory.putInt(struct + ibv_qp_rate_limit_attr.max_burst_sz$offset(), limit.maxBurstBytes());
        Memory.putShort(struct + ibv_qp_rate_limit_attr.typical_pkt_sz$offset(), (short) limit.typicalPacketBytes());
        return struct;
    }

    /** Reads a {@code struct ibv_qp_attr}. */
    static QueuePairAttributes read(long struct, Set<QueuePairAttribute> wanted) {
        Map<QueuePairAttribute, Object> values = new EnumMap<>(QueuePairAttribute.class);
        for (QueuePairAttribute attribute : wanted) {
            values.put(attribute, readOne(attribute, struct, struct + offset(attribute)));
        }
        return new QueuePairAttributes(values);
    }

    private static Object readOne(QueuePairAttribute attribute, long struct, long address) {
        return switch (attribute) {
            case STATE, CUR_STATE -> QueuePairState.of(Memory.getInt(address));
            case PATH_MIG_STATE -> PathMigrationState.of(Memory.getInt(address));
            case ACCESS_FLAGS -> readAccess(Memory.getInt(address));
            case EN_SQD_ASYNC_NOTIFY -> Memory.getByte(address) != 0;
            case AV -> AddressStructs.read(address);
            case ALT_PATH -> readAlternate(struct);
            case CAP -> readCapabilities(address);
            case PATH_MTU -> Memory.getInt(address) == 0 ? 0 : MTU_BASE << Memory.getInt(address);
            case PKEY_INDEX -> Short.toUnsignedInt(Memory.getShort(address));
            case QKEY, RQ_PSN, SQ_PSN, DEST_QPN, RATE_LIMIT -> Memory.getInt(address);
            case TIMEOUT -> new AckTimeout(Byte.toUnsignedInt(Memory.getByte(address)));
            case MIN_RNR_TIMER -> new RnrTimer(Byte.toUnsignedInt(Memory.getByte(address)));
            case PORT, RETRY_CNT, RNR_RETRY, MAX_QP_RD_ATOMIC, MAX_DEST_RD_ATOMIC ->
                    Byte.toUnsignedInt(Memory.getByte(address));
        };
    }

    private static AlternatePath readAlternate(long struct) {
        return new AlternatePath(AddressStructs.read(struct + ibv_qp_attr.alt_ah_attr$offset()),
                Short.toUnsignedInt(Memory.getShort(struct + ibv_qp_attr.alt_pkey_index$offset())),
                Byte.toUnsignedInt(Memory.getByte(struct + ibv_qp_attr.alt_port_num$offset())),
                new AckTimeout(Byte.toUnsignedInt(Memory.getByte(struct + ibv_qp_attr.alt_timeout$offset()))));
    }

    private static Set<AccessFlag> readAccess(int bits) {
        Set<AccessFlag> flags = EnumSet.noneOf(AccessFlag.class);
        for (AccessFlag flag : AccessFlag.values()) {
            if ((bits & flag.bit()) != 0) {
                flags.add(flag);
            }
        }
        return Collections.unmodifiableSet(flags);
    }

    private static long offset(QueuePairAttribute attribute) {
        return switch (attribute) {
            case STATE -> ibv_qp_attr.qp_state$offset();
            case CUR_STATE -> ibv_qp_attr.cur_qp_state$offset();
            case EN_SQD_ASYNC_NOTIFY -> ibv_qp_attr.en_sqd_async_notify$offset();
            case ACCESS_FLAGS -> ibv_qp_attr.qp_access_flags$offset();
            case PKEY_INDEX -> ibv_qp_attr.pkey_index$offset();
            case PORT -> ibv_qp_attr.port_num$offset();
            case QKEY -> ibv_qp_attr.qkey$offset();
            case AV -> ibv_qp_attr.ah_attr$offset();
            case PATH_MTU -> ibv_qp_attr.path_mtu$offset();
            case TIMEOUT -> ibv_qp_attr.timeout$offset();
            case RETRY_CNT -> ibv_qp_attr.retry_cnt$offset();
            case RNR_RETRY -> ibv_qp_attr.rnr_retry$offset();
            case RQ_PSN -> ibv_qp_attr.rq_psn$offset();
            case MAX_QP_RD_ATOMIC -> ibv_qp_attr.max_rd_atomic$offset();
            case ALT_PATH -> ibv_qp_attr.alt_ah_attr$offset();
            case MIN_RNR_TIMER -> ibv_qp_attr.min_rnr_timer$offset();
            case SQ_PSN -> ibv_qp_attr.sq_psn$offset();
            case MAX_DEST_RD_ATOMIC -> ibv_qp_attr.max_dest_rd_atomic$offset();
            case PATH_MIG_STATE -> ibv_qp_attr.path_mig_state$offset();
            case CAP -> ibv_qp_attr.cap$offset();
            case DEST_QPN -> ibv_qp_attr.dest_qp_num$offset();
            case RATE_LIMIT -> ibv_qp_attr.rate_limit$offset();
        };
    }
}
