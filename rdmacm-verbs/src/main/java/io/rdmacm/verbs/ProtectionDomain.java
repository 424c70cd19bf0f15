// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

import io.rdmacm.bindings.ibv_pd;
import io.rdmacm.verbs.internal.Check;
import io.rdmacm.verbs.internal.Lifetime;
import io.rdmacm.verbs.internal.NativeFunction;
import io.rdmacm.verbs.internal.QueueGuard;

/**
 * A protection domain ({@code struct ibv_pd}, ibv_alloc_pd(3)): queue pairs can use the memory regions of their own
 * domain only. All methods are safe for use by several threads.
 */
public final class ProtectionDomain extends NativeObject {
    private static final NativeFunction ALLOC_PD = NativeFunction.of("ibv_alloc_pd");
    private static final NativeFunction DEALLOC_PD = NativeFunction.of("ibv_dealloc_pd");

    private final VerbsContext context;
    // The send queues that may be copying out of a region right now, see MemoryRegion.close().
    private final List<QueueGuard> sendQueues = new CopyOnWriteArrayList<>();

    private ProtectionDomain(VerbsContext context, Lifetime life, long address) {
        super(life, address, ibv_pd.sizeof());
        this.context = context;
    }

    static ProtectionDomain allocate(VerbsContext context) throws RdmaException {
        Lifetime life = Lifetime.begin("ProtectionDomain", context.life());
        long address = life.create(() -> Check.pointer(ALLOC_PD, ALLOC_PD.callLong(context.address())));
        return new ProtectionDomain(context, life, address);
    }

    /** The device that it belongs to. */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /**
     * Allocates memory, zeroed and aligned to a page, and registers it; both end with the region's close
     * ({@code ibv_reg_mr}).
     *
     * @param bytes how many, at least 1
     * @param access what it may be used for; local read always is
     * @throws RdmaException ENOMEM, when the limit of locked memory is reached
     */
    @CFunction("ibv_reg_mr")
    public MemoryRegion allocate(long bytes, AccessFlag... access) throws RdmaException {
        life().ensureOpen();
        return MemoryRegion.allocate(this, bytes, accessSet(Arrays.asList(access)));
    }

    /**
     * Registers memory of the caller's ({@code ibv_reg_mr}): native memory of any arena. The arena must not be closed
     * before the region is: the device would go on using the memory. A region of an automatic or the global arena
     * keeps its memory alive by itself.
     *
     * @param memory native, not empty, and not read-only when anything but local and remote reads are allowed
     * @param access what it may be used for; local read always is
     * @throws IllegalArgumentException for memory of the Java heap, empty memory, or access flags that need
     *         {@link AccessFlag#LOCAL_WRITE} without it
     * @throws RdmaException ENOMEM, when the limit of locked memory is reached; EINVAL
     */
    @CFunction("ibv_reg_mr")
    public MemoryRegion register(MemorySegment memory, AccessFlag... access) throws RdmaException {
        life().ensureOpen();
        return MemoryRegion.register(this, memory, accessSet(Arrays.asList(access)));
    }

    /**
     * A new queue pair, in the state RESET ({@code ibv_create_qp}).
     *
     * @param attributes whose completion queues are of the same context
     * @throws RdmaException EINVAL when a size is above the device's; ENOMEM
     */
    @CFunction("ibv_create_qp")
    public QueuePair createQueuePair(QueuePairInitAttributes attributes) throws RdmaException {
        life().ensureOpen();
        return QueuePair.create(this, attributes);
    }

    /**
     * A new shared receive queue ({@code ibv_create_srq}; of the types XRC and TM {@code ibv_create_srq_ex}).
     *
     * @param attributes whose completion queue and XRC domain are of the same context
     * @throws IllegalArgumentException when one of these is missing
     * @throws RdmaException EINVAL when a size is above the device's; ENOMEM
     * @throws RdmaUnsupportedException when the device has none of that type
     */
    @CFunction({"ibv_create_srq", "ibv_create_srq_ex"})
    public SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueInitAttributes attributes)
            throws RdmaException {
        life().ensureOpen();
        return SharedReceiveQueue.create(this, attributes);
    }

    /**
     * A new address handle ({@code ibv_create_ah}).
     *
     * @param attributes the way; on RoCE with a global route
     * @throws RdmaException EINVAL when the device knows no such way
     */
    @CFunction("ibv_create_ah")
    public AddressHandle createAddressHandle(AddressAttributes attributes) throws RdmaException {
        life().ensureOpen();
        return AddressHandle.create(this, attributes);
    }

    /**
     * A new address handle to whom a datagram came from ({@code ibv_create_ah_from_wc}).
     *
     * @param received the current one is the completion of the datagram
     * @param header the global route header: the first 40 bytes of the receive buffer
     * @param port the port of this device that it came in by, from 1 on
     * @throws IllegalArgumentException when the completion is not of a message that came well
     * @throws RdmaException when the header tells no way back
     */
    @CFunction("ibv_create_ah_from_wc")
    public AddressHandle createAddressHandle(Completions received, MemorySegment header, int port)
            throws RdmaException {
        life().ensureOpen();
        return AddressHandle.create(this, received, header, port);
    }

    @Override
    @CFunction("ibv_dealloc_pd")
    protected void destroy() throws RdmaException {
        Check.returned(DEALLOC_PD, DEALLOC_PD.callInt(address()));
    }

    void addSendQueue(QueueGuard queue) {
        sendQueues.add(queue);
    }

    void removeSendQueue(QueueGuard queue) {
        sendQueues.remove(queue);
    }

    /** Returns when no thread is any longer inside a post that began before. */
    void awaitPosts() {
        sendQueues.forEach(QueueGuard::awaitQuiet);
    }

    private static Set<AccessFlag> accessSet(Collection<AccessFlag> access) {
        Set<AccessFlag> flags = Set.copyOf(access);
        boolean writes = flags.contains(AccessFlag.REMOTE_WRITE) || flags.contains(AccessFlag.REMOTE_ATOMIC);
        if (writes && !flags.contains(AccessFlag.LOCAL_WRITE)) {
            throw new IllegalArgumentException("remote write and remote atomic access need LOCAL_WRITE too: " + flags);
        }
        return flags;
    }
}
