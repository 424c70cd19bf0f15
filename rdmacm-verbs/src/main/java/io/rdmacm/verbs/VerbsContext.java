// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.ibv_context;
import io.rdmacm.bindings.ibv_device;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.EthernetAddress;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.address.GidEntry;
import io.rdmacm.verbs.device.DeviceAttributes;
import io.rdmacm.verbs.device.DeviceAttributesEx;
import io.rdmacm.verbs.device.NodeType;
import io.rdmacm.verbs.device.PortAttributes;
import io.rdmacm.verbs.device.RealTimeValues;
import io.rdmacm.verbs.device.TransportType;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.driver.DriverQuirks;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.ContextPin;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.internal.query.DeviceQueries;
import io.rdmacm.verbs.internal.query.PortQueries;
import io.rdmacm.verbs.internal.query.SoftIwarp;
import io.rdmacm.verbs.queue.XrcDomainFlag;

/**
 * An open device ({@code struct ibv_context}, ibv_open_device(3)). Protection domains, completion channels, completion
 * queues and the other objects of the device are created from it. All methods are thread-safe.
 *
 * <p>There are two kinds of contexts. One that was opened by {@link Device#open()} must be closed. One that was
 * obtained from a connection manager id belongs to librdmacm, which opens each device once and keeps it open; closing
 * such a context has no effect. It counts as closed as soon as its device has been removed and nothing uses it any
 * more.
 *
 * <p>Most methods that reach the kernel fail with EIO once the device has been removed.
 */
public final class VerbsContext extends NativeObject {
    private static final NativeFunction CLOSE_DEVICE = NativeFunction.of("ibv_close_device");
    private static final Map<Long, VerbsContext> OF_LIBRDMACM = new ConcurrentHashMap<>();

    private final String deviceName;
    private final TransportType transportType;
    private final boolean softIwarp;
    // a queue that is not used; 0 for none
    private long pageKeeper;
    // the kernel's index of the device, which is never reused; -1 if it is not known
    private final int deviceIndex;
    private final boolean owned;
    private final DriverQuirks quirks;
    private final boolean postsInUserSpace;
    private final AsyncEvents events;

    private VerbsContext(Lifetime life, long address, boolean owned, int deviceIndex) {
        super(life, address, ibv_context.sizeof());
        this.owned = owned;
        this.deviceIndex = deviceIndex;
        this.events = new AsyncEvents(this, address);
        long device = nativeDevice(address);
        String name = Memory.string(device + ibv_device.name$offset());
        this.deviceName = name;
        this.transportType = TransportType.of(Memory.getInt(device, ibv_device.transport_type$offset()));
        this.softIwarp = transportType == TransportType.IWARP && SoftIwarp.is(address);
        this.pageKeeper = softIwarp ? SoftIwarp.keepPage(address) : 0;
        this.quirks = new DriverQuirks(name, Path.of(Memory.string(device + ibv_device.ibdev_path$offset())));
        this.postsInUserSpace = quirks.postsInUserSpace();
        life.describe(() -> name);
        if (!owned) {
            // Only here: the lifetime of an object that can leak must not refer to it, or the leak would go undetected.
            life.whenEnded(events::abandon);
        }
    }

    static VerbsContext open(Lifetime.Creator creator) throws RdmaException {
        return Lifetime.make(VerbsContext.class, List.of(), creator, CLOSE_DEVICE::free,
                (life, address) -> new VerbsContext(life, address, true, -1));
    }

    /** Returns the context that an id of librdmacm is bound to; always the same object for the same context. */
    static VerbsContext ofConnectionManager(long address, Supplier<ContextPin> pin) {
        int index = indexAt(address);
        return OF_LIBRDMACM.compute(address, (a, known) -> {
            if (known != null && known.isOpen() && known.deviceIndex == index) {
                return known;
            }
            if (known != null) {
                // its device was removed, and C has reused the address
                known.life().replaced();
            }
            return new VerbsContext(Lifetime.beginPinned(VerbsContext.class, pin.get()), a, false, index);
        });
    }

