// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.ibv_flow;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.driver.ExtendedOps;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.queue.QueuePairType;

/**
 * A rule by which a device steers packets to a queue pair ({@code struct ibv_flow}, ibv_create_flow(3)), in effect
 * until {@link #close()}. The queue pair, and the flow actions and counters that the rule refers to, cannot be closed
 * before it.
 */
@CFunction("ibv_destroy_flow")
public final class Flow extends NativeObject {
    private static final VerbsAccess VERBS = VerbsAccess.get();

    private final VerbsContext context;
    private final QueuePair queuePair;
    private final FlowAttributes attributes;

    private Flow(VerbsContext context, QueuePair queuePair, FlowAttributes attributes, Lifetime life, long address) {
        super(life, address, ibv_flow.sizeof());
        this.context = context;
        this.queuePair = queuePair;
        this.attributes = attributes;
        String text = attributes.specifications().stream().map(part -> part.type().name())
                .collect(Collectors.joining(", ", attributes.type() + " of port " + attributes.port() + ": ", ""));
        life.describe(() -> text);
    }

    /**
     * Steers packets to a queue pair until the flow is closed ({@code ibv_create_flow}).
     *
     * @param queuePair a queue pair of type UD or RAW_PACKET
     * @param attributes which packets are steered, and what else the device does with them
     * @return the new flow
     * @throws IllegalArgumentException if the queue pair is of another type, or the rule refers to an object of another
     *         context
     * @throws RdmaUnsupportedException if the device does not support flow steering, or not such a rule (EOPNOTSUPP)
     * @throws RdmaException if the rule is not valid (EINVAL), a privilege is missing (EPERM), there is not enough
     *         memory (ENOMEM), or device-managed flow steering is not enabled (ENXIO)
     * @throws IllegalStateException if the queue pair, or an object that the rule refers to, is closed
     */
    @CFunction("ibv_create_flow")
    public static Flow create(QueuePair queuePair, FlowAttributes attributes) throws RdmaException {
        VerbsContext context = queuePair.context();
        QueuePairType type = queuePair.type();
        if (type != QueuePairType.UD && type != QueuePairType.RAW_PACKET) {
            throw new IllegalArgumentException("flows are steered to queue pairs of type UD or RAW_PACKET, not "
                    + type);
        }
        Set<Lifetime> parents = new LinkedHashSet<>(List.of(VERBS.lifeOf(queuePair)));
        for (FlowSpecification part : attributes.specifications()) {
            if (part instanceof FlowSpecification.Handle(FlowAction action)) {
                parents.add(sameContext("flow action", action.context(), context, action));
            } else if (part instanceof FlowSpecification.Count(Counters counters)) {
                parents.add(sameContext("counters object", counters.context(), context, counters));
            }
        }
        return Lifetime.make(Flow.class, parents, arena -> {
            long block = attributes.toNative(arena).address();
            NativeFunction create = ExtendedOps.CREATE_FLOW.require(VERBS.addressOf(context));
            return Check.pointer(create, attributes.type() + ", specifications " + attributes.specifications(),
                    create.callLong(VERBS.addressOf(queuePair), block));
        }, ExtendedOps.DESTROY_FLOW.freer(VERBS.addressOf(context)),
                (life, address) -> new Flow(context, queuePair, attributes, life, address));
    }

    private static Lifetime sameContext(String what, VerbsContext its, VerbsContext wanted, NativeObject object) {
        if (its != wanted) {
            throw new IllegalArgumentException("the " + what + " belongs to another context than the queue pair: "
                    + object);
        }
        return VERBS.lifeOf(object);
    }

    /** {@return the context of the queue pair} */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /** {@return the queue pair that receives the packets} */
    public QueuePair queuePair() {
        life().ensureOpen();
        return queuePair;
    }

    /** {@return the rule} */
    public FlowAttributes attributes() {
        life().ensureOpen();
        return attributes;
    }
}
