// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.List;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.ibv_pd;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.internal.life.LockGroup;
import io.rdmacm.verbs.queue.WorkQueueFlag;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.MemoryAdvice;
import io.rdmacm.verbs.work.MemoryWindowType;

/**
 * A protection domain ({@code struct ibv_pd}, ibv_alloc_pd(3)): the memory regions, queue pairs, shared receive queues
 * and address handles that may be used together. A queue can access only memory regions, memory windows and address
 * handles of its own domain. All methods are thread-safe.
 */
@CFunction({"ibv_dealloc_pd", "ibv_unimport_pd"})
public sealed class ProtectionDomain extends NativeObject permits ParentDomain {
    private static final NativeFunction ALLOC_PD = NativeFunction.of("ibv_alloc_pd");
    private static final NativeFunction DEALLOC_PD = NativeFunction.of("ibv_dealloc_pd");
    private static final NativeFunction IMPORT_PD = NativeFunction.of("ibv_import_pd");
    private static final NativeFunction UNIMPORT_PD = NativeFunction.of("ibv_unimport_pd");

    private final VerbsContext context;
    // The posts that use the objects of this domain. A parent domain shares them with the domain below it, because its
    // queues use the regions of that one.
    private final LockGroup posts;

    private ProtectionDomain(VerbsContext context, Lifetime life, long address) {
        super(life, address, ibv_pd.sizeof());
        this.context = context;
        this.posts = new LockGroup();
    }

    /** Creates a parent domain. */
    ProtectionDomain(ProtectionDomain below, Lifetime life, long address) {
        super(life, address, ibv_pd.sizeof());
        this.context = below.context;
        this.posts = below.posts;
    }

    static ProtectionDomain allocate(VerbsContext context) throws RdmaException {
        return Lifetime.make(ProtectionDomain.class, List.of(context.life()),
                arena -> Check.pointer(ALLOC_PD, ALLOC_PD.callLong(context.address())), ProtectionDomain::free,
                (life, address) -> new ProtectionDomain(context, life, address));
    }

    static ProtectionDomain importDomain(VerbsContext context, int kernelHandle) throws RdmaException {
        return Lifetime.make(ProtectionDomain.class, List.of(context.life()),
                arena -> Check.imported(IMPORT_PD, context.address(), kernelHandle), UNIMPORT_PD::callInt,
                (life, address) -> new ProtectionDomain(context, life, address));
    }

    static void free(long address) throws RdmaException {
        DEALLOC_PD.free(address);
    }

    /** {@return the context that this domain was allocated from} */
    public final VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /**
     * {@return the kernel's handle of this domain, for {@link VerbsContext#importProtectionDomain}
     * ({@code ibv_pd.handle})}
     */
    public final int kernelHandle() {
        return intMember(ibv_pd.handle$offset());
    }

    /**
     * Allocates zeroed, page-aligned memory and registers it ({@code ibv_reg_mr}, ibv_reg_mr(3)). Closing the region
     * deregisters and frees the memory.
     *
     * @param bytes the size in bytes, at least 1; may exceed 2 GiB
     * @param access what the memory may be used for; local read access is always granted
     * @return the new region, which owns its memory
     * @throws IllegalArgumentException if the size is not positive, or the access flags need
     *         {@link AccessFlag#LOCAL_WRITE} and lack it
     * @throws RdmaException ENOMEM if the limit of locked memory is reached
     */
    @CFunction("ibv_reg_mr")
    public final MemoryRegion allocate(long bytes, AccessFlag... access) throws RdmaException {
        return MemoryRegionFactory.of(this, access).allocate(bytes);
    }

    /**
     * Registers memory of the caller ({@code ibv_reg_mr}, ibv_reg_mr(3)): native memory of any arena, or a slice of it.
     * The arena must stay open until the region has been closed, because the device would go on accessing the memory. A
     * region keeps memory of an automatic arena alive by itself.
     *
     * @param memory native memory, not empty; must not be read-only if the access flags allow anything to write to it.
     *         With {@link AccessFlag#ZERO_BASED} it must start at a page boundary
     * @param access what the memory may be used for; local read access is always granted
     * @return the new region
     * @throws IllegalArgumentException for memory of the Java heap, empty memory, memory of a closed arena, or access
     *         flags that need {@link AccessFlag#LOCAL_WRITE} and lack it
     * @throws RdmaUnsupportedException with {@link AccessFlag#ON_DEMAND} if the device does not support on-demand
     *         paging
     * @throws RdmaException ENOMEM if the limit of locked memory is reached; EINVAL if the device refuses the access
     *         flags
     */
    @CFunction({"ibv_reg_mr", "ibv_reg_mr_iova2"})
    public final MemoryRegion register(MemorySegment memory, AccessFlag... access) throws RdmaException {
        return MemoryRegionFactory.of(this, access).register(memory);
    }