    /** Returns the kernel's index of the device of a context, which is never reused; -1 if it is not known. */
    static int indexAt(long address) {
        return Device.indexOf(nativeDevice(address));
    }

    private static long nativeDevice(long address) {
        return Memory.getLong(address + ibv_context.device$offset());
    }

    /** Returns whether the device is one of EFA: of all drivers, only that of EFA has nodes of no particular type. */
    boolean isEfa() {
        return Memory.getInt(nativeDevice(address()) + ibv_device.node_type$offset()) == NodeType.UNSPECIFIED.value();
    }

    /** Returns whether the device is one of {@link SoftIwarp}. */
    boolean isSoftIwarp() {
        return softIwarp;
    }

    /** Returns in what the driver differs from others. */
    DriverQuirks quirks() {
        return quirks;
    }

    /** Returns whether posting never enters the kernel. */
    boolean postsInUserSpace() {
        return postsInUserSpace;
    }

    /** {@return the name of the device, such as {@code rxe0} ({@code ibv_get_device_name})} */
    public String deviceName() {
        life().ensureOpen();
        return deviceName;
    }

    /** {@return the transport of the device ({@code ibv_device.transport_type})} */
    public TransportType transportType() {
        life().ensureOpen();
        return transportType;
    }

    /**
     * Allocates a protection domain ({@code ibv_alloc_pd}, ibv_alloc_pd(3)).
     *
     * @return the new domain
     * @throws RdmaException ENOMEM if the device has no more protection domains
     */
    @CFunction("ibv_alloc_pd")
    public ProtectionDomain allocateProtectionDomain() throws RdmaException {
        return ProtectionDomain.allocate(this);
    }

    /**
     * Imports a protection domain that was allocated by another context of the same device ({@code ibv_import_pd},
     * ibv_import_pd(3)). Closing the imported domain releases only this reference; the domain itself is freed when the
     * original is closed, which must happen last.
     *
     * @param kernelHandle the {@link ProtectionDomain#kernelHandle()} of the original
     * @return the imported domain
     * @throws RdmaUnsupportedException if the driver cannot import protection domains
     * @throws RdmaException if the device has no protection domain with this handle
     */
    @CFunction("ibv_import_pd")
    public ProtectionDomain importProtectionDomain(int kernelHandle) throws RdmaException {
        return ProtectionDomain.importDomain(this, kernelHandle);
    }

    /**
     * Allocates memory on the device ({@code ibv_alloc_dm}, ibv_alloc_dm(3)).
     *
     * @param bytes the size in bytes, from 1 to {@link DeviceAttributesEx#maxDeviceMemory}
     * @param logAlignment the base-2 logarithm of the alignment of its first byte, 0 to 63
     * @return the new device memory
     * @throws RdmaUnsupportedException if the device has no such memory
     * @throws RdmaException ENOMEM if the device does not have enough memory left
     */
    @CFunction("ibv_alloc_dm")
    public DeviceMemory allocateDeviceMemory(long bytes, int logAlignment) throws RdmaException {
        life().ensureOpen();
        return DeviceMemory.allocate(this, bytes, logAlignment);
    }

    /**
     * Imports device memory that was allocated by another context of the same device ({@code ibv_import_dm},
     * ibv_import_dm(3)). Closing the imported memory releases only this reference; the memory itself is freed when the
     * original is closed, which must happen last.
     *
     * @param kernelHandle the {@link DeviceMemory#kernelHandle()} of the original
     * @return the imported memory; its length is not known
     * @throws RdmaUnsupportedException if the driver cannot import device memory
     * @throws RdmaException if the device has no memory with this handle
     */
    @CFunction("ibv_import_dm")
    public DeviceMemory importDeviceMemory(int kernelHandle) throws RdmaException {
        return DeviceMemory.importMemory(this, kernelHandle);
    }

