// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.lang.foreign.Arena;
import java.util.List;

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
 * An action that a device applies to the packets of flows ({@code struct ibv_flow_action}, ibv_flow_action_esp(3)):
 * encryption or decryption with IPsec ESP. It cannot be closed while a {@link Flow} refers to it.
 */
@CFunction("ibv_destroy_flow_action")
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
     * @param context the device that applies it
     * @param attributes the attributes; parameters and key material are required
     * @return the new flow action
     * @throws IllegalArgumentException if parameters or key material are missing
     * @throws RdmaUnsupportedException if the device does not support flow actions, or not such attributes (EOPNOTSUPP)
     * @throws RdmaException if the attributes are not valid (EINVAL), or there is not enough memory (ENOMEM)
     * @throws IllegalStateException if the context is closed
     */
    @CFunction("ibv_create_flow_action_esp")
    public static FlowAction createEsp(VerbsContext context, EspAttributes attributes) throws RdmaException {
        if (attributes.parameters().isEmpty() || attributes.keyMaterial().isEmpty()) {
            throw new IllegalArgumentException("a new flow action needs "
                    + (attributes.parameters().isEmpty() ? "parameters" : "key material") + ": " + attributes);
        }
        return Lifetime.make(FlowAction.class, List.of(VERBS.lifeOf(context)), arena -> {
            long struct = attributes.toNative(arena).address();
            NativeFunction create = ExtendedOps.CREATE_FLOW_ACTION_ESP.require(VERBS.addressOf(context));
            return Check.pointer(create, create.callLong(VERBS.addressOf(context), struct));
        }, ExtendedOps.DESTROY_FLOW_ACTION.freer(VERBS.addressOf(context)),
                (life, address) -> new FlowAction(context, life, address));
    }

    /** {@return the context of the device that applies this action} */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /**
     * Modifies this action in all flows that refer to it at once ({@code ibv_modify_flow_action_esp}). From which
     * packet on the change takes effect is not defined.
     *
     * @param attributes the attributes to change; those that are not set stay as they are
     * @throws RdmaUnsupportedException if the device cannot modify flow actions (EOPNOTSUPP)
     * @throws RdmaException if the attributes are not valid (EINVAL); then nothing has changed
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
}
