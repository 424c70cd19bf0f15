// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.ibv_pd;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.BiasedLock;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.queue.WorkQueueFlag;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.MemoryAdvice;
import io.rdmacm.verbs.work.MemoryWindowType;

/**
 * A protection domain ({@code struct ibv_pd}, ibv_alloc_pd(3)): queue pairs can use the memory regions of their own
 * domain only. All methods are safe for use by several threads.
 */
public sealed class ProtectionDomain extends NativeObject permits ParentDomain {
    private static final NativeFunction ALLOC_PD = NativeFunction.of("ibv_alloc_pd");
    private static final NativeFunction DEALLOC_PD = NativeFunction.of("ibv_dealloc_pd");
    private static final NativeFunction IMPORT_PD = NativeFunction.of("ibv_import_pd");
    private static final NativeFunction UNIMPORT_PD = NativeFunction.of("ibv_unimport_pd");

    private final VerbsContext context;
    private final boolean imported;
    // The send queues that may be copying out of a region right now, see MemoryRegion.close(). Those of a parent domain
    // use the regions of the domain below it: they share the list.
    private final List<BiasedLock> sendQueues;

    private ProtectionDomain(VerbsContext context, Lifetime life, long address, boolean imported) {
        super(life, address, ibv_pd.sizeof());
        this.context = context;
        this.imported = imported;
        this.sendQueues = new CopyOnWriteArrayList<>();
    }

    /** For a parent domain. */
    ProtectionDomain(ProtectionDomain below, Lifetime life, long address) {
        super(life, address, ibv_pd.sizeof());
        this.context = below.context;
        this.imported = false;
        this.sendQueues = below.sendQueues;
    }

    static ProtectionDomain allocate(VerbsContext context) throws RdmaException {
        Lifetime life = Lifetime.begin(ProtectionDomain.class, context.life());
        long address = life.create(() -> Check.pointer(ALLOC_PD, ALLOC_PD.callLong(context.address())));
        return new ProtectionDomain(context, life, address, false);
    }

    static ProtectionDomain importDomain(VerbsContext context, int kernelHandle) throws RdmaException {
        Lifetime life = Lifetime.begin(ProtectionDomain.class, context.life());
        long address = life.create(() -> Check.imported(IMPORT_PD, context.address(), kernelHandle));
        return new ProtectionDomain(context, life, address, true);
    }

    /** The device that it belongs to. */
    public final VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /** The kernel's number of it, for {@link VerbsContext#importProtectionDomain} ({@code ibv_pd.handle}). */
    public final int kernelHandle() {
        return intMember(ibv_pd.handle$offset());
    }

    /**
     * Allocates memory, zeroed and aligned to a page, and registers it; both end with the region's close
     * ({@code ibv_reg_mr}).
     *
     * @param bytes how many, at least 1; may be more than 2 GiB
     * @param access what it may be used for; local read always is
     * @throws RdmaException ENOMEM, when the limit of locked memory is reached
     */
    @CFunction("ibv_reg_mr")
    public final MemoryRegion allocate(long bytes, AccessFlag... access) throws RdmaException {
        return MemoryRegionFactory.of(this, access).allocate(bytes);
    }

    /**
     * Registers memory of the caller's ({@code ibv_reg_mr}): native memory of any arena, or a slice of it. The arena
     * must not be closed before the region is: the device would go on using the memory. A region of an automatic or the
     * global arena keeps its memory alive by itself.
     *
     * @param memory native, not empty, and not read-only when anything but local and remote reads are allowed; with
     *        {@link AccessFlag#ZERO_BASED} it begins with a page
     * @param access what it may be used for; local read always is
     * @throws IllegalArgumentException for memory of the Java heap, empty memory, memory of a closed arena, or access
     *         flags that need {@link AccessFlag#LOCAL_WRITE} without it
     * @throws RdmaUnsupportedException with {@link AccessFlag#ON_DEMAND} on a device that has no on-demand paging
     * @throws RdmaException ENOMEM, when the limit of locked memory is reached; EINVAL
     */
    @CFunction({"ibv_reg_mr", "ibv_reg_mr_iova2"})
    public final MemoryRegion register(MemorySegment memory, AccessFlag... access) throws RdmaException {
        return MemoryRegionFactory.of(this, access).register(memory);
    }