    /**
     * Allocates a thread domain ({@code ibv_alloc_td}, ibv_alloc_td(3)).
     *
     * @return the new domain
     * @throws RdmaUnsupportedException if the driver has no thread domains
     * @throws RdmaException ENOMEM if the device has no more of them
     */
    @CFunction("ibv_alloc_td")
    public ThreadDomain allocateThreadDomain() throws RdmaException {
        return ThreadDomain.allocate(this);
    }

    /**
     * Creates a completion channel ({@code ibv_create_comp_channel}, ibv_create_comp_channel(3)).
     *
     * @return the new channel
     * @throws RdmaException EMFILE if the limit of open files is reached
     */
    @CFunction("ibv_create_comp_channel")
    public CompletionChannel createCompletionChannel() throws RdmaException {
        return CompletionChannel.create(this);
    }

    /**
     * Creates a completion queue without a completion channel, that is, for polling only ({@code ibv_create_cq},
     * ibv_create_cq(3)).
     *
     * @param capacity the number of completions that the queue must be able to hold, at least 1; the device may round
     *         it up
     * @return the new queue
     * @throws RdmaException EINVAL if the device supports no queue of this size; ENOMEM
     */
    @CFunction("ibv_create_cq")
    public CompletionQueue createCompletionQueue(int capacity) throws RdmaException {
        return CompletionQueue.create(this, capacity, null, 0);
    }

    /**
     * Creates a completion queue whose events arrive through a completion channel ({@code ibv_create_cq},
     * ibv_create_cq(3)).
     *
     * @param capacity the number of completions that the queue must be able to hold, at least 1; the device may round
     *         it up
     * @param channel a channel of this context
     * @return the new queue
     * @throws RdmaException EINVAL if the device supports no queue of this size; ENOMEM
     */
    @CFunction("ibv_create_cq")
    public CompletionQueue createCompletionQueue(int capacity, CompletionChannel channel) throws RdmaException {
        return createCompletionQueue(capacity, channel, 0);
    }

    /**
     * Creates a completion queue whose events arrive through a completion channel, signaled by a given completion
     * vector ({@code ibv_create_cq}, ibv_create_cq(3)).
     *
     * @param capacity the number of completions that the queue must be able to hold, at least 1; the device may round
     *         it up
     * @param channel a channel of this context
     * @param completionVector the completion vector that signals events of the queue, from 0 to
     *         {@link #completionVectors()} - 1
     * @return the new queue
     * @throws RdmaException EINVAL if the device supports no queue of this size, or has no such vector; ENOMEM
     */
    @CFunction("ibv_create_cq")
    public CompletionQueue createCompletionQueue(int capacity, CompletionChannel channel, int completionVector)
            throws RdmaException {
        life().ensureOpen();
        Objects.requireNonNull(channel, "channel");
        return CompletionQueue.create(this, capacity, channel, completionVector);
    }

    /**
     * Opens a new XRC (extended reliable connected) domain that is private to this process ({@code ibv_open_xrcd},
     * ibv_open_xrcd(3)).
     *
     * @return the new domain
     * @throws RdmaUnsupportedException if the device does not support XRC
     * @throws RdmaException ENOMEM if the device has no more XRC domains
     */
    @CFunction("ibv_open_xrcd")
    public XrcDomain openXrcDomain() throws RdmaException {
        return XrcDomain.open(this);
    }

    /**
     * Opens the XRC domain that is associated with a file; all processes that open the same file share the domain
     * ({@code ibv_open_xrcd}, ibv_open_xrcd(3)).
     *
     * @param file an existing file on a local file system
     * @param flags whether the domain may, or must, be created
     * @return the domain
     * @throws RdmaException ENOENT if the file does not exist; EAGAIN if it has no domain yet and
     *         {@link XrcDomainFlag#CREAT CREAT} is not given; EINVAL if it has one and {@link XrcDomainFlag#EXCL EXCL}
     *         is given
     * @throws RdmaUnsupportedException if the device does not support XRC
     */
    @CFunction("ibv_open_xrcd")
    public XrcDomain openXrcDomain(Path file, XrcDomainFlag... flags) throws RdmaException {
        life().ensureOpen();
        return XrcDomain.open(this, file, Set.of(flags));
    }

