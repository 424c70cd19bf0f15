// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.Arena;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import io.rdmacm.bindings.mlx5.Mlx5;
import io.rdmacm.bindings.mlx5.mlx5dv_dc_init_attr;
import io.rdmacm.bindings.mlx5.mlx5dv_dci_streams;
import io.rdmacm.bindings.mlx5.mlx5dv_qp_init_attr;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.queue.QueuePairType;

/**
 * The attributes with which an mlx5 queue pair is created ({@code struct mlx5dv_qp_init_attr}, mlx5dv_create_qp(3)).
 * Immutable.
 */
public final class Mlx5QueuePairAttributes {
    private final QueuePairInitAttributes verbs;
    private final DcRole role;
    private final long accessKey;
    private final int logStreams;
    private final int logErroredStreams;
    private final Set<Mlx5SendOperation> operations;
    private final Set<Mlx5QueuePairFlag> flags;

    private Mlx5QueuePairAttributes(QueuePairInitAttributes verbs, DcRole role, long accessKey, int logStreams,
            int logErroredStreams, Set<Mlx5SendOperation> operations, Set<Mlx5QueuePairFlag> flags) {
        this.verbs = verbs;
        this.role = role;
        this.accessKey = accessKey;
        this.logStreams = logStreams;
        this.logErroredStreams = logErroredStreams;
        this.operations = operations;
        this.flags = flags;
    }

    /** What a queue pair is in dynamic connections. */
    enum DcRole { NONE, INITIATOR, TARGET }

    /**
     * Returns the attributes of a queue pair of an ordinary type, to which operations or flags are then added.
     *
     * @param verbs the attributes of any queue pair; not of type DRIVER
     * @return the attributes
     * @throws IllegalArgumentException if the type is DRIVER or XRC_RECV
     */
    public static Mlx5QueuePairAttributes of(QueuePairInitAttributes verbs) {
        if (verbs.type() == QueuePairType.DRIVER || verbs.type() == QueuePairType.XRC_RECV) {
            throw new IllegalArgumentException("not for a queue pair of type " + verbs.type());
        }
        return create(verbs, DcRole.NONE, 0);
    }

    /**
     * Returns the attributes of an initiator of dynamic connections (DCI), which sends to any target.
     *
     * @param verbs the attributes of any queue pair, of type DRIVER, with the send operations that it will use
     * @return the attributes
     * @throws IllegalArgumentException if the type is another one, or there are no send operations
     */
    public static Mlx5QueuePairAttributes initiator(QueuePairInitAttributes verbs) {
        requireDriver(verbs);
        if (verbs.sendOperations().isEmpty()) {
            throw new IllegalArgumentException("an initiator needs send operations: it posts batches only");
        }
        return create(verbs, DcRole.INITIATOR, 0);
    }

    /**
     * Returns the attributes of a target of dynamic connections (DCT), which receives from any initiator that knows
     * its key.
     *
     * @param verbs the attributes of any queue pair, of type DRIVER, with a shared receive queue and without send
     *        operations
     * @param accessKey the key, an arbitrary number
     * @return the attributes
     * @throws IllegalArgumentException if the type is another one, there is no shared receive queue, or there are send
     *         operations
     */
    public static Mlx5QueuePairAttributes target(QueuePairInitAttributes verbs, long accessKey) {
        requireDriver(verbs);
        if (verbs.sharedReceiveQueue().isEmpty() || verbs.isExtended()) {
            throw new IllegalArgumentException("a target needs a shared receive queue, and sends nothing: neither send"
                    + " operations nor creation flags");
        }
        return create(verbs, DcRole.TARGET, accessKey);
    }

    private static Mlx5QueuePairAttributes create(QueuePairInitAttributes verbs, DcRole role, long accessKey) {
        return new Mlx5QueuePairAttributes(verbs, role, accessKey, 0, 0, Set.of(), Set.of());
    }

    private static void requireDriver(QueuePairInitAttributes verbs) {
        if (verbs.type() != QueuePairType.DRIVER) {
            throw new IllegalArgumentException("a queue pair of dynamic connections is of type DRIVER, not "
                    + verbs.type());
        }
    }

    /**
     * Lets an initiator have streams, which fail independently of each other
     * ({@code MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS}).
     *
     * @param logConcurrent the base-2 logarithm of how many run concurrently, up to
     *        {@link Mlx5DeviceAttributes#maxLogStreams()}
     * @param logErrored the base-2 logarithm of how many may fail before the initiator does, up to
     *        {@link Mlx5DeviceAttributes#maxLogErroredStreams()}
     * @return a copy of these attributes
     * @throws IllegalArgumentException if this is not an initiator, or a number does not fit into a byte
     */
    public Mlx5QueuePairAttributes streams(int logConcurrent, int logErrored) {
        if (role != DcRole.INITIATOR) {
            throw new IllegalArgumentException("only initiators have streams");
        }
        Arguments.requireBits("logarithm of the concurrent streams", logConcurrent, Byte.SIZE);
        Arguments.requireBits("logarithm of the errored streams", logErrored, Byte.SIZE);
        if (logConcurrent == 0) {
            throw new IllegalArgumentException("streams are at least two: their logarithm cannot be 0");
        }
        return new Mlx5QueuePairAttributes(verbs, role, accessKey, logConcurrent, logErrored, operations, flags);
    }