    /**
     * As {@link #register}, known to devices by another address than the processor's ({@code ibv_reg_mr_iova},
     * ibv_reg_mr(3)).
     *
     * @param memory native and not empty
     * @param deviceAddress the address of its first byte for work requests; within a page at the same place as the
     *        memory
     * @param access what it may be used for; local read always is
     * @throws RdmaException EINVAL when the address is at another place within its page
     */
    @CFunction({"ibv_reg_mr_iova", "ibv_reg_mr_iova2"})
    public final MemoryRegion registerAt(MemorySegment memory, long deviceAddress, AccessFlag... access)
            throws RdmaException {
        return MemoryRegionFactory.of(this, access).registerAt(memory, deviceAddress);
    }

    /**
     * Registers all memory of the process at once, for a device with implicit on-demand paging ({@code ibv_reg_mr} from
     * NULL on, SIZE_MAX bytes, {@link AccessFlag#ON_DEMAND}): nothing is pinned, and memory that comes later belongs to
     * it too.
     *
     * @param access what it may be used for; local read always is, and ON_DEMAND need not be named
     * @throws IllegalArgumentException for ZERO_BASED and HUGETLB, and access flags that need
     *         {@link AccessFlag#LOCAL_WRITE} without it
     * @throws RdmaUnsupportedException when the device has no implicit on-demand paging
     */
    @CFunction({"ibv_reg_mr", "ibv_reg_mr_iova2"})
    public final ImplicitMemoryRegion registerAllMemory(AccessFlag... access) throws RdmaException {
        return MemoryRegionFactory.onDemand(this, access).registerAllMemory();
    }

    /**
     * Registers memory of another device, which has a dma-buf for it ({@code ibv_reg_dmabuf_mr}, ibv_reg_mr(3)).
     *
     * @param fd the file descriptor of the dma-buf; stays the caller's
     * @param offset where the region begins in it, in bytes
     * @param length in bytes
     * @param deviceAddress the address of its first byte for work requests; within a page at the same place as the
     *        offset
     * @param access what it may be used for; local read always is
     * @throws RdmaUnsupportedException when the device cannot do it
     */
    @CFunction("ibv_reg_dmabuf_mr")
    public final MemoryRegion registerDmaBuf(int fd, long offset, long length, long deviceAddress,
            AccessFlag... access) throws RdmaException {
        return MemoryRegionFactory.of(this, access).registerDmaBuf(fd, offset, length, deviceAddress);
    }

    /**
     * Registers memory on the device itself ({@code ibv_reg_dm_mr}, ibv_alloc_dm(3)). The region begins with the
     * address 0.
     *
     * @param memory of the same context
     * @param offset where the region begins in it, in bytes
     * @param length in bytes
     * @param access what it may be used for, {@link AccessFlag#ZERO_BASED} among it
     */
    @CFunction("ibv_reg_dm_mr")
    public final MemoryRegion register(DeviceMemory memory, long offset, long length, AccessFlag... access)
            throws RdmaException {
        return MemoryRegionFactory.of(this, access).registerDeviceMemory(memory, offset, length);
    }

    /**
     * A region of no memory ({@code ibv_alloc_null_mr}, ibv_alloc_null_mr(3)): what is written to it by its local key
     * is dropped, what is read is zero, at any offset.
     *
     * @throws RdmaUnsupportedException when the device has none
     */
    @CFunction("ibv_alloc_null_mr")
    public final MemoryRegion allocateNullRegion() throws RdmaException {
        return MemoryRegionFactory.of(this, AccessFlag.LOCAL_WRITE).allocateNull();
    }

    /**
     * A region that another context over the same device made, by its number ({@code ibv_import_mr}, ibv_import_mr(3)).
     * Its close lets go of it only; it ends with that of the other, which must come last.
     *
     * @param kernelHandle what {@link MemoryRegion#kernelHandle()} of the other tells
     * @throws RdmaUnsupportedException when the driver cannot import
     */
    @CFunction("ibv_import_mr")
    public final MemoryRegion importRegion(int kernelHandle) throws RdmaException {
        return MemoryRegionFactory.importRegion(this, kernelHandle);
    }