    /**
     * Creates an extended completion queue, whose completions are read in place ({@code ibv_create_cq_ex},
     * ibv_create_cq_ex(3)).
     *
     * @param attributes the attributes of the queue; their channel and parent domain must be of this context
     * @return the new queue
     * @throws RdmaException EINVAL if the device supports no queue of this size; ENOMEM
     * @throws RdmaUnsupportedException if the driver has no extended completion queues, or cannot report one of the
     *         requested fields
     */
    @CFunction("ibv_create_cq_ex")
    public ExtendedCompletionQueue createExtendedCompletionQueue(CompletionQueueInitAttributes attributes)
            throws RdmaException {
        life().ensureOpen();
        return ExtendedCompletionQueue.create(this, attributes);
    }

    /**
     * Creates an indirection table for receive-side scaling ({@code ibv_create_rwq_ind_table},
     * ibv_create_rwq_ind_table(3)).
     *
     * @param queues the entries of the table: work queues of this context; their number must be a power of two, and the
     *         same queue may occur more than once
     * @return the new table
     * @throws RdmaUnsupportedException if the driver has no indirection tables
     * @throws RdmaException EINVAL if the table is larger than the device supports; ENOMEM
     */
    @CFunction("ibv_create_rwq_ind_table")
    public IndirectionTable createIndirectionTable(List<WorkQueue> queues) throws RdmaException {
        life().ensureOpen();
        return IndirectionTable.create(this, queues);
    }

    /** {@return the number of completion vectors of the device ({@code ibv_context.num_comp_vectors})} */
    public int completionVectors() {
        return intMember(ibv_context.num_comp_vectors$offset());
    }

    /**
     * {@return the file descriptor through which commands reach the kernel, for {@link Device#importDevice}
     * ({@code ibv_context.cmd_fd})} It belongs to this context and must not be closed.
     */
    public int commandFd() {
        return intMember(ibv_context.cmd_fd$offset());
    }

    /**
     * Queries the attributes and limits of the device ({@code ibv_query_device}, ibv_query_device(3)).
     *
     * @return the attributes at the time of the call
     * @throws RdmaException EIO if the device has been removed
     */
    @CFunction("ibv_query_device")
    public DeviceAttributes queryDevice() throws RdmaException {
        return inside(() -> DeviceQueries.queryDevice(address()));
    }

    /**
     * Queries all attributes of the device, including the extended ones ({@code ibv_query_device_ex},
     * ibv_query_device_ex(3)). If the driver does not support the extended query, only the basic attributes are filled
     * in; all others are zero or empty.
     *
     * @return the attributes at the time of the call
     * @throws RdmaException EIO if the device has been removed
     */
    @CFunction({"ibv_query_device_ex", "ibv_query_device"})
    public DeviceAttributesEx queryDeviceEx() throws RdmaException {
        return inside(() -> DeviceQueries.queryDeviceEx(address()));
    }

    /**
     * Reads the clock of the device ({@code ibv_query_rt_values_ex}, ibv_query_rt_values_ex(3)).
     *
     * @return the clock at the time of the call
     * @throws RdmaUnsupportedException if the device has no clock that can be read
     * @throws RdmaException EIO if the device has been removed
     */
    @CFunction("ibv_query_rt_values_ex")
    public RealTimeValues queryRealTimeValues() throws RdmaException {
        return inside(() -> DeviceQueries.queryRealTimeValues(address()));
    }

    /**
     * Queries the state and the attributes of a port ({@code ibv_query_port}, ibv_query_port(3)).
     *
     * @param port the port number, from 1
     * @return the attributes at the time of the call
     * @throws RdmaException EINVAL if the device has no such port
     */
    @CFunction("ibv_query_port")
    public PortAttributes queryPort(int port) throws RdmaException {
        return inside(() -> PortQueries.queryPort(address(), port));
    }