    /**
     * Sets the operations of mlx5 that a batch of the queue pair may contain ({@code send_ops_flags}).
     *
     * @param values the operations, which replace all others
     * @return a copy of these attributes
     * @throws IllegalArgumentException if the type of the queue pair does not have one of them, it has no send
     *         operations of verbs, or room for no request
     */
    public Mlx5QueuePairAttributes operations(Mlx5SendOperation... values) {
        Set<Mlx5SendOperation> wanted = EnumSet.noneOf(Mlx5SendOperation.class);
        wanted.addAll(List.of(values));
        Set<Mlx5SendOperation> possible = switch (verbs.type()) {
            case RC -> EnumSet.allOf(Mlx5SendOperation.class);
            case DRIVER -> role == DcRole.INITIATOR
                    ? EnumSet.of(Mlx5SendOperation.RAW_WQE, Mlx5SendOperation.MEMCPY)
                    : EnumSet.noneOf(Mlx5SendOperation.class);
            default -> EnumSet.of(Mlx5SendOperation.RAW_WQE);
        };
        if (!possible.containsAll(wanted)) {
            throw new IllegalArgumentException("this queue pair of type " + verbs.type() + " can have " + possible
                    + ", not " + wanted);
        }
        if (verbs.sendOperations().isEmpty() || verbs.capabilities().maxSendRequests() < 1) {
            throw new IllegalArgumentException("a queue pair with operations of mlx5 needs send operations of verbs and"
                    + " room for a send request");
        }
        return new Mlx5QueuePairAttributes(verbs, role, accessKey, logStreams, logErroredStreams,
                Collections.unmodifiableSet(wanted), flags);
    }

    /**
     * Sets the creation flags ({@code create_flags}).
     *
     * @param values the flags, which replace all others
     * @return a copy of these attributes
     */
    public Mlx5QueuePairAttributes flags(Mlx5QueuePairFlag... values) {
        return new Mlx5QueuePairAttributes(verbs, role, accessKey, logStreams, logErroredStreams, operations,
                Set.copyOf(List.of(values)));
    }

    /** {@return the attributes that any queue pair has} */
    public QueuePairInitAttributes verbs() {
        return verbs;
    }

    /** {@return the operations of mlx5 that a batch may contain} */
    public Set<Mlx5SendOperation> operations() {
        return operations;
    }

    /** {@return whether this is an initiator of dynamic connections} */
    public boolean isInitiator() {
        return role == DcRole.INITIATOR;
    }

    /** {@return whether this is a target of dynamic connections} */
    public boolean isTarget() {
        return role == DcRole.TARGET;
    }

    boolean hasStreams() {
        return logStreams > 0;
    }

    /** Returns how many streams there are. */
    int streamCount() {
        return 1 << Math.min(logStreams, Short.SIZE);
    }

    /** Allocates and writes a {@code struct mlx5dv_qp_init_attr}. */
    long write(Arena arena) {
        long struct = arena.allocate(mlx5dv_qp_init_attr.layout()).address();
        long mask = 0;
        if (!flags.isEmpty()) {
            mask |= Mlx5.MLX5DV_QP_INIT_ATTR_MASK_QP_CREATE_FLAGS();
            Memory.putInt(struct + mlx5dv_qp_init_attr.create_flags$offset(),
                    Flags.mask(flags, Mlx5QueuePairFlag::bit));
        }
        if (!operations.isEmpty()) {
            mask |= Mlx5.MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS();
            Memory.putLong(struct + mlx5dv_qp_init_attr.send_ops_flags$offset(),
                    Flags.mask(operations, Mlx5SendOperation::bit));
        }
        if (role != DcRole.NONE) {
            mask |= Mlx5.MLX5DV_QP_INIT_ATTR_MASK_DC();
            long dc = struct + mlx5dv_qp_init_attr.dc_init_attr$offset();
            Memory.putInt(dc + mlx5dv_dc_init_attr.dc_type$offset(),
                    role == DcRole.TARGET ? Mlx5.MLX5DV_DCTYPE_DCT() : Mlx5.MLX5DV_DCTYPE_DCI());
            if (role == DcRole.TARGET) {
                Memory.putLong(dc + mlx5dv_dc_init_attr.dct_access_key$offset(), accessKey);
            } else if (hasStreams()) {
                mask |= Mlx5.MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS();
                long streams = dc + mlx5dv_dc_init_attr.dci_streams$offset();
                Memory.putByte(streams + mlx5dv_dci_streams.log_num_concurent$offset(), (byte) logStreams);
                Memory.putByte(streams + mlx5dv_dci_streams.log_num_errored$offset(), (byte) logErroredStreams);
            }
        }
        Memory.putLong(struct + mlx5dv_qp_init_attr.comp_mask$offset(), mask);
        return struct;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Mlx5QueuePairAttributes that && verbs.equals(that.verbs) && role == that.role
                && accessKey == that.accessKey && logStreams == that.logStreams
                && logErroredStreams == that.logErroredStreams && operations.equals(that.operations)
                && flags.equals(that.flags);
    }

    @Override
    public int hashCode() {
        return Objects.hash(verbs, role, accessKey, logStreams, logErroredStreams, operations, flags);
    }

    /** {@return the role, operations and flags, without the key} */
    @Override
    public String toString() {
        return verbs.type() + (role == DcRole.NONE ? "" : " " + role) + ", " + operations + ", " + flags + ", "
                + verbs.capabilities();
    }
}
