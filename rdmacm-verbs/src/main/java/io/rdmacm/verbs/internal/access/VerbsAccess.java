// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.access;

import java.util.function.Supplier;

import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.ContextPin;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * What the connection-manager layer needs of the verbs objects and programs must not have, for they could pass any
 * number as an address.
 *
 * <p>The implementation sees the hidden members of the objects. It lives beside them, where this package cannot name
 * it: it is loaded by its name when it is first needed, and registers itself.
 */
public abstract class VerbsAccess {
    private static final String IMPLEMENTATION = "io.rdmacm.verbs.VerbsAccessor";

    private static volatile VerbsAccess instance;

    /** For the one implementation. */
    protected VerbsAccess() {
    }

    /** Called once, by the implementation as it is initialised. */
    protected static void register(VerbsAccess implementation) {
        instance = implementation;
    }

    /** Returns the one instance. */
    public static VerbsAccess get() {
        if (instance == null) {
            try {
                Class.forName(IMPLEMENTATION, true, VerbsAccess.class.getClassLoader());
            } catch (ClassNotFoundException e) {
                throw new AssertionError("the class is in this module", e);
            }
        }
        return instance;
    }

    /** Returns the life of an object. */
    public abstract Lifetime lifeOf(NativeObject object);

    /** Returns the address of the C object, whether or not it is open. */
    public abstract long addressOf(NativeObject object);

    /**
     * Returns the context that librdmacm opened. The same context gives the same object.
     *
     * @param address the value of {@code rdma_cm_id.verbs}; it cannot be freed during the call
     * @param pin makes what keeps librdmacm from freeing it, when it is seen for the first time
     */
    public abstract VerbsContext contextAt(long address, Supplier<ContextPin> pin);

    /** Returns the kernel's number of the device of the context at an address; -1 when it is not known. */
    public abstract int deviceIndexAt(long address);

    /**
     * Creates a queue pair by other functions than those of libibverbs.
     *
     * @param owner a life that cannot end before it, beside those of its domain and completion queues
     * @param domain whose memory regions it uses
     * @param attributes what it is made with
     * @param creator is passed a {@code struct ibv_qp_init_attr_ex}, and returns the {@code struct ibv_qp}
     * @param destroyer destroys it
     */
    public abstract QueuePair createQueuePair(Lifetime owner, ProtectionDomain domain,
            QueuePairInitAttributes attributes, QueueCreator creator, Lifetime.Destroyer destroyer)
            throws RdmaException;

    /**
     * Creates a shared receive queue by other functions than those of libibverbs.
     *
     * @param owner a life that cannot end before it, beside those of what it is made with
     * @param domain whose memory regions it uses
     * @param attributes what it is made with
     * @param creator is passed a {@code struct ibv_srq_init_attr_ex}, and returns the {@code struct ibv_srq}
     * @param destroyer destroys it
     */
    public abstract SharedReceiveQueue createSharedReceiveQueue(Lifetime owner, ProtectionDomain domain,
            SharedReceiveQueueInitAttributes attributes, QueueCreator creator, Lifetime.Destroyer destroyer)
            throws RdmaException;

    /** Creates the C object of a queue. */
    @FunctionalInterface
    public interface QueueCreator {
        /**
         * Calls C.
         *
         * @param initAttributes the address of a filled extended struct of attributes, which begins as the plain one
         *        does ({@code struct ibv_qp_init_attr}, {@code struct ibv_srq_init_attr}); C writes the sizes that the
         *        queue got into it
         * @return the address of the queue
         */
        long create(long initAttributes) throws RdmaException;
    }
}