    /**
     * Registers memory of the caller as {@link #register(MemorySegment, AccessFlag...)} does, but lets work requests
     * address it by another address than the processor's ({@code ibv_reg_mr_iova}, ibv_reg_mr(3)).
     *
     * @param memory native memory, not empty
     * @param deviceAddress the address of its first byte in work requests; must have the same offset within a page as
     *         the memory
     * @param access what the memory may be used for; local read access is always granted. {@link AccessFlag#ZERO_BASED}
     *         has no effect, because the address is given
     * @return the new region
     * @throws IllegalArgumentException as for {@link #register(MemorySegment, AccessFlag...)}
     * @throws RdmaException EINVAL if the two addresses have different offsets within a page; ENOMEM if the limit of
     *         locked memory is reached
     */
    @CFunction({"ibv_reg_mr_iova", "ibv_reg_mr_iova2"})
    public final MemoryRegion registerAt(MemorySegment memory, long deviceAddress, AccessFlag... access)
            throws RdmaException {
        return MemoryRegionFactory.of(this, access).registerAt(memory, deviceAddress);
    }

    /**
     * Registers all memory of the process at once, on a device with implicit on-demand paging ({@code ibv_reg_mr} with
     * address NULL, length SIZE_MAX and {@link AccessFlag#ON_DEMAND}, ibv_reg_mr(3)). Nothing is pinned, and memory
     * that the process allocates later is included.
     *
     * @param access what the memory may be used for; local read access is always granted, and
     *         {@link AccessFlag#ON_DEMAND} is implied
     * @return the new region
     * @throws IllegalArgumentException for {@link AccessFlag#ZERO_BASED} and {@link AccessFlag#HUGETLB}, and for access
     *         flags that need {@link AccessFlag#LOCAL_WRITE} and lack it
     * @throws RdmaUnsupportedException if the device does not support implicit on-demand paging
     * @throws RdmaException ENOMEM if the device has no more memory regions
     */
    @CFunction({"ibv_reg_mr", "ibv_reg_mr_iova2"})
    public final ImplicitMemoryRegion registerAllMemory(AccessFlag... access) throws RdmaException {
        return MemoryRegionFactory.onDemand(this, access).registerAllMemory();
    }

    /**
     * Registers memory of another device, such as a GPU, that is exported as a dma-buf ({@code ibv_reg_dmabuf_mr},
     * ibv_reg_mr(3)).
     *
     * @param fd the file descriptor of the dma-buf; remains the caller's to close
     * @param offset the offset of the region in the dma-buf, in bytes
     * @param length the length of the region in bytes
     * @param deviceAddress the address of its first byte in work requests; must have the same offset within a page as
     *         {@code offset}
     * @param access what the memory may be used for: {@link AccessFlag#LOCAL_WRITE}, the remote flags and
     *         {@link AccessFlag#RELAXED_ORDERING}; local read access is always granted
     * @return the new region, whose memory this process cannot access through it
     * @throws IllegalArgumentException if the file descriptor or the offset is negative, the length is not positive, or
     *         the access flags need {@link AccessFlag#LOCAL_WRITE} and lack it
     * @throws RdmaUnsupportedException if the driver does not support dma-bufs
     * @throws RdmaException EBADF or EINVAL if the file descriptor is not that of a dma-buf, or the offsets do not
     *         match
     */
    @CFunction("ibv_reg_dmabuf_mr")
    public final MemoryRegion registerDmaBuf(int fd, long offset, long length, long deviceAddress,
            AccessFlag... access) throws RdmaException {
        return MemoryRegionFactory.of(this, access).registerDmaBuf(fd, offset, length, deviceAddress);
    }

