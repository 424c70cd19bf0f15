// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.Arena;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.ibv_qp;
import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.Addressing;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Parts;

/**
 * A queue pair with what only mlx5 has ({@code mlx5dv_create_qp}, mlx5dv_create_qp(3)): an initiator or a target of
 * dynamic connections (DC), or one of an ordinary type that registers memory from its queue or posts raw entries. What
 * any queue pair has is done with {@link #queuePair()}.
 *
 * <pre>{@code
 * Mlx5QueuePair dci = Mlx5QueuePair.create(domain, Mlx5QueuePairAttributes.initiator(attributes));
 * dci.queuePair().modify(DcTransitions.Initiator.resetToInit(1, 0)); // and so on to RTS
 * try (Mlx5Batch batch = dci.startBatch()) {
 *     batch.requests().id(1).send().data(region, 0, 64);
 *     batch.target(addressHandle, dctNumber, dctAccessKey);
 *     batch.complete();
 * }
 * }</pre>
 *
 * <p>All methods may be called by any thread. Closing this closes the queue pair, and the other way round.
 */
public final class Mlx5QueuePair implements AutoCloseable {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction CREATE_QP = NativeFunction.of("mlx5dv_create_qp");
    private static final NativeFunction QP_TO_QP_EX = NativeFunction.of("ibv_qp_to_qp_ex");
    private static final NativeFunction QP_EX_FROM_IBV_QP_EX = NativeFunction.of("mlx5dv_qp_ex_from_ibv_qp_ex");
    private static final NativeFunction MODIFY_UDP_SPORT = NativeFunction.of("mlx5dv_modify_qp_udp_sport");
    private static final NativeFunction QUERY_LAG_PORT = NativeFunction.of("mlx5dv_query_qp_lag_port");
    private static final NativeFunction MODIFY_LAG_PORT = NativeFunction.of("mlx5dv_modify_qp_lag_port");
    private static final NativeFunction STREAM_ID_RESET = NativeFunction.of("mlx5dv_dci_stream_id_reset");
    private static final NativeFunction MAP_AH_TO_QP = NativeFunction.of("mlx5dv_map_ah_to_qp");
    private static final NativeFunction CANCEL_SENDS = NativeFunction.of("mlx5dv_qp_cancel_posted_send_wrs");

    private final QueuePair queuePair;
    private final Mlx5QueuePairAttributes attributes;
    // struct mlx5dv_qp_ex; 0 if no batch can be posted
    private final long extended;
    private final int maxRawBytes;
    private final Mlx5Batch batch;

    private Mlx5QueuePair(QueuePair queuePair, Mlx5QueuePairAttributes attributes, long extended, int maxRawBytes) {
        this.queuePair = queuePair;
        this.attributes = attributes;
        this.extended = extended;
        this.maxRawBytes = maxRawBytes;
        this.batch = new Mlx5Batch(this);
    }

    /**
     * Creates a queue pair, in the state RESET ({@code mlx5dv_create_qp}).
     *
     * @param domain the protection domain that it will belong to
     * @param attributes the attributes
     * @return the new queue pair
     * @throws NativeLibraryException if libmlx5 is not installed
     * @throws RdmaUnsupportedException if the device is not one of mlx5, or lacks an operation
     * @throws RdmaException EINVAL if the device does not support a value; ENOMEM
     */
    @CFunction({"mlx5dv_create_qp", "mlx5dv_qp_ex_from_ibv_qp_ex"})
    public static Mlx5QueuePair create(ProtectionDomain domain, Mlx5QueuePairAttributes attributes)
            throws RdmaException {
        QueuePairInitAttributes verbs = attributes.verbs();
        try (Parts parts = new Parts()) {
            QueuePair pair = VERBS.createQueuePair(domain, verbs, addressing(attributes),
                    (init, arena) -> Check.pointer(CREATE_QP, attributes.toString(), CREATE_QP.callLong(
                            VERBS.addressOf(domain.context()), init, attributes.write(arena))));
            parts.add(pair, QueuePair::close, VERBS.lifeOf(pair));
            return parts.complete(verbs.sendOperations().isEmpty()
                    ? new Mlx5QueuePair(pair, attributes, 0, 0)
                    : withBatch(pair, attributes));
        }
    }

