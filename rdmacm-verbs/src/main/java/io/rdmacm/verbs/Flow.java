// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import io.rdmacm.bindings.ibv_flow;
import io.rdmacm.verbs.flow.FlowAttributes;
import io.rdmacm.verbs.flow.FlowSpecification;
import io.rdmacm.verbs.internal.Check;
import io.rdmacm.verbs.internal.ExtendedOps;
import io.rdmacm.verbs.internal.Lifetime;
import io.rdmacm.verbs.internal.NativeFunction;

/**
 * A rule by which a device steers packets to a queue pair ({@code struct ibv_flow}, ibv_create_flow(3)), until
 * {@link #close()}. The queue pair, and the flow actions and counters that the rule names, cannot close before it.
 */
public final class Flow extends NativeObject {
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

    static Flow create(VerbsContext context, QueuePair queuePair, FlowAttributes attributes) throws RdmaException {
        Set<Lifetime> parents = new LinkedHashSet<>(List.of(queuePair.life()));
        for (FlowSpecification part : attributes.specifications()) {
            if (part instanceof FlowSpecification.Handle(FlowAction action)) {
                parents.add(sameContext("flow action", action.context(), context, action).life());
            } else if (part instanceof FlowSpecification.Count(Counters counters)) {
                parents.add(sameContext("counters object", counters.context(), context, counters).life());
            }
        }
        Lifetime life = Lifetime.begin(Flow.class, parents);
        try (Arena arena = Arena.ofConfined()) {
            long block = attributes.toNative(arena).address();
            long address = life.create(() -> {
                NativeFunction create = ExtendedOps.CREATE_FLOW.require(context.address());
                return Check.pointer(create, create.callLong(queuePair.address(), block), attributes.type()
                        + ", specifications " + attributes.specifications());
            });
            return new Flow(context, queuePair, attributes, life, address);
        }
    }

    private static NativeObject sameContext(String what, VerbsContext its, VerbsContext wanted, NativeObject object) {
        if (its != wanted) {
            throw new IllegalArgumentException("the " + what + " belongs to another context than the queue pair: "
                    + object);
        }
        return object;
    }

    /** The device that it belongs to. */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /** The queue pair that receives the packets. */
    public QueuePair queuePair() {
        life().ensureOpen();
        return queuePair;
    }

    /** The rule. */
    public FlowAttributes attributes() {
        life().ensureOpen();
        return attributes;
    }

    @Override
    @CFunction("ibv_destroy_flow")
    protected void destroy() throws RdmaException {
        NativeFunction destroy = ExtendedOps.DESTROY_FLOW.require(context.address());
        Check.returned(destroy, destroy.callInt(address()));
    }
}
