// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import java.lang.foreign.Arena;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.efa.Efa;
import io.rdmacm.bindings.efa.efadv_qp_init_attr;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.Addressing;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.queue.QueuePairType;

/**
 * Creates SRD queue pairs, the transport of EFA: Scalable Reliable Datagrams (efadv_create_qp_ex(3),
 * efadv_create_driver_qp(3)). A message is delivered exactly once or reported as failed, but messages may arrive in
 * another order than they were sent. One queue pair talks to any number of others: each request names its destination
 * with {@link io.rdmacm.verbs.SendBatch#datagram} or {@link io.rdmacm.verbs.SendRequest#datagram}. There is no
 * connection manager for EFA: peers exchange GID, queue pair number and Q_Key by other means, such as TCP.
 *
 * <p>The result is a {@link QueuePair} like any other, in the state RESET; {@link EfaTransitions} has the way to RTS.
 * Every send work request must be signaled, as in C. Sends without a batch carry messages only; RDMA reads and writes
 * need a {@link io.rdmacm.verbs.SendBatch}, and one scatter/gather entry. An RDMA write with inline data needs
 * {@link EfaQueuePairFlag#INLINE_WRITE}.
 *
 * <p>Not run on a card: tested with the driver of rdma-core over a stand-in for the kernel and the card.
 */
public final class EfaQueuePair {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction CREATE_EX = NativeFunction.of("efadv_create_qp_ex");
    private static final NativeFunction CREATE_DRIVER = NativeFunction.of("efadv_create_driver_qp");

    private EfaQueuePair() {
    }

    /**
     * Creates an SRD queue pair without further options ({@code efadv_create_driver_qp}, or {@code efadv_create_qp_ex}
     * if it has send operations), see {@link #create(ProtectionDomain, QueuePairInitAttributes,
     * EfaQueuePairAttributes)}.
     *
     * @param domain a protection domain of an EFA device
     * @param attributes the attributes, of type {@link QueuePairType#DRIVER}
     * @return the new queue pair, in the state RESET
     * @throws IllegalArgumentException if the type is not DRIVER, or receives have no scatter/gather entry
     * @throws NativeLibraryException if libefa is not installed
     * @throws RdmaUnsupportedException if it is not an EFA device, or it has no RDMA reads or writes that were asked
     *         for
     * @throws RdmaException EINVAL if the device does not allow the sizes, or there is a shared receive queue; ENOMEM
     */
    @CFunction({"efadv_create_driver_qp", "efadv_create_qp_ex"})
    public static QueuePair create(ProtectionDomain domain, QueuePairInitAttributes attributes)
            throws RdmaException {
        return create(domain, attributes, EfaQueuePairAttributes.defaults());
    }

    /**
     * Creates an SRD queue pair ({@code efadv_create_qp_ex}).
     *
     * @param domain a protection domain of an EFA device
     * @param attributes the attributes, of type {@link QueuePairType#DRIVER}; the send operations may be SEND,
     *        SEND_WITH_IMM, RDMA_READ, RDMA_WRITE and RDMA_WRITE_WITH_IMM
     * @param srd what only SRD queue pairs have
     * @return the new queue pair, in the state RESET
     * @throws IllegalArgumentException if the type is not DRIVER, or receives have no scatter/gather entry
     * @throws NativeLibraryException if libefa is not installed
     * @throws RdmaUnsupportedException if it is not an EFA device, or it lacks an operation or option that was asked
     *         for
     * @throws RdmaException EINVAL if the device does not allow the sizes, there is a shared receive queue, or the
     *         installed library does not know an option; ENOMEM
     */
    @CFunction("efadv_create_qp_ex")
    public static QueuePair create(ProtectionDomain domain, QueuePairInitAttributes attributes,
            EfaQueuePairAttributes srd) throws RdmaException {
        if (attributes.type() != QueuePairType.DRIVER) {
            throw new IllegalArgumentException("an SRD queue pair is of type DRIVER, not " + attributes.type());
        }
        if (attributes.capabilities().maxReceiveScatterGather() < 1) {
            // C divides by it
            throw new IllegalArgumentException("an SRD queue pair needs at least one scatter/gather entry for"
                    + " receives");
        }
        boolean plain = !attributes.isExtended() && srd.equals(EfaQueuePairAttributes.defaults());
        return VERBS.createQueuePair(domain, attributes, Addressing.DATAGRAM,
                (init, arena) -> plain
                        ? createPlain(domain, init, attributes)
                        : createExtended(domain, init, attributes, srd, arena));
    }

    private static long createPlain(ProtectionDomain domain, long init, QueuePairInitAttributes attributes)
            throws RdmaException {
        return Check.pointer(CREATE_DRIVER, describe(attributes),
                CREATE_DRIVER.callLong(VERBS.addressOf(domain), init, Efa.EFADV_QP_DRIVER_TYPE_SRD()));
    }

    private static long createExtended(ProtectionDomain domain, long init, QueuePairInitAttributes attributes,
            EfaQueuePairAttributes srd, Arena arena) throws RdmaException {
        long struct = arena.allocate(efadv_qp_init_attr.layout()).address();
        Memory.putInt(struct + efadv_qp_init_attr.driver_qp_type$offset(), Efa.EFADV_QP_DRIVER_TYPE_SRD());
        Memory.putShort(struct + efadv_qp_init_attr.flags$offset(),
                (short) Flags.mask(srd.flags(), EfaQueuePairFlag::bit));
        Memory.putByte(struct + efadv_qp_init_attr.sl$offset(), (byte) srd.serviceLevel());
        return Check.pointer(CREATE_EX, describe(attributes) + ", " + srd,
                CREATE_EX.callLong(VERBS.addressOf(domain.context()), init, struct, efadv_qp_init_attr.sizeof()));
    }

    private static String describe(QueuePairInitAttributes attributes) {
        return "SRD, " + attributes.capabilities();
    }
}
