// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_qp_init_attr_ex;
import io.rdmacm.bindings.ibv_qp_open_attr;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.access.Addressing;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.codec.QueuePairStructs;
import io.rdmacm.verbs.internal.driver.ExtendedOps;
import io.rdmacm.verbs.internal.driver.QueuePairExOps;
import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.InstalledRelease;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.queue.QueuePairCapabilities;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.work.SendOperation;
import org.jspecify.annotations.Nullable;

/** Creates and opens queue pairs. */
final class QueuePairFactory {
    private static final NativeFunction CREATE_QP = NativeFunction.of("ibv_create_qp");
    private static final NativeFunction QP_TO_QP_EX = NativeFunction.of("ibv_qp_to_qp_ex");
    private static final NativeFunction DESTROY_QP = NativeFunction.of("ibv_destroy_qp");

    private QueuePairFactory() {
    }

    /** Creates a queue pair in a protection domain. */
    static QueuePair create(ProtectionDomain domain, QueuePairInitAttributes attributes) throws RdmaException {
        requireXrcReceive(attributes, false);
        return create(QueuePair.class, domain, attributes, addressing(attributes.type()),
                (init, arena) -> createNative(domain, attributes, init), DESTROY_QP::free, QueuePair::new);
    }

    /** Creates a queue pair by a function of a driver, see {@link QueuePair}. */
    static <T extends QueuePair> T create(Class<T> type, ProtectionDomain domain, QueuePairInitAttributes attributes,
            Addressing addressing, VerbsAccess.Creator creator,
            VerbsAccess.Constructor<QueuePair.Created, T> constructor) throws RdmaException {
        requireXrcReceive(attributes, false);
        return create(type, domain, attributes, addressing, creator, DESTROY_QP::free, constructor);
    }

    private static Addressing addressing(QueuePairType type) {
        return switch (type) {
            case UD -> Addressing.DATAGRAM;
            case XRC_SEND -> Addressing.SHARED_QUEUE;
            default -> Addressing.CONNECTED;
        };
    }

    /** Creates a queue pair by other functions than those of libibverbs, see {@link VerbsAccess}. */
    static QueuePair create(ProtectionDomain domain, QueuePairInitAttributes attributes,
            VerbsAccess.Creator creator, Lifetime.Freer freer, Lifetime owner) throws RdmaException {
        return create(QueuePair.class, domain, attributes, addressing(attributes.type()), creator, freer,
                QueuePair::new, owner);
    }

    private static <T extends QueuePair> T create(Class<T> type, ProtectionDomain domain,
            QueuePairInitAttributes attributes, Addressing addressing, VerbsAccess.Creator creator,
            Lifetime.Freer freer, VerbsAccess.Constructor<QueuePair.Created, T> constructor, Lifetime... owners)
            throws RdmaException {
        Set<Lifetime> parents = new LinkedHashSet<>(List.of(owners));
        parents.add(domain.life());
        attributes.sendCompletionQueue().ifPresent(queue -> addQueue(parents, queue, domain));
        attributes.receiveCompletionQueue().ifPresent(queue -> addQueue(parents, queue, domain));
        attributes.sharedReceiveQueue().ifPresent(queue -> {
            domain.requireSameContext("shared receive queue", queue.context());
            parents.add(queue.life());
        });
        attributes.receiveSideScaling().ifPresent(scaling -> {
            domain.requireSameContext("indirection table", scaling.table().context());
            parents.add(scaling.table().life());
        });
        requireRelease(attributes);
        try (Arena outer = Arena.ofConfined()) {
            long init = QueuePairInitStructs.write(attributes, outer);
            Memory.putLong(init + ibv_qp_init_attr_ex.pd$offset(), domain.address());
            addToMask(init, Rdma.IBV_QP_INIT_ATTR_PD());
            return Lifetime.make(type, parents, arena -> {
                requireReceiveEntries(domain.context(), attributes);
                try {
                    return creator.create(init, arena);
                } catch (RdmaException e) {
                    throw DeviceLimits.explain(e, domain.context(), attributes);
                }
            }, freer, (life, address) -> finish(domain.context(), domain, attributes, addressing, life, address, init,
                    constructor));
        }
    }

    /** Creates a queue pair of type XRC_RECV in an XRC domain. */
    static QueuePair create(XrcDomain xrc, QueuePairInitAttributes attributes) throws RdmaException {
        requireXrcReceive(attributes, true);
        requireRelease(attributes);
        VerbsContext context = xrc.context();
        try (Arena outer = Arena.ofConfined()) {
            long init = QueuePairInitStructs.write(attributes, outer);
            Memory.putLong(init + ibv_qp_init_attr_ex.xrcd$offset(), xrc.address());
            addToMask(init, Rdma.IBV_QP_INIT_ATTR_XRCD());
            return Lifetime.make(QueuePair.class, List.of(xrc.life()),
                    arena -> createExtended(context, attributes, init), DESTROY_QP::free,
                    (life, address) -> finish(context, null, attributes, Addressing.CONNECTED, life, address, init,
                            QueuePair::new));
        }
    }

