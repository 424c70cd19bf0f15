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
import io.rdmacm.verbs.device.PortAttributes;
import io.rdmacm.verbs.device.RealTimeValues;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.driver.DriverQuirks;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.ContextPin;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.queue.XrcDomainFlag;

/**
 * An open device ({@code struct ibv_context}, ibv_open_device(3)): protection domains, completion channels and
 * completion queues are made from it. All methods are safe for use by several threads.
 *
 * <p>A context is either opened by {@link Device#open()}, and then is to be closed; or it belongs to librdmacm, which
 * opens each device once and keeps it: that one is had from a connection-manager id, and closing it does nothing. It
 * ends by itself when its device was removed and nothing uses it any more: then it is closed.
 */
public final class VerbsContext extends NativeObject {
    private static final NativeFunction CLOSE_DEVICE = NativeFunction.of("ibv_close_device");
    private static final Map<Long, VerbsContext> OF_LIBRDMACM = new ConcurrentHashMap<>();

    private final String deviceName;
    // the kernel's number of the device, which is never used again; -1 when it is not known
    private final int deviceIndex;
    private final boolean owned;
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
        this.postsInUserSpace = DriverQuirks.postsInUserSpace(name);
        life.describe(() -> name);
        if (!owned) {
            // not otherwise: the life of an object that can be lost must not refer to it
            life.whenEnded(events::abandon);
        }
    }

    static VerbsContext open(Lifetime.Creator creator) throws RdmaException {
        Lifetime life = Lifetime.begin(VerbsContext.class);
        return new VerbsContext(life, life.create(creator), true, -1);
    }

    /** Returns the context that an id of librdmacm is bound to. The same context gives the same object. */
    static VerbsContext ofConnectionManager(long address, Supplier<ContextPin> pin) {
        int index = indexAt(address);
        return OF_LIBRDMACM.compute(address, (a, known) -> {
            if (known != null && known.isOpen() && known.deviceIndex == index) {
                return known;
            }
            if (known != null) {
                // the context of a device that was removed
                known.life().replaced();
            }
            return new VerbsContext(Lifetime.beginPinned(VerbsContext.class, pin.get()), a, false, index);
        });
    }

    /** Returns the kernel's number of the device of a context, which is never used again; -1 when it is not known. */
    static int indexAt(long address) {
        return Device.indexOf(nativeDevice(address));
    }

    private static long nativeDevice(long address) {
        return Memory.getLong(address + ibv_context.device$offset());
    }

    /** Returns whether a post never enters the kernel. */
    boolean postsInUserSpace() {
        return postsInUserSpace;
    }

    /** The name of the device, such as {@code rxe0} ({@code ibv_get_device_name}). */
    public String deviceName() {
        life().ensureOpen();
        return deviceName;
    }

    /**
     * A new protection domain ({@code ibv_alloc_pd}).
     *
     * @throws RdmaException ENOMEM, when the device has no more
     */
    @CFunction("ibv_alloc_pd")
    public ProtectionDomain allocateProtectionDomain() throws RdmaException {
        return ProtectionDomain.allocate(this);
    }

    /**
     * A protection domain that another context over the same device made, by its number ({@code ibv_import_pd},
     * ibv_import_pd(3)). Its close lets go of it only; it ends with that of the other, which must come last.
     *
     * @param kernelHandle what {@link ProtectionDomain#kernelHandle()} of the other tells
     * @throws RdmaUnsupportedException when the driver cannot import
     */
    @CFunction("ibv_import_pd")
    public ProtectionDomain importProtectionDomain(int kernelHandle) throws RdmaException {
        return ProtectionDomain.importDomain(this, kernelHandle);
    }

    /**
     * Memory on the device ({@code ibv_alloc_dm}, ibv_alloc_dm(3)).
     *
     * @param bytes how many, at least 1 and at most {@link DeviceAttributesEx#maxDeviceMemory}
     * @param logAlignment it begins on a multiple of two to this power
     * @throws RdmaUnsupportedException when the device has none
     * @throws RdmaException ENOMEM, when it has not so much
     */
    @CFunction("ibv_alloc_dm")
    public DeviceMemory allocateDeviceMemory(long bytes, int logAlignment) throws RdmaException {
        life().ensureOpen();
        return DeviceMemory.allocate(this, bytes, logAlignment);
    }

    /**
     * Device memory that another context over the same device made, by its number ({@code ibv_import_dm},
     * ibv_import_dm(3)). Its close lets go of it only; it ends with that of the other, which must come last.
     *
     * @param kernelHandle what {@link DeviceMemory#kernelHandle()} of the other tells
     * @throws RdmaUnsupportedException when the driver cannot import
     */
    @CFunction("ibv_import_dm")
    public DeviceMemory importDeviceMemory(int kernelHandle) throws RdmaException {
        return DeviceMemory.importMemory(this, kernelHandle);
    }

    /**
     * A new thread domain ({@code ibv_alloc_td}, ibv_alloc_td(3)).
     *
     * @throws RdmaUnsupportedException when the device has none
     */
    @CFunction("ibv_alloc_td")
    public ThreadDomain allocateThreadDomain() throws RdmaException {
        return ThreadDomain.allocate(this);
    }

    /**
     * A new completion channel ({@code ibv_create_comp_channel}).
     *
     * @throws RdmaException EMFILE, when the limit of open files is reached
     */
    @CFunction("ibv_create_comp_channel")
    public CompletionChannel createCompletionChannel() throws RdmaException {
        return CompletionChannel.create(this);
    }

    /**
     * A new completion queue without a channel: for polling only ({@code ibv_create_cq}).
     *
     * @param capacity how many completions it must hold, at least 1; the device may give more
     * @throws RdmaException EINVAL when the device has none so large, ENOMEM
     */
    @CFunction("ibv_create_cq")
    public CompletionQueue createCompletionQueue(int capacity) throws RdmaException {
        return CompletionQueue.create(this, capacity, null, 0);
    }

    /**
     * A new completion queue whose events come through a channel ({@code ibv_create_cq}).
     *
     * @param capacity how many completions it must hold, at least 1; the device may give more
     * @param channel of the same context
     * @throws RdmaException EINVAL when the device has none so large, ENOMEM
     */
    @CFunction("ibv_create_cq")
    public CompletionQueue createCompletionQueue(int capacity, CompletionChannel channel) throws RdmaException {
        return createCompletionQueue(capacity, channel, 0);
    }

    /**
     * As {@link #createCompletionQueue(int, CompletionChannel)}, with a completion vector.
     *
     * @param capacity how many completions it must hold, at least 1; the device may give more
     * @param channel of the same context
     * @param completionVector which of the device's event vectors signals it: 0 to one less than
     *        {@link #completionVectors()}
     * @throws RdmaException EINVAL when the device has none so large, ENOMEM
     */
    @CFunction("ibv_create_cq")
    public CompletionQueue createCompletionQueue(int capacity, CompletionChannel channel, int completionVector)
            throws RdmaException {
        life().ensureOpen();
        Objects.requireNonNull(channel, "channel");
        return CompletionQueue.create(this, capacity, channel, completionVector);
    }

    /**
     * A new domain of extended reliable connections, for this process alone ({@code ibv_open_xrcd}).
     *
     * @throws RdmaUnsupportedException when the device has no such connections
     */
    @CFunction("ibv_open_xrcd")
    public XrcDomain openXrcDomain() throws RdmaException {
        return XrcDomain.open(this);
    }

    /**
     * The domain of extended reliable connections that belongs to a file: processes that open the same file share it
     * ({@code ibv_open_xrcd}).
     *
     * @param file must exist, on a local file system
     * @param flags whether it may, or must, be a new one
     * @throws RdmaException ENOENT when the file is not there, or has no domain yet and CREAT is not given; EEXIST when
     *         it has one and EXCL is given
     * @throws RdmaUnsupportedException when the device has no such connections
     */
    @CFunction("ibv_open_xrcd")
    public XrcDomain openXrcDomain(Path file, XrcDomainFlag... flags) throws RdmaException {
        life().ensureOpen();
        return XrcDomain.open(this, file, Set.of(flags));
    }

    /**
     * A new completion queue whose completions are read in place ({@code ibv_create_cq_ex}).
     *
     * @param attributes whose channel and parent domain are of this context
     * @throws RdmaException EINVAL when the device has none so large, ENOMEM
     * @throws RdmaUnsupportedException when the device has no extended completion queues, or cannot read a field
     */
    @CFunction("ibv_create_cq_ex")
    public ExtendedCompletionQueue createExtendedCompletionQueue(CompletionQueueInitAttributes attributes)
            throws RdmaException {
        life().ensureOpen();
        return ExtendedCompletionQueue.create(this, attributes);
    }

    /**
     * A new table of work queues ({@code ibv_create_rwq_ind_table}).
     *
     * @param queues of this context, a power of two of them; one may be there more than once
     * @throws RdmaUnsupportedException when the device has no work queues
     */
    @CFunction("ibv_create_rwq_ind_table")
    public IndirectionTable createIndirectionTable(List<WorkQueue> queues) throws RdmaException {
        life().ensureOpen();
        return IndirectionTable.create(this, queues);
    }

    /** How many completion vectors the device has ({@code ibv_context.num_comp_vectors}). */
    public int completionVectors() {
        return intMember(ibv_context.num_comp_vectors$offset());
    }

    /** The file descriptor of its commands, for {@link Device#importDevice} ({@code ibv_context.cmd_fd}). */
    public int commandFd() {
        return intMember(ibv_context.cmd_fd$offset());
    }

    /** What the device is, and its limits ({@code ibv_query_device}). */
    @CFunction("ibv_query_device")
    public DeviceAttributes queryDevice() throws RdmaException {
        return inside(() -> DeviceQueries.queryDevice(address()));
    }

    /**
     * What the device can do beyond that ({@code ibv_query_device_ex}). Where the driver does not know the call, only
     * the basic attributes are filled.
     */
    @CFunction({"ibv_query_device_ex", "ibv_query_device"})
    public DeviceAttributesEx queryDeviceEx() throws RdmaException {
        return inside(() -> DeviceQueries.queryDeviceEx(address()));
    }

    /**
     * What the device measures right now ({@code ibv_query_rt_values_ex}).
     *
     * @throws RdmaUnsupportedException when it has no clock that can be read
     */
    @CFunction("ibv_query_rt_values_ex")
    public RealTimeValues queryRealTimeValues() throws RdmaException {
        return inside(() -> DeviceQueries.queryRealTimeValues(address()));
    }

    /**
     * What a port is and the state it is in ({@code ibv_query_port}).
     *
     * @param port its number, beginning with 1
     * @throws RdmaException EINVAL when the device has no such port
     */
    @CFunction("ibv_query_port")
    public PortAttributes queryPort(int port) throws RdmaException {
        return inside(() -> PortQueries.queryPort(address(), port));
    }

    /**
     * A GID of a port ({@code ibv_query_gid}).
     *
     * @param port its number, beginning with 1
     * @param index its place in the table, beginning with 0
     * @return {@link Gid#isZero() zero} when that place is empty
     */
    @CFunction("ibv_query_gid")
    public Gid queryGid(int port, int index) throws RdmaException {
        return inside(() -> PortQueries.queryGid(address(), port, index));
    }

    /**
     * A GID of a port with its type and network interface ({@code ibv_query_gid_ex}).
     *
     * @param port its number, beginning with 1
     * @param index its place in the table, beginning with 0
     * @throws RdmaException ENODATA when that place is empty; EINVAL when the table is not so long
     */
    @CFunction({"ibv_query_gid_ex", "_ibv_query_gid_ex"})
    public GidEntry queryGidEx(int port, int index) throws RdmaException {
        return inside(() -> PortQueries.queryGidEx(address(), port, index));
    }

    /**
     * All GIDs of all ports, without the empty places ({@code ibv_query_gid_table}).
     *
     * @param maxEntries how many at most
     * @throws RdmaException EINVAL when there are more
     */
    @CFunction({"ibv_query_gid_table", "_ibv_query_gid_table"})
    public List<GidEntry> queryGidTable(int maxEntries) throws RdmaException {
        return inside(() -> PortQueries.queryGidTable(address(), maxEntries));
    }

    /**
     * A partition key of a port ({@code ibv_query_pkey}).
     *
     * @param port its number, beginning with 1
     * @param index its place in the table, beginning with 0
     * @return 16 bits, in the byte order of the machine
     */
    @CFunction("ibv_query_pkey")
    public int queryPartitionKey(int port, int index) throws RdmaException {
        return inside(() -> PortQueries.queryPartitionKey(address(), port, index));
    }

    /**
     * The place of a partition key in the table of a port ({@code ibv_get_pkey_index}).
     *
     * @param port its number, beginning with 1
     * @param key 16 bits, in the byte order of the machine
     * @throws RdmaException when the port has no such key
     */
    @CFunction("ibv_get_pkey_index")
    public int partitionKeyIndex(int port, int key) throws RdmaException {
        return inside(() -> PortQueries.partitionKeyIndex(address(), port, key));
    }

    /**
     * The way to whom a datagram came from ({@code ibv_init_ah_from_wc}).
     *
     * @param received the current one is the completion of the datagram
     * @param header the global route header: the first 40 bytes of the receive buffer
     * @param port the port of this device that it came in by, from 1 on
     * @throws IllegalArgumentException when the completion is not of a message that came well
     * @throws RdmaException when the header tells no way back
     */
    @CFunction("ibv_init_ah_from_wc")
    public AddressAttributes initAddressAttributes(WorkCompletions received, MemorySegment header, int port)
            throws RdmaException {
        return inside(() -> AddressHandle.attributes(this, received, header, port));
    }

    /**
     * Where the destination of a route is on Ethernet ({@code ibv_resolve_eth_l2_from_gid}). Asks the network when the
     * kernel does not know, which may take some seconds.
     *
     * @param attributes with a global route
     * @throws RdmaException EHOSTUNREACH when nobody answered; EINVAL
     */
    @CFunction("ibv_resolve_eth_l2_from_gid")
    public EthernetAddress resolveEthernetAddress(AddressAttributes attributes) throws RdmaException {
        return inside(() -> PortQueries.resolveEthernetAddress(address(), attributes));
    }

    /**
     * Waits for the next asynchronous event of this context ({@code ibv_get_async_event}): of the device, of its ports,
     * and of the objects made from this context. Any number of threads may wait.
     *
     * @param timeout how long at most; zero only looks
     * @return to be closed, which acknowledges it: the object that it names cannot be closed before
     * @throws RdmaTimeoutException when there was no event in time
     * @throws RdmaClosedException when the context was closed by another thread
     * @throws InterruptedException when this thread was interrupted; no event is lost
     */
    @CFunction("ibv_get_async_event")
    public AsyncEvent getAsyncEvent(Duration timeout) throws RdmaException, InterruptedException {
        life().enter();
        try {
            return events.next(timeout);
        } finally {
            life().leave();
        }
    }

    /**
     * Takes an asynchronous event if one is there, without waiting ({@code ibv_get_async_event}).
     *
     * @return to be closed, which acknowledges it: the object that it names cannot be closed before
     */
    @CFunction("ibv_get_async_event")
    public Optional<AsyncEvent> pollAsyncEvent() throws RdmaException {
        return inside(events::poll);
    }

    /**
     * The file descriptor of the asynchronous events, for event loops of others: readable when an event is there
     * ({@code ibv_context.async_fd}). It is non-blocking and belongs to this context: not to be closed.
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

    /** Closes the device, unless it is librdmacm's: then nothing happens. */
    @Override
    public void close() throws RdmaException {
        if (owned) {
            super.close();
        }
    }

    @Override
    @CFunction("ibv_close_device")
    protected void destroy() throws RdmaException {
        Check.returned(CLOSE_DEVICE, CLOSE_DEVICE.callInt(address()));
        events.close();
    }

    @Override
    protected void wakeWaiters() {
        events.wake();
    }

    /** What can be named by events of this context has to be known there. */
    AsyncEvents events() {
        return events;
    }
}