    /**
     * Queries the effective bandwidth of a port ({@code ibv_query_port_speed}, ibv_query_port_speed(3); since rdma-core
     * 62).
     *
     * @param port the port number, from 1
     * @return the bandwidth in units of 100 Mbit/s
     * @throws NativeLibraryException if the installed library is older than rdma-core 62
     * @throws RdmaUnsupportedException if the driver or the kernel does not report it
     * @throws RdmaException EINVAL if the device has no such port
     */
    @CFunction("ibv_query_port_speed")
    public long queryPortSpeed(int port) throws RdmaException {
        return inside(() -> PortQueries.queryPortSpeed(address(), port));
    }

    /**
     * Queries an entry of the GID table of a port ({@code ibv_query_gid}, ibv_query_gid(3)).
     *
     * @param port the port number, from 1
     * @param index the index in the GID table, from 0
     * @return the GID; {@linkplain Gid#isZero() zero} if the entry is empty
     * @throws RdmaException if there is no such port or index
     */
    @CFunction("ibv_query_gid")
    public Gid queryGid(int port, int index) throws RdmaException {
        return inside(() -> PortQueries.queryGid(address(), port, index));
    }

    /**
     * Queries an entry of the GID table of a port, with its type and network interface ({@code ibv_query_gid_ex},
     * ibv_query_gid_ex(3)).
     *
     * @param port the port number, from 1
     * @param index the index in the GID table, from 0
     * @return the entry
     * @throws RdmaException ENODATA if the entry is empty; EINVAL if the index is beyond the end of the table or there
     *         is no such port
     */
    @CFunction({"ibv_query_gid_ex", "_ibv_query_gid_ex"})
    public GidEntry queryGidEx(int port, int index) throws RdmaException {
        return inside(() -> PortQueries.queryGidEx(address(), port, index));
    }

    /**
     * Queries the GID tables of all ports, leaving out empty entries ({@code ibv_query_gid_table},
     * ibv_query_gid_table(3)).
     *
     * @param maxEntries the largest number of entries to return
     * @return the entries of all ports
     * @throws RdmaException EINVAL if the tables have more entries than that
     */
    @CFunction({"ibv_query_gid_table", "_ibv_query_gid_table"})
    public List<GidEntry> queryGidTable(int maxEntries) throws RdmaException {
        return inside(() -> PortQueries.queryGidTable(address(), maxEntries));
    }

    /**
     * Queries an entry of the partition key table of a port ({@code ibv_query_pkey}, ibv_query_pkey(3)).
     *
     * @param port the port number, from 1
     * @param index the index in the partition key table, from 0
     * @return the partition key, 16 bits in host byte order
     * @throws RdmaException if there is no such port or index
     */
    @CFunction("ibv_query_pkey")
    public int queryPartitionKey(int port, int index) throws RdmaException {
        return inside(() -> PortQueries.queryPartitionKey(address(), port, index));
    }

    /**
     * Finds a partition key in the table of a port ({@code ibv_get_pkey_index}, ibv_get_pkey_index(3)).
     *
     * @param port the port number, from 1
     * @param key the partition key, 16 bits in host byte order
     * @return the index of the key in the table, from 0
     * @throws RdmaException if the table does not contain the key
     */
    @CFunction("ibv_get_pkey_index")
    public int partitionKeyIndex(int port, int key) throws RdmaException {
        return inside(() -> PortQueries.partitionKeyIndex(address(), port, key));
    }

    /**
     * Derives the address of the sender of a datagram from its completion ({@code ibv_init_ah_from_wc},
     * ibv_create_ah_from_wc(3)).
     *
     * @param received completions whose current one is that of the datagram
     * @param header the global route header, that is, the first 40 bytes of the receive buffer
     * @param port the number of the local port on which the datagram arrived, from 1
     * @return the attributes of an address handle to the sender
     * @throws IllegalArgumentException if the completion is not that of a successful receive, or the header is shorter
     *         than 40 bytes
     * @throws RdmaException if no route back can be derived from the header
     */
    @CFunction("ibv_init_ah_from_wc")
    public AddressAttributes initAddressAttributes(WorkCompletions received, MemorySegment header, int port)
            throws RdmaException {
        return inside(() -> AddressHandle.attributes(this, received, header, port));
    }