    /** Opens a queue pair of type XRC_RECV that another process may have created. */
    static QueuePair open(XrcDomain xrc, int number) throws RdmaException {
        Arguments.requireBits("queue pair number", number, 24);
        VerbsContext context = xrc.context();
        QueuePairInitAttributes attributes = QueuePairInitAttributes.builder().type(QueuePairType.XRC_RECV)
                .maxSendRequests(0).maxReceiveRequests(0).maxSendScatterGather(0).maxReceiveScatterGather(0).build();
        return Lifetime.make(QueuePair.class, List.of(xrc.life()), arena -> {
            long open = arena.allocate(ibv_qp_open_attr.layout()).address();
            Memory.putInt(open + ibv_qp_open_attr.comp_mask$offset(), Rdma.IBV_QP_OPEN_ATTR_NUM()
                    | Rdma.IBV_QP_OPEN_ATTR_XRCD() | Rdma.IBV_QP_OPEN_ATTR_TYPE());
            Memory.putInt(open + ibv_qp_open_attr.qp_num$offset(), number);
            Memory.putLong(open + ibv_qp_open_attr.xrcd$offset(), xrc.address());
            Memory.putInt(open + ibv_qp_open_attr.qp_type$offset(), QueuePairType.XRC_RECV.value());
            NativeFunction function = ExtendedOps.OPEN_QP.require(context.address());
            return Check.pointer(function, "number " + number, function.callLong(context.address(), open));
        }, DESTROY_QP::free, (life, address) -> QueuePair.publish(new QueuePair(new QueuePair.Created(context, null,
                attributes, Addressing.CONNECTED, life, address, attributes.capabilities()))));
    }

    private static <T extends QueuePair> T finish(VerbsContext context, @Nullable ProtectionDomain domain,
            QueuePairInitAttributes attributes, Addressing addressing, Lifetime life, long address, long init,
            VerbsAccess.Constructor<QueuePair.Created, T> constructor) throws RdmaException {
        QueuePairCapabilities actual = QueuePairStructs.readCapabilities(init + ibv_qp_init_attr_ex.cap$offset());
        if (!attributes.sendOperations().isEmpty() && actual.maxSendRequests() > 0) {
            beginOneRequest(address);
        }
        return QueuePair.publish(constructor.construct(
                new QueuePair.Created(context, domain, attributes, addressing, life, address, actual)));
    }

    /**
     * Lets the driver begin a request and discard it. If the queue is full, libmlx5 writes what the next request is
     * given to the one that was begun last: without this, that would be a null pointer as long as there is none.
     */
    private static void beginOneRequest(long address) {
        long extended;
        try {
            extended = QP_TO_QP_EX.callLong(address);
        } catch (NativeLibraryException e) {
            // too old for batches
            return;
        }
        if (extended != 0) {
            new QueuePairExOps(extended, false).beginOne();
        }
    }

    /**
     * As the inline function {@code ibv_create_qp_ex}: calls {@code ibv_create_qp}, which every driver supports, if
     * that suffices.
     */
    private static long createNative(ProtectionDomain domain, QueuePairInitAttributes attributes, long init)
            throws RdmaException {
        if (attributes.isExtended()) {
            return createExtended(domain.context(), attributes, init);
        }
        return Check.pointer(CREATE_QP, attributes.type() + ", " + attributes.capabilities(),
                CREATE_QP.callLong(domain.address(), init));
    }

    private static long createExtended(VerbsContext context, QueuePairInitAttributes attributes, long init)
            throws RdmaException {
        NativeFunction create = ExtendedOps.CREATE_QP_EX.require(context.address());
        return Check.pointer(create, attributes.type() + ", " + attributes.capabilities(),
                create.callLong(context.address(), init));
    }

    private static void addToMask(long init, int bit) {
        long mask = init + ibv_qp_init_attr_ex.comp_mask$offset();
        Memory.putInt(mask, Memory.getInt(mask) | bit);
    }

    /**
     * Refuses operations that the installed library has no functions for. Its {@code struct ibv_qp_ex} ends before
     * their pointers, so that they must not be read.
     */
    private static void requireRelease(QueuePairInitAttributes attributes) throws RdmaException {
        if (attributes.sendOperations().contains(SendOperation.FLUSH)) {
            InstalledRelease.require("ibv_wr_flush", 45);
        }
    }

    /** Refuses what libefa would divide by. */
    private static void requireReceiveEntries(VerbsContext context, QueuePairInitAttributes attributes) {
        if (attributes.capabilities().maxReceiveScatterGather() == 0 && context.isEfa()) {
            throw new IllegalArgumentException("a queue pair of EFA needs at least one scatter/gather entry for"
                    + " receives");
        }
    }

    private static void requireXrcReceive(QueuePairInitAttributes attributes, boolean wanted) {
        if ((attributes.type() == QueuePairType.XRC_RECV) != wanted) {
            throw new IllegalArgumentException(wanted
                    ? "an XRC domain can only have queue pairs of type XRC_RECV, not " + attributes.type()
                    : "a queue pair of type XRC_RECV belongs to an XRC domain, not to a protection domain");
        }
    }

    private static void addQueue(Set<Lifetime> parents, CompletionQueue queue, ProtectionDomain domain) {
        domain.requireSameContext("completion queue", queue.context());
        parents.add(queue.life());
    }
}
