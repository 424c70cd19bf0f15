// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.access;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.function.Supplier;

import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.ContextPin;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.work.AccessFlag;
import org.jspecify.annotations.Nullable;

/**
 * Gives the connection manager layer access to members of the verbs objects that programs must not use, because they
 * could pass any number as an address.
 *
 * <p>The implementation has to be in the package of the objects, to access their package-private members. It is loaded
 * by name when it is first needed, and registers itself.
 */
public abstract class VerbsAccess {
    private static final String IMPLEMENTATION = "io.rdmacm.verbs.VerbsAccessor";

    private static volatile VerbsAccess instance;

    /** Called by the only implementation. */
    protected VerbsAccess() {
    }

    /** Registers the implementation. Called once, by its static initialiser. */
    protected static void register(VerbsAccess implementation) {
        instance = implementation;
    }

    /** Returns the only instance. */
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

    /** Returns the lifetime of an object. */
    public abstract Lifetime lifeOf(NativeObject object);

    /**
     * Gives the queues of a queue pair, and its completion queue, to an object that uses their memory without
     * libibverbs: everybody else is refused from now on.
     *
     * @param pair the queue pair, for batches, whose completion queue is its own
     * @param user the class of the object, for messages
     * @return the batch of the queue pair, for {@link #start}
     */
    public abstract SendBatch useDirectly(QueuePair pair, Class<?> user) throws RdmaException;

    /** Starts a batch again, which is to be completed or closed. */
    public abstract void start(SendBatch batch);

    /** Returns whether the device is known to have no write access to a region. */
    public abstract boolean isReadOnlyForDevice(MemoryRegion region);

    /** Returns the address of the C object, whether or not it is open. */
    public abstract long addressOf(NativeObject object);

    /**
     * Calls a function of a driver for an object, which cannot be closed meanwhile.
     *
     * @throws IllegalStateException if the object is closed
     */
    public final <T> T inside(NativeObject object, Function<T> function) throws RdmaException {
        lifeOf(object).enter();
        try (Arena arena = Arena.ofConfined()) {
            return function.call(addressOf(object), arena);
        } finally {
            lifeOf(object).leave();
        }
    }

    /**
     * Takes the next event of a channel, without waiting.
     *
     * @return the queue that has, or had, completions; null if there is no event
     */
    public abstract @Nullable CompletionQueue takeEvent(CompletionChannel channel) throws RdmaException;

    /**
     * Returns the object for a context that librdmacm opened. The same context always has the same object.
     *
     * @param address the value of {@code rdma_cm_id.verbs}; the context must not be freed during the call
     * @param pin creates the pin that keeps librdmacm from freeing the context; called if the context is new
     */
    public abstract VerbsContext contextAt(long address, Supplier<ContextPin> pin);

    /**
     * Returns whether the device loses requests that are posted after the queue pair is in error: it takes them, but
     * neither carries them out nor completes them.
     */
    public abstract boolean losesLateRequests(VerbsContext context);

    /** Returns the kernel's index of the device of the context at an address; -1 if it is not known. */
    public abstract int deviceIndexAt(long address);

    /**
     * Creates a queue pair with functions other than those of libibverbs.
     *
     * @param owner a lifetime that cannot end before that of the queue pair, in addition to those of its protection
     *        domain and completion queues
     * @param domain the protection domain of the queue pair
     * @param attributes the attributes of the queue pair
     * @param creator receives a {@code struct ibv_qp_init_attr_ex}, and returns a {@code struct ibv_qp}
     * @param freer destroys the queue pair
     */
    public abstract QueuePair createQueuePair(Lifetime owner, ProtectionDomain domain,
            QueuePairInitAttributes attributes, Creator creator, Lifetime.Freer freer)
            throws RdmaException;

    /**
     * Calls a function with a {@code struct ibv_device}.
     *
     * @return what the function returns
     */
    public abstract long withDevice(Device device, DeviceFunction function) throws RdmaException;

    /**
     * Opens a device with a function of a driver.
     *
     * @param opener receives a {@code struct ibv_device}, and returns a {@code struct ibv_context}
     */
    public abstract VerbsContext open(Device device, DeviceFunction opener) throws RdmaException;

    /**
     * Creates a shared receive queue with functions other than those of libibverbs.
     *
     * @param owner a lifetime that cannot end before that of the queue, in addition to those of the objects that the
     *        queue is created with
     * @param domain the protection domain of the queue
     * @param attributes the attributes of the queue
     * @param creator receives a {@code struct ibv_srq_init_attr_ex}, and returns a {@code struct ibv_srq}
     * @param freer destroys the queue
     */
    public abstract SharedReceiveQueue createSharedReceiveQueue(Lifetime owner, ProtectionDomain domain,
            SharedReceiveQueueInitAttributes attributes, Creator creator, Lifetime.Freer freer)
            throws RdmaException;

    /**
     * Registers memory with functions other than those of {@link ProtectionDomain}.
     *
     * @param domain the protection domain of the region
     * @param source the memory, and how it is registered
     * @param access what the memory may be used for
     */
    public abstract MemoryRegion register(ProtectionDomain domain, RegionSource source, AccessFlag... access)
            throws RdmaException;

    /**
     * Memory to register.
     *
     * @param memory the memory; null if this process cannot access it
     * @param start the address of its first byte in work requests
     * @param length the length in bytes
     * @param function the function that the creator calls, for messages
     * @param detail for messages
     * @param creator calls C
     * @param owners lifetimes that cannot end before that of the region, in addition to that of its protection domain
     */
    public record RegionSource(MemorySegment memory, long start, long length, NativeFunction function, String detail,
            RegionCreator creator, List<Lifetime> owners) {
    }

    /** Registers memory. */
    @FunctionalInterface
    public interface RegionCreator {
        /**
         * Calls C.
         *
         * @param access the access flags as bits
         * @return the address of the {@code struct ibv_mr}; 0 on failure
         */
        long create(int access) throws RdmaException;
    }

    /**
     * Calls C with an object.
     *
     * @param <T> what the call returns
     */
    @FunctionalInterface
    public interface Function<T> {
        /**
         * Calls C.
         *
         * @param object the address of the object
         * @param arena for what C reads and writes
         */
        T call(long object, Arena arena) throws RdmaException;
    }

    /** Calls C with a {@code struct ibv_device}. */
    @FunctionalInterface
    public interface DeviceFunction {
        /** Calls C. */
        long call(long device) throws RdmaException;
    }

    /** Calls C with a {@code struct ibv_qp}. */
    @FunctionalInterface
    public interface QueueFunction {
        /** Calls C. */
        long call(long pair) throws RdmaException;
    }

    /**
     * Constructs the Java object for what C has created.
     *
     * @param <C> describes what C has created
     * @param <T> the class of the object
     */
    @FunctionalInterface
    public interface Constructor<C, T> {
        /** Calls the constructor. */
        T construct(C created) throws RdmaException;
    }

    /** Creates the C object of a queue, or of memory. */
    @FunctionalInterface
    public interface Creator {
        /**
         * Calls C.
         *
         * @param initAttributes the address of the struct of attributes; that of a queue is the extended one, which
         *        begins with the members of the plain one ({@code struct ibv_qp_init_attr} or
         *        {@code struct ibv_srq_init_attr}), and C writes the actual capacities of the queue into it
         * @param arena for what else C is to read
         * @return the address of the object
         */
        long create(long initAttributes, Arena arena) throws RdmaException;
    }
}
