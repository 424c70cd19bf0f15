// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;

import io.rdmacm.bindings.ibv_flow_action;
import io.rdmacm.verbs.flow.EspAttributes;
import io.rdmacm.verbs.internal.Check;
import io.rdmacm.verbs.internal.ExtendedOps;
import io.rdmacm.verbs.internal.Lifetime;
import io.rdmacm.verbs.internal.NativeFunction;

/**
 * What a device does with the packets of flows beside steering them ({@code struct ibv_flow_action},
 * ibv_create_flow_action(3)): it encrypts or decrypts them (IPsec ESP). It cannot close while a {@link Flow} names it.
 */
public final class FlowAction extends NativeObject {
    private final VerbsContext context;

    private FlowAction(VerbsContext context, Lifetime life, long address) {
        super(life, address, ibv_flow_action.sizeof());
        this.context = context;
    }

    static FlowAction createEsp(VerbsContext context, EspAttributes attributes) throws RdmaException {
        if (attributes.parameters().isEmpty() || attributes.keyMaterial().isEmpty()) {
            throw new IllegalArgumentException("a new flow action needs "
                    + (attributes.parameters().isEmpty() ? "parameters" : "key material") + ": " + attributes);
        }
        Lifetime life = Lifetime.begin(FlowAction.class, context.life());
        try (Arena arena = Arena.ofConfined()) {
            long struct = attributes.toNative(arena).address();
            return new FlowAction(context, life, life.create(() -> {
                NativeFunction create = ExtendedOps.CREATE_FLOW_ACTION_ESP.require(context.address());
                return Check.pointer(create, create.callLong(context.address(), struct));
            }));
        }
    }

    /** The device that it belongs to. */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /**
     * Changes what it does with packets from some moment on, in all flows that name it
     * ({@code ibv_modify_flow_action_esp}).
     *
     * @param attributes what is not in them stays as it is
     * @throws RdmaException EINVAL; then nothing was changed
     */
    @CFunction("ibv_modify_flow_action_esp")
    public void modifyEsp(EspAttributes attributes) throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            long struct = attributes.toNative(arena).address();
            NativeFunction modify = ExtendedOps.MODIFY_FLOW_ACTION_ESP.require(context.address());
            Check.returned(modify, modify.callInt(address(), struct));
        } finally {
            life().leave();
        }
    }

    @Override
    @CFunction("ibv_destroy_flow_action")
    protected void destroy() throws RdmaException {
        NativeFunction destroy = ExtendedOps.DESTROY_FLOW_ACTION.require(context.address());
        Check.returned(destroy, destroy.callInt(address()));
    }
}
