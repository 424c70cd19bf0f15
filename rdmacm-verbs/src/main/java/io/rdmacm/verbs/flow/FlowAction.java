// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.lang.foreign.Arena;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.ibv_flow_action;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.driver.ExtendedOps;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * What a device does with the packets of flows beside steering them ({@code struct ibv_flow_action},
 * ibv_create_flow_action(3)): it encrypts or decrypts them (IPsec ESP). It cannot close while a {@link Flow} names it.
 */
public final class FlowAction extends NativeObject {
    private static final VerbsAccess VERBS = VerbsAccess.get();

    private final VerbsContext context;

    private FlowAction(VerbsContext context, Lifetime life, long address) {
        super(life, address, ibv_flow_action.sizeof());
        this.context = context;
    }

    /**
     * Creates a flow action that encrypts or decrypts packets ({@code ibv_create_flow_action_esp}).
     *
     * @param context the device that runs it
     * @param attributes with parameters and key material at least
     * @throws IllegalArgumentException if one of these is missing
     * @throws RdmaUnsupportedException if the device has no flow actions, or not such ones
     */
    @CFunction("ibv_create_flow_action_esp")
    public static FlowAction createEsp(VerbsContext context, EspAttributes attributes) throws RdmaException {
        if (attributes.parameters().isEmpty() || attributes.keyMaterial().isEmpty()) {
            throw new IllegalArgumentException("a new flow action needs "
                    + (attributes.parameters().isEmpty() ? "parameters" : "key material") + ": " + attributes);
        }
        Lifetime life = Lifetime.begin(FlowAction.class, VERBS.lifeOf(context));
        try (Arena arena = Arena.ofConfined()) {
            long struct = attributes.toNative(arena).address();
            return new FlowAction(context, life, life.create(() -> {
                NativeFunction create = ExtendedOps.CREATE_FLOW_ACTION_ESP.require(VERBS.addressOf(context));
                return Check.pointer(create, create.callLong(VERBS.addressOf(context), struct));
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
            NativeFunction modify = ExtendedOps.MODIFY_FLOW_ACTION_ESP.require(VERBS.addressOf(context));
            Check.returned(modify, modify.callInt(address(), struct));
        } finally {
            life().leave();
        }
    }

    @Override
    @CFunction("ibv_destroy_flow_action")
    protected void destroy() throws RdmaException {
        NativeFunction destroy = ExtendedOps.DESTROY_FLOW_ACTION.require(VERBS.addressOf(context));
        Check.returned(destroy, destroy.callInt(address()));
    }
}