    private static Addressing addressing(Mlx5QueuePairAttributes attributes) {
        if (attributes.isInitiator()) {
            return Addressing.TARGET;
        }
        return switch (attributes.verbs().type()) {
            case UD -> Addressing.DATAGRAM;
            case XRC_SEND -> Addressing.SHARED_QUEUE;
            default -> Addressing.CONNECTED;
        };
    }

    private static Mlx5QueuePair withBatch(QueuePair made, Mlx5QueuePairAttributes attributes) throws RdmaException {
        long verbs = Check.pointer(QP_TO_QP_EX, QP_TO_QP_EX.callLong(VERBS.addressOf(made)));
        long extended = Check.pointer(QP_EX_FROM_IBV_QP_EX, QP_EX_FROM_IBV_QP_EX.callLong(verbs));
        int requests = Math.max(1, made.capabilities().maxSendRequests());
        int blocks = RawQueues.sendBlocks(made) / requests;
        return new Mlx5QueuePair(made, attributes, extended, blocks * RawEntry.BLOCK);
    }

    /** {@return the queue pair, for everything that is not of mlx5} */
    public QueuePair queuePair() {
        return queuePair;
    }

    /**
     * Returns the number by which peers address this queue pair ({@code ibv_qp.qp_num}). That of a target is known once
     * it is in the state RTR.
     *
     * @return the number, 24 bits; 0 for a target that is not in RTR yet
     * @throws IllegalStateException if the queue pair is closed
     */
    public int number() {
        VERBS.lifeOf(queuePair).enter();
        try {
            return Memory.getInt(VERBS.addressOf(queuePair) + ibv_qp.qp_num$offset());
        } finally {
            VERBS.lifeOf(queuePair).leave();
        }
    }

    /** {@return the size of the largest raw entry that the queue takes in place of a request, in bytes} */
    public int maxRawBytes() {
        return maxRawBytes;
    }

    /**
     * Starts a batch of send work requests, which may contain operations of mlx5 ({@code ibv_wr_start},
     * mlx5dv_wr_post(3)).
     *
     * @return the batch, to be completed and then closed; each call returns the same object
     * @throws IllegalStateException if the queue pair was created without send operations, is closed, or its batch is
     *         open
     * @throws RdmaException if the driver does not support batches
     */
    public Mlx5Batch startBatch() throws RdmaException {
        return batch.of(queuePair.startBatch());
    }

    /**
     * Sets the UDP source port of what is sent, which chooses the way through the network
     * ({@code mlx5dv_modify_qp_udp_sport}, mlx5dv_modify_qp_udp_sport(3)). In the state RTS, on RoCE version 2.
     *
     * @param port the port, 16 bits
     * @throws IllegalArgumentException if the port does not fit into 16 bits
     * @throws RdmaUnsupportedException if the device cannot change it
     * @throws RdmaException EINVAL in another state
     */
    @CFunction("mlx5dv_modify_qp_udp_sport")
    public void setUdpSourcePort(int port) throws RdmaException {
        Arguments.requireBits("UDP source port", port, Short.SIZE);
        inside(MODIFY_UDP_SPORT, port);
    }

    /**
     * Queries which port of a bond this queue pair sends from ({@code mlx5dv_query_qp_lag_port},
     * mlx5dv_query_qp_lag_port(3)).
     *
     * @return the ports
     * @throws RdmaUnsupportedException if the ports are not bonded
     * @throws RdmaException if the device fails
     */
    @CFunction("mlx5dv_query_qp_lag_port")
    public LagPort queryLagPort() throws RdmaException {
        VERBS.lifeOf(queuePair).enter();
        try (Arena arena = Arena.ofConfined()) {
            long ports = arena.allocate(Short.BYTES).address();
            Check.returned(QUERY_LAG_PORT, QUERY_LAG_PORT.callInt(VERBS.addressOf(queuePair), ports, ports + 1));
            return new LagPort(Byte.toUnsignedInt(Memory.getByte(ports)),
                    Byte.toUnsignedInt(Memory.getByte(ports + 1)));
        } finally {
            VERBS.lifeOf(queuePair).leave();
        }
    }