    /**
     * Registers memory on the device itself ({@code ibv_reg_dm_mr}, ibv_alloc_dm(3)). Work requests address the region
     * from 0.
     *
     * @param memory device memory of the same context
     * @param offset the offset of the region in the device memory, in bytes
     * @param length the length of the region in bytes
     * @param access what the memory may be used for; must include {@link AccessFlag#ZERO_BASED}
     * @return the new region, whose memory this process cannot access through it
     * @throws IllegalArgumentException without {@link AccessFlag#ZERO_BASED}, or if the memory is of another context
     * @throws IndexOutOfBoundsException if the range exceeds the device memory
     * @throws RdmaUnsupportedException if the driver cannot register device memory
     * @throws RdmaException EINVAL if the device refuses the range or the access flags; ENOMEM
     */
    @CFunction("ibv_reg_dm_mr")
    public final MemoryRegion register(DeviceMemory memory, long offset, long length, AccessFlag... access)
            throws RdmaException {
        return MemoryRegionFactory.of(this, access).registerDeviceMemory(memory, offset, length);
    }

    /**
     * Allocates a null memory region ({@code ibv_alloc_null_mr}, ibv_alloc_null_mr(3)): data written to it through its
     * local key is discarded, and reads return zeros, at any offset. It has no remote key.
     *
     * @return the new region
     * @throws RdmaUnsupportedException if the device has no null regions
     * @throws RdmaException ENOMEM if the device has no more memory regions
     */
    @CFunction("ibv_alloc_null_mr")
    public final MemoryRegion allocateNullRegion() throws RdmaException {
        return MemoryRegionFactory.of(this, AccessFlag.LOCAL_WRITE).allocateNull();
    }

    /**
     * Imports a memory region that was registered by another context of the same device ({@code ibv_import_mr},
     * ibv_import_mr(3)). Closing the imported region releases only this reference; the region itself is deregistered
     * when the original is closed, which must happen last.
     *
     * @param kernelHandle the {@link MemoryRegion#kernelHandle()} of the original
     * @return the imported region, whose memory this process cannot access through it
     * @throws RdmaUnsupportedException if the driver cannot import memory regions
     * @throws RdmaException if the device has no memory region with this handle
     */
    @CFunction("ibv_import_mr")
    public final MemoryRegion importRegion(int kernelHandle) throws RdmaException {
        return MemoryRegionFactory.importRegion(this, kernelHandle);
    }

    /**
     * Advises the device on how parts of memory regions will be used ({@code ibv_advise_mr}, ibv_advise_mr(3)).
     *
     * @param advice what to do with the memory
     * @param flush whether to return only when it has been done
     * @param ranges one or more ranges of regions of this domain
     * @throws IllegalArgumentException without a range
     * @throws IndexOutOfBoundsException if a range exceeds its region
     * @throws RdmaUnsupportedException if the driver does not take advice
     * @throws RdmaException EFAULT if a region was not registered with {@link AccessFlag#ON_DEMAND} or part of a range
     *         is not mapped; EPERM if a region is not writable and the advice requires it
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
     * Allocates a memory window, which is not bound yet ({@code ibv_alloc_mw}, ibv_alloc_mw(3)).
     *
     * @param type how the window will be bound
     * @return the new window
     * @throws RdmaUnsupportedException if the device has no memory windows of this type
     * @throws RdmaException ENOMEM if the device has no more of them
     */
    @CFunction("ibv_alloc_mw")
    public final MemoryWindow allocateMemoryWindow(MemoryWindowType type) throws RdmaException {
        life().ensureOpen();
        return MemoryWindow.allocate(this, type);
    }

    /**
     * Allocates a parent domain: a protection domain on top of this one whose objects are used by one thread at a time,
     * or live in memory that the caller provides ({@code ibv_alloc_parent_domain}, ibv_alloc_parent_domain(3)).
     *
     * @param attributes the thread domain and the allocator, both optional
     * @return the new domain
     * @throws IllegalArgumentException if the thread domain is of another context
     * @throws RdmaUnsupportedException if the driver has no parent domains
     * @throws RdmaException ENOMEM
     */
    @CFunction("ibv_alloc_parent_domain")
    public ParentDomain allocateParentDomain(ParentDomainAttributes attributes) throws RdmaException {
        life().ensureOpen();
        return ParentDomain.allocate(this, attributes);
    }