    /**
     * Says what will be done with parts of memory regions ({@code ibv_advise_mr}, ibv_advise_mr(3)).
     *
     * @param advice what
     * @param flush whether it is done when this returns
     * @param ranges of regions of this domain, at least one
     * @throws RdmaUnsupportedException when the device takes no advice
     * @throws RdmaException EFAULT when a region is not of {@link AccessFlag#ON_DEMAND}
     */
    @CFunction("ibv_advise_mr")
    public final void advise(MemoryAdvice advice, boolean flush, MemoryRange... ranges) throws RdmaException {
        life().enter();
        try {
            MemoryRange.advise(this, advice, flush, List.of(ranges));
        } finally {
            life().leave();
        }
    }

    /**
     * A new memory window ({@code ibv_alloc_mw}, ibv_alloc_mw(3)).
     *
     * @param type how it will be bound
     * @throws RdmaUnsupportedException when the device has none of that type
     */
    @CFunction("ibv_alloc_mw")
    public final MemoryWindow allocateMemoryWindow(MemoryWindowType type) throws RdmaException {
        life().ensureOpen();
        return MemoryWindow.allocate(this, type);
    }

    /**
     * A protection domain over this one, whose objects are used by one thread only or live in memory of the caller's
     * ({@code ibv_alloc_parent_domain}, ibv_alloc_parent_domain(3)).
     *
     * @param attributes what it is made with
     * @throws RdmaUnsupportedException when the device has none
     */
    @CFunction("ibv_alloc_parent_domain")
    public ParentDomain allocateParentDomain(ParentDomainAttributes attributes) throws RdmaException {
        life().ensureOpen();
        return ParentDomain.allocate(this, attributes);
    }

    /**
     * A new queue pair, in the state RESET ({@code ibv_create_qp}, or {@code ibv_create_qp_ex} where the attributes
     * need it).
     *
     * @param attributes whose queues are of the same context
     * @throws RdmaException EINVAL when a size is above the device's; ENOMEM; EPERM for raw packets without the right
     * @throws RdmaUnsupportedException when the device has not what the attributes ask for
     */
    @CFunction({"ibv_create_qp", "ibv_create_qp_ex"})
    public final QueuePair createQueuePair(QueuePairInitAttributes attributes) throws RdmaException {
        life().ensureOpen();
        return QueuePairFactory.create(this, attributes);
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
    public final SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueInitAttributes attributes)
            throws RdmaException {
        life().ensureOpen();
        return SharedReceiveQueue.create(this, attributes);
    }

    /**
     * A new work queue, in the state RESET ({@code ibv_create_wq}).
     *
     * @param queue where its finished receives are reported; of the same context
     * @param maxRequests how many receives can be outstanding, at least 1; the device may give more
     * @param maxScatterGather how many scatter/gather entries a receive may have, at least 1
     * @param flags what it does with packets
     * @throws RdmaUnsupportedException when the device has no work queues
     * @throws RdmaException EINVAL when a size is above the device's; ENOMEM
     */
    @CFunction("ibv_create_wq")
    public final WorkQueue createWorkQueue(CompletionQueue queue, int maxRequests, int maxScatterGather,
            WorkQueueFlag... flags) throws RdmaException {
        life().ensureOpen();
        return WorkQueue.create(this, queue, maxRequests, maxScatterGather, flags);
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
    public AddressHandle createAddressHandle(WorkCompletions received, MemorySegment header, int port)
            throws RdmaException {
        life().ensureOpen();
        return AddressHandle.create(this, received, header, port);
    }

    @Override
    @CFunction({"ibv_dealloc_pd", "ibv_unimport_pd"})
    protected void destroy() throws RdmaException {
        if (imported) {
            UNIMPORT_PD.callInt(address());
        } else {
            Check.returned(DEALLOC_PD, DEALLOC_PD.callInt(address()));
        }
    }

    void addSendQueue(BiasedLock queue) {
        sendQueues.add(queue);
    }

    void removeSendQueue(BiasedLock queue) {
        sendQueues.remove(queue);
    }

    /** Refuses an object of another context. */
    final void requireSameContext(String what, VerbsContext its) {
        if (its != context()) {
            throw new IllegalArgumentException("the " + what + " belongs to another context than the protection"
                    + " domain: " + its + ", " + context);
        }
    }

    /** Whether {@link #awaitPosts} of this domain waits for posts in another one: the same, or a parent domain. */
    boolean sharesPosts(ProtectionDomain other) {
        return other != null && sendQueues == other.sendQueues;
    }

    /** Returns when no thread is any longer inside a post that began before. */
    void awaitPosts() {
        sendQueues.forEach(BiasedLock::awaitQuiet);
    }
}