    /**
     * A port of a bond.
     *
     * @param configured the port that was set; 0 if the device chose it
     * @param active the port that is used
     */
    public record LagPort(int configured, int active) {
    }

    /**
     * Sets which port of a bond this queue pair sends from ({@code mlx5dv_modify_qp_lag_port},
     * mlx5dv_modify_qp_lag_port(3)).
     *
     * @param port the number of the port, from 1
     * @throws IllegalArgumentException if there can be no such port
     * @throws RdmaUnsupportedException if the ports are not bonded
     * @throws RdmaException EINVAL if there is no such port
     */
    @CFunction("mlx5dv_modify_qp_lag_port")
    public void setLagPort(int port) throws RdmaException {
        Arguments.requirePort(port);
        inside(MODIFY_LAG_PORT, port);
    }

    /**
     * Makes a stream usable that has failed ({@code mlx5dv_dci_stream_id_reset}, mlx5dv_dci_stream_id_reset(3)).
     *
     * @param stream the number of the stream, from 1
     * @throws IllegalArgumentException if the queue pair was created without streams, or with fewer
     * @throws RdmaException if the device refuses
     */
    @CFunction("mlx5dv_dci_stream_id_reset")
    public void resetStream(int stream) throws RdmaException {
        requireStream(stream);
        inside(STREAM_ID_RESET, stream);
    }

    /**
     * Lets packets to an address be matched with this queue pair by flow steering ({@code mlx5dv_map_ah_to_qp},
     * mlx5dv_map_ah_to_qp(3)).
     *
     * @param handle the address
     * @throws RdmaUnsupportedException if the device or the driver cannot
     * @throws RdmaException EINVAL if the address is not one of RoCE
     */
    @CFunction("mlx5dv_map_ah_to_qp")
    public void map(AddressHandle handle) throws RdmaException {
        int number = number();
        VERBS.lifeOf(handle).enter();
        try {
            Check.returned(MAP_AH_TO_QP, MAP_AH_TO_QP.callInt(VERBS.addressOf(handle), number));
        } finally {
            VERBS.lifeOf(handle).leave();
        }
    }

    /**
     * Cancels send work requests that have not been executed ({@code mlx5dv_qp_cancel_posted_send_wrs},
     * mlx5dv_qp_cancel_posted_send_wrs(3)). Only for a queue pair that was created with
     * {@link Mlx5QueuePairFlag#SIG_PIPELINING}, in the state SQD.
     *
     * @param id the id of the requests to cancel
     * @return how many were cancelled
     * @throws IllegalStateException if the queue pair was created without send operations, or its batch is open
     * @throws RdmaException EINVAL in another state, or without the flag
     */
    @CFunction("mlx5dv_qp_cancel_posted_send_wrs")
    public int cancelPostedSends(long id) throws RdmaException {
        if (extended == 0) {
            throw new IllegalStateException("the queue pair was created without send operations");
        }
        return (int) VERBS.betweenBatches(queuePair, pair -> {
            int result = CANCEL_SENDS.callInt(extended, id);
            if (result < 0) {
                Check.returned(CANCEL_SENDS, result);
            }
            return result;
        });
    }

    private void inside(NativeFunction function, int value) throws RdmaException {
        VERBS.lifeOf(queuePair).enter();
        try {
            Check.returned(function, function.callInt(VERBS.addressOf(queuePair), value));
        } finally {
            VERBS.lifeOf(queuePair).leave();
        }
    }

    void requireStream(int stream) {
        if (!attributes.hasStreams() || stream < 1 || stream > attributes.streamCount()) {
            throw new IllegalArgumentException("there is no stream " + stream + " of "
                    + (attributes.hasStreams() ? attributes.streamCount() : 0));
        }
    }

    Mlx5QueuePairAttributes attributes() {
        return attributes;
    }

    /** Returns the address of the {@code struct mlx5dv_qp_ex}; 0 if no batch can be posted. */
    long extended() {
        return extended;
    }

    /**
     * Destroys the queue pair ({@code ibv_destroy_qp}), see {@link QueuePair#close()}.
     *
     * @throws RdmaException if the device fails to
     */
    @Override
    public void close() throws RdmaException {
        queuePair.close();
    }

    @Override
    public String toString() {
        return queuePair.toString();
    }
}