    /**
     * Creates a queue pair in the RESET state ({@code ibv_create_qp}, or {@code ibv_create_qp_ex} if the attributes
     * need it; ibv_create_qp(3), ibv_create_qp_ex(3)).
     *
     * @param attributes the attributes of the queue pair; their completion queues must be of the same context
     * @return the new queue pair
     * @throws RdmaException EINVAL if a size exceeds the limits of the device, which the message then names; ENOMEM;
     *         EPERM for a raw packet queue pair without the capability CAP_NET_RAW
     * @throws RdmaUnsupportedException if the device lacks a feature that the attributes ask for
     */
    @CFunction({"ibv_create_qp", "ibv_create_qp_ex"})
    public final QueuePair createQueuePair(QueuePairInitAttributes attributes) throws RdmaException {
        life().ensureOpen();
        return QueuePairFactory.create(this, attributes);
    }

    /**
     * Creates a shared receive queue ({@code ibv_create_srq}, or {@code ibv_create_srq_ex} for the types XRC and TM;
     * ibv_create_srq(3), ibv_create_srq_ex(3)).
     *
     * @param attributes the attributes of the queue; their completion queue and XRC domain must be of the same context
     * @return the new queue
     * @throws IllegalArgumentException if the type needs a completion queue or an XRC domain that is missing
     * @throws RdmaException EINVAL if a size exceeds the limits of the device, which the message then names; ENOMEM
     * @throws RdmaUnsupportedException if the device has no shared receive queues of this type
     */
    @CFunction({"ibv_create_srq", "ibv_create_srq_ex"})
    public final SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueInitAttributes attributes)
            throws RdmaException {
        life().ensureOpen();
        return SharedReceiveQueue.create(this, attributes);
    }

    /**
     * Creates a receive work queue in the RESET state ({@code ibv_create_wq}, ibv_create_wq(3)).
     *
     * @param queue the completion queue for its receives, of the same context
     * @param maxRequests the number of receives that can be outstanding, at least 1; the device may round it up
     * @param maxScatterGather the number of scatter/gather entries that a receive can have, at least 1
     * @param flags how the queue treats packets
     * @return the new work queue
     * @throws RdmaUnsupportedException if the device has no work queues
     * @throws RdmaException EINVAL if a size exceeds the limits of the device; ENOMEM
     */
    @CFunction("ibv_create_wq")
    public final WorkQueue createWorkQueue(CompletionQueue queue, int maxRequests, int maxScatterGather,
            WorkQueueFlag... flags) throws RdmaException {
        life().ensureOpen();
        return WorkQueue.create(this, queue, maxRequests, maxScatterGather, flags);
    }

    /**
     * Creates an address handle ({@code ibv_create_ah}, ibv_create_ah(3)).
     *
     * @param attributes the destination and the route to it; RoCE requires a global route
     * @return the new address handle
     * @throws RdmaException EINVAL if the device cannot use these attributes; on RoCE another
     *         error number if the destination cannot be resolved
     */
    @CFunction("ibv_create_ah")
    public AddressHandle createAddressHandle(AddressAttributes attributes) throws RdmaException {
        life().ensureOpen();
        return AddressHandle.create(this, attributes);
    }

    /**
     * Creates an address handle to the sender of a datagram ({@code ibv_create_ah_from_wc}, ibv_create_ah_from_wc(3)).
     *
     * @param received completions whose current one is that of the datagram
     * @param header the global route header, that is, the first 40 bytes of the receive buffer
     * @param port the number of the local port on which the datagram arrived, from 1
     * @return the new address handle
     * @throws IllegalArgumentException if the completion is not that of a successful receive, or the header is shorter
     *         than 40 bytes
     * @throws RdmaException if no route back can be derived from the header
     */
    @CFunction("ibv_create_ah_from_wc")
    public AddressHandle createAddressHandle(WorkCompletions received, MemorySegment header, int port)
            throws RdmaException {
        life().ensureOpen();
        return AddressHandle.create(this, received, header, port);
    }

    /** Returns the posts that use the objects of this domain. */
    final LockGroup posts() {
        return posts;
    }

    /** Rejects an object of another context. */
    final void requireSameContext(String what, VerbsContext its) {
        if (its != context()) {
            throw new IllegalArgumentException("the " + what + " belongs to another context than the protection"
                    + " domain: " + its + ", " + context);
        }
    }

    /**
     * Returns whether queue pairs of another domain may use the objects of this one: it is the same, or a parent
     * domain.
     */
    boolean sharesPosts(ProtectionDomain other) {
        return other != null && posts == other.posts;
    }
}