    /**
     * Resolves the Ethernet address of the destination of a route ({@code ibv_resolve_eth_l2_from_gid}). If the kernel
     * does not know the neighbor yet, it asks the network, which may take several seconds.
     *
     * @param attributes address attributes with a global route
     * @return the MAC address and the VLAN
     * @throws RdmaException EHOSTUNREACH if nobody answered; EINVAL if the route is not one over Ethernet
     */
    @CFunction("ibv_resolve_eth_l2_from_gid")
    public EthernetAddress resolveEthernetAddress(AddressAttributes attributes) throws RdmaException {
        return inside(() -> PortQueries.resolveEthernetAddress(address(), attributes));
    }

    /**
     * Waits for the next asynchronous event of this context: of the device, of its ports, or of an object created from
     * this context ({@code ibv_get_async_event}, ibv_get_async_event(3)). Any number of threads may wait; each event is
     * delivered to one of them.
     *
     * @param timeout the longest time to wait; zero checks for an event without waiting
     * @return the event; closing it acknowledges it, and the object that it names cannot be closed before that
     * @throws RdmaTimeoutException if no event arrived in time
     * @throws RdmaClosedException if the context was closed by another thread
     * @throws RdmaException EMFILE if the limit of open files is reached; or if the event could not be read
     * @throws InterruptedException if this thread was interrupted; no event is lost
     */
    @CFunction("ibv_get_async_event")
    public AsyncEvent getAsyncEvent(Duration timeout) throws RdmaException, InterruptedException {
        life().enterToWait();
        try {
            return events.next(timeout);
        } finally {
            life().leaveAfterWait();
        }
    }

    /**
     * Returns the next asynchronous event if there is one, without waiting ({@code ibv_get_async_event},
     * ibv_get_async_event(3)).
     *
     * @return the event; closing it acknowledges it, and the object that it names cannot be closed before that. Empty
     *         if there is no event
     * @throws RdmaException if the event could not be read
     */
    @CFunction("ibv_get_async_event")
    public Optional<AsyncEvent> pollAsyncEvent() throws RdmaException {
        return inside(events::poll);
    }

    /**
     * Returns the file descriptor that signals asynchronous events, for use in an event loop
     * ({@code ibv_context.async_fd}). It is readable when an event is pending. It is non-blocking, belongs to this
     * context and must not be closed.
     *
     * @return the file descriptor
     * @throws RdmaException if the file cannot be made non-blocking
     */
    public int asyncFd() throws RdmaException {
        return inside(events::fd);
    }

    @FunctionalInterface
    private interface Query<T> {
        T ask() throws RdmaException;
    }

    private <T> T inside(Query<T> query) throws RdmaException {
        life().enter();
        try {
            return query.ask();
        } finally {
            life().leave();
        }
    }

    /**
     * Closes the device. Has no effect on a context that belongs to librdmacm.
     *
     * @throws IllegalStateException if an object created from this context is still open; nothing has been changed
     * @throws RdmaException if the C library fails to close it; the context then remains open
     */
    @Override
    public void close() throws RdmaException {
        if (owned) {
            super.close();
        }
    }

    @Override
    @CFunction("ibv_close_device")
    protected void destroy() throws RdmaException {
        if (pageKeeper != 0) {
            SoftIwarp.givePage(pageKeeper);
            pageKeeper = 0;
        }
        events.close(super::destroy);
    }

    @Override
    protected void wakeWaiters() {
        events.wake();
    }

    /** Returns the events of this context. Objects that events can name must be registered there. */
    AsyncEvents events() {
        return events;
    }
}
