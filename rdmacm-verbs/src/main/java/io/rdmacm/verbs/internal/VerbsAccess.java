// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal;

import java.lang.invoke.MethodHandles;
import java.util.function.Supplier;

import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.VerbsContext;

/**
 * What the connection-manager layer needs of the verbs objects and programs must not have: they could pass addresses
 * that are none.
 */
public abstract class VerbsAccess {
    private static volatile VerbsAccess instance;

    /** Made once, by {@link NativeObject}. */
    protected VerbsAccess() {
        instance = this;
    }

    /** The way in. */
    public static VerbsAccess get() {
        if (instance == null) {
            try {
                MethodHandles.lookup().ensureInitialized(NativeObject.class);
            } catch (IllegalAccessException e) {
                throw new AssertionError("the class is public", e);
            }
        }
        return instance;
    }

    /** The life of an object. */
    public abstract Lifetime lifeOf(NativeObject object);

    /** The address of the C object, unchecked. */
    public abstract long addressOf(NativeObject object);

    /**
     * The context that librdmacm opened. The same context gives the same object.
     *
     * @param address the value of {@code rdma_cm_id.verbs}; it cannot be freed during the call
     * @param keeper makes what keeps librdmacm from freeing it, when it is seen for the first time
     */
    public abstract VerbsContext contextAt(long address, Supplier<Keeper> keeper);

    /** The kernel's number of the device of a context at an address; -1 where it is not known. */
    public abstract int deviceIndexAt(long address);

    /**
     * A queue pair that is made and destroyed in a way of its own.
     *
     * @param owner a life that cannot end before it, beside those of its domain and completion queues
     * @param domain whose memory regions it uses
     * @param attributes what it is made with
     * @param creator makes it
     * @param destroyer destroys it
     */
    public abstract QueuePair createQueuePair(Lifetime owner, ProtectionDomain domain,
            QueuePairInitAttributes attributes, QueuePairCreator creator, Lifetime.Destroyer destroyer)
            throws RdmaException;

    /**
     * A shared receive queue that is made and destroyed in a way of its own.
     *
     * @param owner a life that cannot end before it, beside those of what it is made with
     * @param domain whose memory regions it uses
     * @param attributes what it is made with
     * @param creator makes it
     * @param destroyer destroys it
     */
    public abstract SharedReceiveQueue createSharedReceiveQueue(Lifetime owner, ProtectionDomain domain,
            SharedReceiveQueueInitAttributes attributes, SharedReceiveQueueCreator creator,
            Lifetime.Destroyer destroyer) throws RdmaException;

    /** The native part of making a shared receive queue. */
    @FunctionalInterface
    public interface SharedReceiveQueueCreator {
        /**
         * Calls C.
         *
         * @param initAttributes the address of a filled {@code struct ibv_srq_init_attr_ex}, which begins as
         *        {@code struct ibv_srq_init_attr} does, and whose sizes C updates
         * @return the address of the {@code struct ibv_srq}
         */
        long create(long initAttributes) throws RdmaException;
    }

    /** The native part of making a queue pair. */
    @FunctionalInterface
    public interface QueuePairCreator {
        /**
         * Calls C.
         *
         * @param initAttributes the address of a filled {@code struct ibv_qp_init_attr_ex}, which begins as
         *        {@code struct ibv_qp_init_attr} does, and whose capabilities C updates
         * @return the address of the {@code struct ibv_qp}
         */
        long create(long initAttributes) throws RdmaException;
    }
}
