// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.codec;

import java.lang.foreign.Arena;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

import io.rdmacm.bindings.ibv_qp_attr;
import io.rdmacm.bindings.ibv_qp_cap;
import io.rdmacm.bindings.ibv_qp_rate_limit_attr;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AlternatePath;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.Reported;
import io.rdmacm.verbs.queue.PathMigrationState;
import io.rdmacm.verbs.queue.QueuePairAttribute;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairCapabilities;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.RateLimit;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.work.AccessFlag;

/** Converts the attributes, capabilities and rate limits of queue pairs to and from C structs. */
public final class QueuePairStructs {
    // enum ibv_mtu: 1 is 256 bytes, and each further code doubles it
    private static final int MTU_BASE = 128;

    private QueuePairStructs() {
    }

    /**
     * Reads a {@code struct ibv_qp_cap}.
     *
     * @param cap the address of the struct
     * @return the capabilities
     */
    public static QueuePairCapabilities readCapabilities(long cap) {
        return new QueuePairCapabilities(Memory.getSize(cap + ibv_qp_cap.max_send_wr$offset()),
                Memory.getSize(cap + ibv_qp_cap.max_recv_wr$offset()),
                Memory.getSize(cap + ibv_qp_cap.max_send_sge$offset()),
                Memory.getSize(cap + ibv_qp_cap.max_recv_sge$offset()),
                Memory.getSize(cap + ibv_qp_cap.max_inline_data$offset()));
    }

    /**
     * Writes a {@code struct ibv_qp_cap}.
     *
     * @param sizes the capabilities
     * @param cap the address of the struct
     */
    public static void write(QueuePairCapabilities sizes, long cap) {
        Memory.putInt(cap + ibv_qp_cap.max_send_wr$offset(), sizes.maxSendRequests());
        Memory.putInt(cap + ibv_qp_cap.max_recv_wr$offset(), sizes.maxReceiveRequests());
        Memory.putInt(cap + ibv_qp_cap.max_send_sge$offset(), sizes.maxSendScatterGather());
        Memory.putInt(cap + ibv_qp_cap.max_recv_sge$offset(), sizes.maxReceiveScatterGather());
        Memory.putInt(cap + ibv_qp_cap.max_inline_data$offset(), sizes.maxInlineData());
    }

    /**
     * Returns the mask for {@code ibv_modify_qp}.
     *
     * @param attributes the attributes to modify
     * @return the bits of the attributes that are set
     */
    public static int mask(QueuePairAttributes attributes) {
        return Flags.mask(attributes.present(), QueuePairAttribute::bit);
    }

    /**
     * Writes the attributes that are set into a zeroed {@code struct ibv_qp_attr}.
     *
     * @param attributes the attributes
     * @param struct the address of the struct
     */
    public static void write(QueuePairAttributes attributes, long struct) {
        for (QueuePairAttribute attribute : attributes.present()) {
            write(attribute, attributes, struct, struct + offset(attribute));
        }
    }

    private static void write(QueuePairAttribute attribute, QueuePairAttributes attributes, long struct,
            long address) {
        switch (attribute) {
            case STATE -> Memory.putInt(address, attributes.state().value());
            case CUR_STATE -> Memory.putInt(address, attributes.currentState().value());
            case EN_SQD_ASYNC_NOTIFY -> Memory.putByte(address, (byte) (attributes.notifyWhenDrained() ? 1 : 0));
            case ACCESS_FLAGS -> Memory.putInt(address, Flags.mask(attributes.accessFlags(), AccessFlag::bit));
            case PKEY_INDEX -> Memory.putShort(address, (short) attributes.partitionKeyIndex());
            case PORT -> Memory.putByte(address, (byte) attributes.port());
            case QKEY -> Memory.putInt(address, attributes.queueKey());
            case AV -> AddressStructs.write(attributes.path(), address);
            case PATH_MTU -> Memory.putInt(address, Integer.numberOfTrailingZeros(attributes.pathMtu() / MTU_BASE));
            case TIMEOUT -> Memory.putByte(address, (byte) attributes.timeout().code());
            case RETRY_CNT -> Memory.putByte(address, (byte) attributes.retryCount());
            case RNR_RETRY -> Memory.putByte(address, (byte) attributes.rnrRetry());
            case RQ_PSN -> Memory.putInt(address, attributes.receivePacketNumber());
            case MAX_QP_RD_ATOMIC -> Memory.putByte(address, (byte) attributes.maxReadAtomic());
            case ALT_PATH -> writeAlternate(attributes.alternatePath(), struct);
            case MIN_RNR_TIMER -> Memory.putByte(address, (byte) attributes.minRnrTimer().code());
            case SQ_PSN -> Memory.putInt(address, attributes.sendPacketNumber());
            case MAX_DEST_RD_ATOMIC -> Memory.putByte(address, (byte) attributes.maxDestinationReadAtomic());
            case PATH_MIG_STATE -> Memory.putInt(address, attributes.pathMigrationState().value());
            case CAP -> write(attributes.capabilities(), address);
            case DEST_QPN -> Memory.putInt(address, attributes.destinationQueuePair());
            case RATE_LIMIT -> Memory.putInt(address, attributes.rateLimit());
        }
    }

    private static void writeAlternate(AlternatePath path, long struct) {
        AddressStructs.write(path.path(), struct + ibv_qp_attr.alt_ah_attr$offset());
        Memory.putShort(struct + ibv_qp_attr.alt_pkey_index$offset(), (short) path.partitionKeyIndex());
        Memory.putByte(struct + ibv_qp_attr.alt_port_num$offset(), (byte) path.port());
        Memory.putByte(struct + ibv_qp_attr.alt_timeout$offset(), (byte) path.timeout().code());
    }

    /**
     * Allocates and writes a {@code struct ibv_qp_rate_limit_attr}.
     *
     * @param limit the rate limit
     * @param arena allocates the struct
     * @return the address of the struct
     */
    public static long write(RateLimit limit, Arena arena) {
        long struct = arena.allocate(ibv_qp_rate_limit_attr.layout()).address();
        Memory.putInt(struct + ibv_qp_rate_limit_attr.rate_limit$offset(), limit.kilobitsPerSecond());
        Memory.putInt(struct + ibv_qp_rate_limit_attr.max_burst_sz$offset(), limit.maxBurstBytes());
        Memory.putShort(struct + ibv_qp_rate_limit_attr.typical_pkt_sz$offset(), (short) limit.typicalPacketBytes());
        return struct;
    }

    /**
     * Reads a {@code struct ibv_qp_attr}.
     *
     * @param struct the address of the struct
     * @param wanted the attributes to read; the others are left unset
     * @return the attributes
     */
    public static QueuePairAttributes read(long struct, Set<QueuePairAttribute> wanted) {
        Map<QueuePairAttribute, Object> values = new EnumMap<>(QueuePairAttribute.class);
        for (QueuePairAttribute attribute : wanted) {
            values.put(attribute, readOne(attribute, struct, struct + offset(attribute)));
        }
        return QueuePairAttributes.of(new Reported<>(values));
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
