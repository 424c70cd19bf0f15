// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.EnumSet;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.locks.Condition;

import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.ScatterGatherList;
import io.rdmacm.core.internal.engine.DeviceResources;
import io.rdmacm.core.internal.engine.Loop;
import io.rdmacm.core.internal.engine.Reasons;
import io.rdmacm.core.internal.engine.Workers;
import io.rdmacm.core.internal.jfr.ConnectionEvents;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.device.TransportType;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.life.Parts;
import io.rdmacm.verbs.internal.life.Stack;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.internal.wait.MixedThreadsLock;
import io.rdmacm.verbs.internal.wait.Wait;
import io.rdmacm.verbs.metrics.MetricSource;
import io.rdmacm.verbs.pool.CachedRegistration;
import io.rdmacm.verbs.pool.RegisteredSlice;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.SendOpcode;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A reliable connection that carries messages: each message arrives whole, once and in order. A message is one send of
 * the C API, without any header, so the peer may be a C program. {@link ConnectionManager#connect(InetSocketAddress,
 * Duration) ConnectionManager.connect} and {@link Listener#accept} create connections.
 *
 * <pre>{@code
 * try (Connection connection = manager.connect(peer, TIMEOUT)) {
 *     connection.send("ping".getBytes(), TIMEOUT);
 *     try (Message answer = connection.receive(TIMEOUT)) {
 *         System.out.println(new String(answer.toArray()));
 *     }
 *     connection.disconnect(TIMEOUT);
 * }
 * }</pre>
 *
 * <h2>Three ways to do the same</h2>
 *
 * <p>The methods of this class wait until they are done. Those of {@link #async()} return a future. Those of
 * {@link #queue()} call a handler and allocate nothing; they are for programs that keep many operations in flight.
 * Messages are received with {@link #receive}, or passed to the {@link ConnectionHandler} of the settings.
 *
 * <h2>Buffers</h2>
 *
 * <p>The {@link ConnectionSettings} fix the size of the largest message and the number of buffers. A message arrives in
 * a buffer of the receiver, and occupies it until {@link Message#close()}. While all buffers are occupied, the sender's
 * device retries; by default it does so without limit, and no message is lost.
 *
 * <p>{@code send(byte[])} and its variants copy a message into a buffer. {@link #message} lets the program fill in the
 * buffer itself, and {@link #send(MemoryRegion, long, long, Duration)} sends from memory that the program has
 * registered.
 *
 * <p>Messages that are longer than the buffers of the peer can be sent if both peers set
 * {@link ConnectionSettings.Builder#largeMessages}: the peer reads them from the memory of the sender.
 *
 * <p>The program can also {@link #read} and {@link #write} memory that the peer has registered, without involving the
 * peer's CPU.
 *
 * <h2>Waiting and failing</h2>
 *
 * <p>All methods may be called from any number of threads. Those that wait take a timeout, which may be zero. They poll
 * and then sleep as {@link ConnectionSettings#waiting()} says, and throw
 * <ul>
 * <li>{@link RdmaTimeoutException} when the time has run out;
 * <li>InterruptedException when the thread was interrupted;
 * <li>{@link DisconnectedException} when the connection has ended, because this side or the peer has disconnected, or
 * the peer has died. {@link #receive} throws it only after all messages that arrived before have been received;
 * <li>{@link WorkCompletionException} when the connection broke, because a message was longer than the receiver's
 * buffers, access to the peer's memory was refused, or the peer can no longer be reached;
 * <li>another RdmaException when the peer announces {@linkplain ConnectionSettings.Builder#largeMessages large
 * messages} in a way that was not agreed;
 * <li>{@link io.rdmacm.core.DeviceRemovedException DeviceRemovedException} when the device was removed;
 * <li>{@link RdmaClosedException} after {@link #close()}, also when another thread called it;
 * <li>IllegalStateException when a handler would have to wait.
 * </ul>
 * A timeout or an interrupt leaves the connection usable.
 */
public final class Connection implements MetricSource, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Connection.class);
    static final String SEND = "ibv_post_send";
    static final String RECEIVE = "ibv_post_recv";
    private static final String POLL = "ibv_poll_cq";
    // for want of memory to say it better
    private static final RdmaException OUT_OF_MEMORY = Reasons.of(POLL, new OutOfMemoryError("Java heap space"));
    private static final Set<SendOpcode> TAKES_A_RECEIVE = EnumSet.of(SendOpcode.SEND, SendOpcode.SEND_WITH_IMM,
            SendOpcode.RDMA_WRITE_WITH_IMM);
    // in nanoseconds
    private static final long MAX_POLL_INTERVAL = 1_000_000;

    // What threads wait for.
    private static final Wait.Goal<Completions> MESSAGE = (mine, none) -> mine.connection().hasMessage();
    private static final Wait.Goal<Completions> ROOM = (mine, none) -> mine.connection().hasRoom(Room.REQUEST);
    private static final Wait.Goal<Completions> ROOM_AND_BUFFER =
            (mine, none) -> mine.connection().hasRoom(Room.BUFFER);
    private static final Wait.Goal<Completions> ROOM_FOR_LARGE =
            (mine, none) -> mine.connection().hasRoom(Room.LARGE_MESSAGE);
    private static final Wait.Goal<Completions> READ_BY_PEER = (mine, number) -> mine.connection().isRead(number);
    private static final Wait.Goal<Completions> TURN = (mine, bytes) -> mine.connection().asyncOperations.takes(bytes);
    private static final Wait.Goal<Completions> COMPLETION = (mine, number) -> mine.connection().isCompleted(number);
    private static final Wait.Goal<Completions> DRAINED = (mine, none) -> mine.connection().isDrained();
    private static final Wait.Goal<Completions> LINGERED = (mine, none) -> mine.connection().hasEnded()
            || mine.connection().ring.isEmpty() && mine.connection().large.isIdle();
    private static final Wait.Goal<Completions> ANSWER = (mine, none) -> mine.connection().link.isAnswered();

    private final ConnectionManager manager;
    private final MessageLink link;
    private final ConnectionSettings settings;
    private final InetSocketAddress localAddress;
    private final InetSocketAddress peerAddress;
    private final ProtectionDomain domain;
    private final ConnectionQueues queues;
    private final Loop loop;
    private final Completions member = new Completions();
    private final long spinNanos;
    private final MixedThreadsLock lock;
    private final Condition freed;
    private final SendRing ring;
    private final ConnectionCounters.Recorder counters = new ConnectionCounters.Recorder();
    private final Operations operations;
    private final DeviceResources device;
    private final LargeMessages large;
    private final OperationQueue operationQueue = new OperationQueue(this);
    private final AsyncOperations asyncOperations;
    private final HandlerCalls calls;
    private volatile @Nullable Object attachment;
    // Everything below is guarded by the lock.
    private final ArrayDeque<ReceiveBuffer> arrived = new ArrayDeque<>();
    // why a receive failed; failures of operations are in the ring
    private @Nullable RdmaException receiveFailure;
    private @Nullable RdmaException reported;
    // threads that wait until an asynchronous operation may wait
    private int inTurn;
    // when the queue was polled for the last time by a thread that only sends
    private long lastPoll = System.nanoTime();
    // Set by the first close and never cleared: nothing can be sent or received any more.
    private boolean closing;
    // Set while a thread frees the resources; the others wait for it. Cleared without the lock, for which a thread may
    // lack the stack.
    private volatile boolean freeing;
    // Set when everything has been freed.
    private boolean closed;

    private Connection(ConnectionManager manager, MessageLink link, ConnectionSettings settings,
            DeviceResources device, ConnectionQueues queues) {
        this.manager = manager;
        this.link = link;
        this.settings = settings;
        this.localAddress = link.id().localAddress();
        this.peerAddress = Objects.requireNonNull(link.peerAddress());
        this.device = device;
        this.domain = device.domain();
        this.queues = queues;
        this.loop = queues.loop();
        this.spinNanos = settings.waiting().spinNanos();
        this.lock = loop.lock;
        this.freed = lock.newCondition();
        this.ring = queues.ring();
        this.operations = new Operations(this, ring, domain, counters, settings);
        this.large = new LargeMessages(this, link, device, queues, operations, counters, arrived);
        this.asyncOperations = new AsyncOperations(this);
        this.calls = new HandlerCalls(this, queues, operations, arrived);
    }

    /** Creates a connection for an id that is bound to a device and not connected yet. */
    static Connection create(ConnectionManager manager, MessageLink link, ConnectionSettings settings)
            throws RdmaException {
        DeviceResources device = manager.device(link.id());
        try (Parts parts = new Parts()) {
            ConnectionQueues queues = parts.add(ConnectionQueues.create(device, link.id(), settings,
                    manager.loop(settings, device)), created -> created.free(link.toString()));
            Connection connection = new Connection(manager, link, settings, device, queues);
            queues.attach(connection);
            return parts.complete(connection);
        }
    }

    /** Notes that the connection is established. Takes the lock. */
    void established() {
        try (var _ = lock.hold()) {
            calls.connected();
            loop.wake(member);
        }
    }

    /** {@return the local address} */
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    /** {@return the address of the peer; for a client, with the host name that it was given} */
    public InetSocketAddress peerAddress() {
        return peerAddress;
    }

    /** Returns how many reads and atomic operations the device may have in flight. */
    int initiatorDepth() {
        return link.initiatorDepth();
    }

    /** {@return the settings of this side} */
    public ConnectionSettings settings() {
        return settings;
    }

    /**
     * Returns the parameters that the peer sent when the connection was established.
     *
     * @return the parameters; the private data in them may be padded with zeros at the end
     */
    public ConnectionParameters peerParameters() {
        return link.peerParameters();
    }

    /**
     * {@return the size in bytes of the largest message that the peer receives as one send; empty unless both sides
     * have {@linkplain ConnectionSettings.Builder#agreedSizes told each other}}
     */
    public OptionalInt peerMessageSize() {
        AgreedSizes peer = link.peerSizes();
        return peer == null ? OptionalInt.empty() : OptionalInt.of(peer.messageSize());
    }

    /**
     * {@return the size in bytes of the largest message that the peer reads; empty unless both sides have agreed on
     * {@linkplain ConnectionSettings.Builder#largeMessages large messages}}
     */
    public OptionalInt peerLargeMessageSize() {
        AgreedSizes peer = link.peerSizes();
        return peer == null || !large.areAgreed() ? OptionalInt.empty() : OptionalInt.of(peer.largeSize());
    }

    /** Returns the size in bytes of the largest message that this side receives. */
    int receiveSize() {
        return queues.receives().messageSize();
    }

    /** {@return a copy of the private data in {@link #peerParameters()}} */
    public byte[] privateData() {
        return link.peerParameters().privateData();
    }

    /** {@return the queue pair, for queries and changes of attributes; this connection consumes its completions} */
    public QueuePair queuePair() {
        return queues.pair();
    }

    /**
     * Returns the protection domain that all connections of the manager over this device share. Register in it the
     * memory that the peer may read or write, and the local memory of operations.
     *
     * @return the domain; what the program creates in it must be closed before the manager
     */
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    /** {@return whether, as far as this side knows, the connection is established: neither closed nor ended} */
    public boolean isConnected() {
        lock.lock();
        try {
            if (!closing && !hasEnded()) {
                boolean ignored = loop.takeAll();
            }
            return !closing && !hasEnded();
        } catch (RdmaException | IllegalStateException e) {
            LOG.debug("{}: its completions could not be taken", this, e);
            return false;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Attaches an object of the program to this connection, in place of the one that was attached before.
     *
     * @param object null for none
     */
    public void attach(@Nullable Object object) {
        attachment = object;
    }

    /** {@return the object that is attached to this connection; null if there is none} */
    public @Nullable Object attachment() {
        return attachment;
    }

    /** {@return what this connection has done so far} */
    public ConnectionCounters counters() {
        try (var _ = lock.hold()) {
            return counters.snapshot(queues.receives().exhausted());
        }
    }

    /** {@return {@link #counters()} by name} */
    @Override
    public Map<String, Long> metrics() {
        return counters().metrics();
    }

    /** {@return the operations of this connection that call a handler and allocate nothing} */
    public OperationQueue queue() {
        return operationQueue;
    }

    /** {@return the operations of this connection that return a CompletableFuture} */
    public AsyncOperations async() {
        return asyncOperations;
    }

    /**
     * Sends a message ({@code IBV_WR_SEND}). The bytes are copied, so the memory can be reused when this returns. Waits
     * only when all send buffers are in flight; does not wait until the message has arrived.
     *
     * <p>A {@linkplain ConnectionSettings.Builder#largeMessages large} message in native memory is not copied: the
     * manager registers its memory and keeps the region in a {@link io.rdmacm.verbs.pool.RegistrationCache}, so that
     * the peer could read it later too; this waits until the peer has read it.
     *
     * @param data at most {@link ConnectionSettings#messageSize()} bytes, in native or heap memory, or a large message
     *        in native memory; may be empty
     * @param timeout the longest time to wait; the memory of a large message may still be read after it has run out
     * @throws IllegalArgumentException when the message is too long
     * @throws RdmaException when the message was not sent, see {@link Connection}
     * @throws InterruptedException when this thread was interrupted; the message was not sent
     */
    public void send(MemorySegment data, Duration timeout) throws RdmaException, InterruptedException {
        Deadline.requireValid(timeout);
        if (data.isNative() && large.areFor(data.byteSize())) {
            sendLarge(data, timeout);
            return;
        }
        requireFitting(data.byteSize());
        try (var _ = lock.holdInterruptibly()) {
            await(ROOM_AND_BUFFER, 0, timeout, SEND);
            operations.sendCopy(data, null);
        }
    }

    /**
     * Sends a message, like {@link #send(MemorySegment, Duration)}.
     *
     * @param data at most {@link ConnectionSettings#messageSize()} bytes
     * @param timeout the longest time to wait
     * @throws IllegalArgumentException when the message is too long
     * @throws RdmaException when the message was not sent, see {@link Connection}
     * @throws InterruptedException when this thread was interrupted; the message was not sent
     */
    public void send(byte[] data, Duration timeout) throws RdmaException, InterruptedException {
        Deadline.requireValid(timeout);
        requireFitting(data.length);
        try (var _ = lock.holdInterruptibly()) {
            await(ROOM_AND_BUFFER, 0, timeout, SEND);
            operations.sendCopy(data);
        }
    }

    /**
     * Sends the bytes from the position of a buffer to its limit as a message, like
     * {@link #send(MemorySegment, Duration)}, and sets the position to the limit.
     *
     * @param data with at most {@link ConnectionSettings#messageSize()} bytes remaining
     * @param timeout the longest time to wait
     * @throws IllegalArgumentException when the message is too long
     * @throws RdmaException when the message was not sent, see {@link Connection}
     * @throws InterruptedException when this thread was interrupted; the message was not sent
     */
    public void send(ByteBuffer data, Duration timeout) throws RdmaException, InterruptedException {
        send(MemorySegment.ofBuffer(data), timeout);
        data.position(data.limit());
    }

    /**
     * Sends part of a memory region as a message ({@code IBV_WR_SEND}), without copying it, and waits until the peer's
     * device has acknowledged it, so that the memory can be reused. A
     * {@linkplain ConnectionSettings.Builder#largeMessages large} message is read by the peer, and this waits until it
     * has been; the peer reads while its program waits in a method of the connection, or has a handler.
     *
     * @param region a region of {@link #protectionDomain()}; for a large message with
     *        {@link io.rdmacm.verbs.work.AccessFlag#REMOTE_READ}
     * @param offset where the message is in the region, in bytes
     * @param length the length in bytes, which may be more than {@link ConnectionSettings#messageSize()} of this side
     * @param timeout the longest time to wait; the memory may still be in use after it has run out
     * @throws IndexOutOfBoundsException when the offset and the length are not within the region
     * @throws IllegalArgumentException when the region belongs to another protection domain, the peer does not receive
     *         so long a message, or cannot read it in the region
     * @throws RdmaException when the message was not sent, not acknowledged or not read, see {@link Connection}
     * @throws InterruptedException when this thread was interrupted; the memory may still be in use
     */
    public void send(MemoryRegion region, long offset, long length, Duration timeout)
            throws RdmaException, InterruptedException {
        if (large.areFor(length)) {
            large.check(region, offset, length);
            sendLarge(region, offset, length, null, timeout);
            return;
        }
        operate(SendOpcode.SEND, region, offset, length, null, 0, timeout);
    }

    /**
     * Sends several parts of memory as one message ({@code IBV_WR_SEND}), without copying them, and waits until the
     * peer's device has acknowledged it.
     *
     * @param parts at most {@link ConnectionSettings#scatterGather()} parts of regions of {@link #protectionDomain()}
     * @param timeout the longest time to wait; the memory may still be in use after it has run out
     * @throws IllegalArgumentException when there are too many parts, or a region belongs to another protection domain
     * @throws RdmaException when the message was not sent or not acknowledged, see {@link Connection}
     * @throws InterruptedException when this thread was interrupted; the memory may still be in use
     */
    public void send(ScatterGatherList parts, Duration timeout) throws RdmaException, InterruptedException {
        operate(SendOpcode.SEND, parts, null, timeout);
    }

    /**
     * Returns a message to be filled in and sent without copying. Waits only when all send buffers are in use.
     *
     * @param length the length of the message, from 0 to {@link ConnectionSettings#messageSize()}
     * @param timeout the longest time to wait
     * @return the message, to be sent or closed
     * @throws IllegalArgumentException when the length is negative or too large
     * @throws RdmaException when no message can be sent any more, see {@link Connection}
     * @throws InterruptedException when this thread was interrupted
     */
    public OutgoingMessage message(int length, Duration timeout) throws RdmaException, InterruptedException {
        Deadline.requireValid(timeout);
        requireFitting(length);
        try (var _ = lock.holdInterruptibly()) {
            await(ROOM_AND_BUFFER, 0, timeout, SEND);
            return new OutgoingMessage(this, ring.takeSlice(), length);
        }
    }

    /**
     * Waits for the next message.
     *
     * @param timeout the longest time to wait; zero to take a message only if one is there
     * @return the message, to be closed, which makes its buffer available again
     * @throws IllegalStateException when this connection has a {@link ConnectionHandler}
     * @throws RdmaTimeoutException when no message arrived in time
     * @throws DisconnectedException when the connection has ended and all messages have been received
     * @throws RdmaException when no message can arrive any more, see {@link Connection}
     * @throws InterruptedException when this thread was interrupted; no message is lost
     */
    public Message receive(Duration timeout) throws RdmaException, InterruptedException {
        Deadline.requireValid(timeout);
        requireNoHandler();
        try (var _ = lock.holdInterruptibly()) {
            await(MESSAGE, 0, timeout, RECEIVE);
            return new Message(this, arrived.remove());
        }
    }

    /**
     * Takes the next message if one is there, without waiting.
     *
     * @return the message, to be closed; null if there is none
     * @throws IllegalStateException when this connection has a {@link ConnectionHandler}
     * @throws DisconnectedException when the connection has ended and all messages have been received
     * @throws RdmaException when no message can arrive any more, see {@link Connection}
     */
    public @Nullable Message tryReceive() throws RdmaException {
        requireNoHandler();
        try (var _ = lock.hold()) {
            if (arrived.isEmpty()) {
                requireOpen(RECEIVE);
                boolean ignored = loop.poll();
            }
            return hasMessage() ? new Message(this, arrived.remove()) : null;
        }
    }

    /**
     * Reads the peer's memory ({@code IBV_WR_RDMA_READ}), and waits until the data has arrived.
     *
     * @param local the region to read into, of {@link #protectionDomain()}, with
     *        {@link io.rdmacm.verbs.work.AccessFlag#LOCAL_WRITE}
     * @param offset where the data goes in the local region, in bytes
     * @param length how many bytes to read, less than 2 GiB
     * @param remote the peer's memory to read from, which the peer has from {@link MemoryRegion#remoteMemory()}; the
     *        first {@code length} bytes of it are read
     * @param timeout the longest time to wait; the local memory may still be written after it has run out
     * @throws IndexOutOfBoundsException when the offset and the length are not within the local region, or the length
     *         is more than that of the remote memory
     * @throws IllegalArgumentException when the region belongs to another protection domain, or lacks LOCAL_WRITE
     * @throws WorkCompletionException when the peer does not permit the read, which also ends the connection
     * @throws RdmaException when the read failed or did not complete in time, see {@link Connection}
     * @throws InterruptedException when this thread was interrupted; the local memory may still be written
     */
    public void read(MemoryRegion local, long offset, long length, RemoteMemory remote, Duration timeout)
            throws RdmaException, InterruptedException {
        operate(SendOpcode.RDMA_READ, local, offset, length, remote, 0, timeout);
    }

    /**
     * Reads the peer's memory into several parts of local memory, which are filled one after the other, like
     * {@link #read(MemoryRegion, long, long, RemoteMemory, Duration)}.
     *
     * @param parts at most {@link ConnectionSettings#scatterGather()} parts of regions of {@link #protectionDomain()}
     * @param remote the peer's memory, of which as many bytes are read as the parts have
     * @param timeout the longest time to wait; the local memory may still be written after it has run out
     * @throws IllegalArgumentException when there are too many parts, or a region belongs to another protection domain
     *         or lacks LOCAL_WRITE
     * @throws IndexOutOfBoundsException when the parts have more bytes than the remote memory
     * @throws RdmaException when the read failed or did not complete in time, see {@link Connection}
     * @throws InterruptedException when this thread was interrupted; the local memory may still be written
     */
    public void read(ScatterGatherList parts, RemoteMemory remote, Duration timeout)
            throws RdmaException, InterruptedException {
        operate(SendOpcode.RDMA_READ, parts, remote, timeout);
    }

    /**
     * Writes several parts of local memory to the peer's memory, one after the other, like
     * {@link #write(MemoryRegion, long, long, RemoteMemory, Duration)}.
     *
     * @param parts at most {@link ConnectionSettings#scatterGather()} parts of regions of {@link #protectionDomain()}
     * @param remote the peer's memory, of which as many bytes are written as the parts have
     * @param timeout the longest time to wait; the peer's memory may still be written after it has run out
     * @throws IllegalArgumentException when there are too many parts, or a region belongs to another protection domain
     * @throws IndexOutOfBoundsException when the parts have more bytes than the remote memory
     * @throws RdmaException when the write failed or did not complete in time, see {@link Connection}
     * @throws InterruptedException when this thread was interrupted; the peer's memory may still be written
     */
    public void write(ScatterGatherList parts, RemoteMemory remote, Duration timeout)
            throws RdmaException, InterruptedException {
        operate(SendOpcode.RDMA_WRITE, parts, remote, timeout);
    }

    /**
     * Writes to the peer's memory ({@code IBV_WR_RDMA_WRITE}), and waits until the peer's device has acknowledged it.
     * The peer's program does not notice a write; send a message after it, or use {@link #writeWithImmediate}.
     *
     * @param local the region to write from, of {@link #protectionDomain()}
     * @param offset where the data is in the local region, in bytes
     * @param length how many bytes to write, less than 2 GiB
     * @param remote the peer's memory to write to, which the peer has from {@link MemoryRegion#remoteMemory()}; the
     *        first {@code length} bytes of it are written
     * @param timeout the longest time to wait; the peer's memory may still be written after it has run out
     * @throws IndexOutOfBoundsException when the offset and the length are not within the local region, or the length
     *         is more than that of the remote memory
     * @throws IllegalArgumentException when the region belongs to another protection domain
     * @throws WorkCompletionException when the peer does not permit the write, which also ends the connection
     * @throws RdmaException when the write failed or did not complete in time, see {@link Connection}
     * @throws InterruptedException when this thread was interrupted; the peer's memory may still be written
     */
    public void write(MemoryRegion local, long offset, long length, RemoteMemory remote, Duration timeout)
            throws RdmaException, InterruptedException {
        operate(SendOpcode.RDMA_WRITE, local, offset, length, remote, 0, timeout);
    }

    /**
     * Writes to the peer's memory and tells the peer ({@code IBV_WR_RDMA_WRITE_WITH_IMM}), like {@link #write}. The
     * peer receives the immediate value in the order of the messages; the write occupies one of its receive buffers.
     *
     * @param local the region to write from, of {@link #protectionDomain()}
     * @param offset where the data is in the local region, in bytes
     * @param length how many bytes to write, less than 2 GiB
     * @param remote the peer's memory to write to; {@link RemoteMemory#NONE} to write no bytes
     * @param immediate the value for the peer, in the byte order of this machine; it is sent in network byte order
     * @param timeout the longest time to wait; the peer's memory may still be written after it has run out
     * @throws IndexOutOfBoundsException when the offset and the length are not within the local region, or the length
     *         is more than that of the remote memory
     * @throws IllegalArgumentException when the region belongs to another protection domain
     * @throws WorkCompletionException when the peer does not permit the write, which also ends the connection
     * @throws RdmaException when the write failed or did not complete in time, see {@link Connection}
     * @throws InterruptedException when this thread was interrupted; the peer's memory may still be written
     */
    public void writeWithImmediate(MemoryRegion local, long offset, long length, RemoteMemory remote, int immediate,
            Duration timeout) throws RdmaException, InterruptedException {
        operate(SendOpcode.RDMA_WRITE_WITH_IMM, local, offset, length, remote, immediate, timeout);
    }

    /**
     * Compares 8 bytes of the peer's memory with a value, and if they are equal, replaces them
     * ({@code IBV_WR_ATOMIC_CMP_AND_SWP}).
     *
     * @param remote the peer's memory, whose first 8 bytes are meant; its region needs
     *        {@link io.rdmacm.verbs.work.AccessFlag#REMOTE_ATOMIC}
     * @param expected the value to compare with, in the byte order of the peer's machine
     * @param replacement the new value
     * @param timeout the longest time to wait; the peer's memory may still be changed after it has run out
     * @return the value before; the replacement was made if it is the expected one
     * @throws IllegalArgumentException when the address is not a multiple of 8
     * @throws IndexOutOfBoundsException when the remote memory has less than 8 bytes
     * @throws WorkCompletionException when the peer does not permit it, which also ends the connection
     * @throws RdmaException when the operation failed or did not complete in time, see {@link Connection}
     * @throws InterruptedException when this thread was interrupted; the peer's memory may still be changed
     */
    public long compareAndSwap(RemoteMemory remote, long expected, long replacement, Duration timeout)
            throws RdmaException, InterruptedException {
        return atomic(SendOpcode.ATOMIC_CMP_AND_SWP, remote, expected, replacement, timeout);
    }

    /**
     * Adds to 8 bytes of the peer's memory ({@code IBV_WR_ATOMIC_FETCH_AND_ADD}).
     *
     * @param remote the peer's memory, whose first 8 bytes are meant; its region needs
     *        {@link io.rdmacm.verbs.work.AccessFlag#REMOTE_ATOMIC}
     * @param summand the value to add
     * @param timeout the longest time to wait; the peer's memory may still be changed after it has run out
     * @return the value before, in the byte order of the peer's machine
     * @throws IllegalArgumentException when the address is not a multiple of 8
     * @throws IndexOutOfBoundsException when the remote memory has less than 8 bytes
     * @throws WorkCompletionException when the peer does not permit it, which also ends the connection
     * @throws RdmaException when the operation failed or did not complete in time, see {@link Connection}
     * @throws InterruptedException when this thread was interrupted; the peer's memory may still be changed
     */
    public long fetchAndAdd(RemoteMemory remote, long summand, Duration timeout)
            throws RdmaException, InterruptedException {
        return atomic(SendOpcode.ATOMIC_FETCH_AND_ADD, remote, summand, 0, timeout);
    }

    /**
     * Waits until everything that was sent has arrived, and ends the connection. Messages that have arrived here can
     * still be received. Does not wait for the peer to confirm.
     *
     * @param timeout the longest time to wait; if it runs out, the connection is not ended
     * @throws RdmaTimeoutException when messages are still in flight
     * @throws RdmaClosedException when the connection is closed
     * @throws RdmaException when the connection could not be ended
     * @throws InterruptedException when this thread was interrupted; the connection is not ended
     */
    public void disconnect(Duration timeout) throws RdmaException, InterruptedException {
        Deadline.requireValid(timeout);
        try (var _ = lock.holdInterruptibly()) {
            requireOpen(SEND);
            if (!hasEnded()) {
                await(DRAINED, 0, timeout, SEND);
                requireOpen(SEND);
            }
            link.disconnect();
        }
    }

    /**
     * Ends the connection and frees its resources. Waits for messages in flight and for the peer's answer to the
     * disconnect, but no longer than {@link ConnectionSettings#linger()}, and not at all if the thread is interrupted.
     * Messages that were not received are lost. Inside a handler, it returns at once and another thread does the rest.
     * Has no effect when called again.
     *
     * @throws IllegalStateException when an object that the program created with a part of the connection, such as a
     *         queue pair that uses its completion queue, is still open. Nothing can be sent or received any more;
     *         call this again when that object is closed.
     * @throws RdmaException when C cannot free an object; call this again
     */
    @Override
    public void close() throws RdmaException {
        close(Deadline.after(settings.linger()));
    }

    void close(Deadline deadline) throws RdmaException {
        Stack.require();
        if (!beginClose(deadline)) {
            return;
        }
        boolean done = false;
        try {
            freeQueues();
            link.close();
            done = true;
        } finally {
            freeing = false;
            endClose(done);
        }
        manager.forget(this);
    }

    /** Frees the queues of a connection that was not established and that nobody knows, unless it was closed. */
    void discard() throws RdmaException {
        try (var _ = lock.hold()) {
            if (closing) {
                return;
            }
            closing = true;
            closed = true;
        }
        freeQueues();
    }

    private void freeQueues() throws RdmaException {
        queues.close(this);
        try (var _ = lock.hold()) {
            large.close();
        }
    }

    /** Ends the connection. Returns whether the caller must free the resources. */
    private boolean beginClose(Deadline deadline) {
        try (var _ = lock.hold()) {
            closing = true;
            loop.wake(member);
            if (loop.isInHandler()) {
                Workers.executeClose(() -> closeLater(deadline));
                return false;
            }
            while (freeing) {
                freed.awaitUninterruptibly();
            }
            if (closed) {
                return false;
            }
            freeing = true;
            boolean lingered = false;
            try {
                linger(deadline);
                calls.detached();
                lingered = true;
                return true;
            } finally {
                if (!lingered) {
                    // an Error: whoever closes this again must not wait for this thread
                    freeing = false;
                }
            }
        }
    }

    private void endClose(boolean done) {
        try (var _ = lock.hold()) {
            closed = done;
            freed.signalAll();
            if (!calls.takesMessages()) {
                arrived.forEach(this::giveBackQuietly);
                arrived.clear();
            }
            makeProgress();
            calls.ended();
            calls.ready();
            loop.dispatch();
        }
    }

    private void closeLater(Deadline deadline) {
        try {
            close(deadline);
        } catch (RdmaException | IllegalStateException e) {
            LOG.warn("{} could not be closed", this, e);
        }
    }

    /** Waits for messages in flight and disconnects, as far as that is possible. With the lock held. */
    private void linger(Deadline deadline) {
        try {
            if (!hasEnded()) {
                operations.signalLast();
                await(LINGERED, 0, deadline.remaining(), SEND);
            }
            link.disconnect();
            if (link.isDisconnected()) {
                await(ANSWER, 0, deadline.remaining(), "rdma_disconnect");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RdmaException | RuntimeException e) {
            // IllegalStateException if the program has closed the completion queue; nothing may stop the caller
            LOG.debug("{}: messages in flight may be lost", this, e);
        }
        disconnectQuietly();
    }

    /** What the loop knows of this connection, and what threads wait for. */
    final class Completions extends Loop.Member {
        Connection connection() {
            return Connection.this;
        }

        @Override
        protected void completed(WorkCompletions completion) {
            Connection.this.completed(completion);
        }

        @Override
        protected void callHandlers() {
            calls.call();
        }

        @Override
        protected void failed(Throwable reason) {
            Connection.this.failed(reason);
        }

        @Override
        protected @Nullable Object sleepBegins() {
            return ConnectionEvents.sleepBegins();
        }

        @Override
        protected void sleepEnds(@Nullable Object begun, long nanos, boolean leading) {
            counters.slept(nanos);
            ConnectionEvents.sleepEnds(begun, localAddress, peerAddress, leading);
        }

        @Override
        public String toString() {
            return Connection.this.toString();
        }
    }

    /** Checks that this thread is not inside a handler of the loop. Does not take the lock. */
    void requireNotInHandler() {
        loop.requireNoHandler();
    }

    Completions member() {
        return member;
    }

    /** Waits until a goal is reached. Called with the lock held. */
    void await(Wait.Goal<? super Completions> goal, long argument, Duration timeout, String function)
            throws RdmaException, InterruptedException {
        await(goal, argument, timeout, timeout, function);
    }

    /** Waits no longer than what is left of a timeout, which is the one that the program knows. */
    private void await(Wait.Goal<? super Completions> goal, long argument, Duration remaining, Duration timeout,
            String function) throws RdmaException, InterruptedException {
        if (goal.isReached(member, argument)) {
            return;
        }
        loop.requireNoHandler();
        if (!calls.isDriver()) {
            operations.post();
        }
        if (!loop.await(member, goal, argument, remaining, spinNanos)) {
            throw new RdmaTimeoutException(function, function + ": " + whatIsMissing(goal) + " within " + timeout
                    + " on " + this);
        }
    }

    /** Returns what a thread has waited for in vain. */
    private String whatIsMissing(Wait.Goal<? super Completions> goal) {
        if (goal == MESSAGE) {
            int held = queues.receives().held();
            int count = queues.receives().count();
            String unread = large.missing();
            if (unread != null) {
                return unread;
            }
            return held < count ? "no message arrived" : "no message could arrive, because " + held + " of " + count
                    + " receive buffers are held by messages that were not closed,";
        }
        if (goal == ANSWER) {
            return "the peer did not answer the disconnect";
        }
        if (ring.isEmpty() && large.unread() > 0) {
            return "the peer has not read " + large.unread() + " large messages, as when it neither receives nor closes"
                    + " them,";
        }
        if (ring.isEmpty()) {
            return "no send buffer came back from messages that were neither sent nor closed";
        }
        SendOpcode oldest = ring.oldest();
        long pending = ring.pending();
        String late = pending == 1 ? oldest + " was not acknowledged"
                : pending + " operations were not acknowledged, the oldest of them " + oldest;
        if (!TAKES_A_RECEIVE.contains(oldest)) {
            return late;
        }
        return late + ", as when the peer has no receive posted"
                + (arrived.isEmpty() ? "," : ": " + arrived.size() + " of its messages have arrived and were not"
                        + " received; where both sides send first, each waits for the other;");
    }

    // For the other classes of this package; with the lock held unless they say otherwise.

    Operations operations() {
        return operations;
    }

    HandlerCalls calls() {
        return calls;
    }

    LargeMessages large() {
        return large;
    }

    /** Starts what has waited for room. */
    void makeProgress() {
        large.progress();
        asyncOperations.startWaiting();
    }

    /** Returns whether nothing can be sent or received any more. */
    private boolean isOver() {
        return closing || hasEnded();
    }

    /** Takes what is left of the completions after the end. */
    void takeLast() {
        try {
            boolean ignored = loop.takeAll();
        } catch (RdmaException | IllegalStateException e) {
            LOG.debug("{}: completions may be lost", this, e);
        }
    }

    /** Ends the connection, because nothing can be received any more. */
    void failReceive(RdmaException reason) {
        receiveFailure = receiveFailure == null ? reason : receiveFailure;
        broken(reason);
    }

    /** Handles a completion. */
    void completed(WorkCompletions completions) {
        long id = completions.workRequestId();
        RdmaException reason = completions.succeeded() ? null : reasonOf(completions);
        if (id < 0) {
            ReceiveBuffer buffer = queues.receives().take(id);
            if (reason == null) {
                buffer.arrived(completions.byteLength(),
                        completions.opcode() == WorkCompletionOpcode.RECV_RDMA_WITH_IMM, completions.hasImmediate(),
                        completions.hasImmediate() ? completions.immediate() : 0);
                if (large.areTold(completions)) {
                    large.told(buffer);
                } else {
                    counters.received(completions.byteLength());
                    large.arrived(buffer);
                }
                makeProgress();
            } else {
                queues.receives().failed(buffer);
                receiveFailure = receiveFailure == null ? reason : receiveFailure;
            }
        } else {
            ring.complete(id, reason);
            makeProgress();
        }
        if (reason != null) {
            recordFailure(completions);
            broken(reason);
        }
        if (ring.hasReport() || calls.hasHandler() || asyncOperations.hasFailed() || large.hasReport()) {
            calls.ready();
        }
    }

    /** Ends the connection, because a work request has failed. */
    void broken(RdmaException reason) {
        if (reason != reported) {
            // Flushed requests share one exception, which is of no interest if the end is known.
            reported = reason;
            LOG.debug("{} has ended: {}", this, reason.getMessage());
        }
        if (isFlush(reason) && domain.context().transportType() == TransportType.IWARP) {
            link.flushed();
        } else {
            disconnectQuietly();
        }
        hasEndedNow();
    }

    /** Ends the connection, because its loop has ended, or an Error has left its state unknown. */
    private void failed(Throwable reason) {
        RdmaException failed = reasonOf(reason);
        receiveFailure = receiveFailure == null ? failed : receiveFailure;
        ring.abandon(failed);
        // First, because whoever is told may free the memory that the rest takes.
        hasEndedNow();
        broken(failed);
        LOG.error("{} has ended", this, reason);
    }

    static RdmaException reasonOf(Throwable thrown) {
        try {
            return Reasons.of(POLL, thrown);
        } catch (OutOfMemoryError e) {
            return OUT_OF_MEMORY;
        }
    }

    /**
     * Checks that the peer can be reached, unless something is in flight or another thread holds the lock. Returns
     * whether the connection may go on.
     */
    boolean keepAlive() {
        if (!lock.tryLock()) {
            return true;
        }
        try {
            if (closing || hasEnded()) {
                return false;
            }
            boolean ignored = loop.takeAll();
            operations.keepAlive();
            return true;
        } catch (RdmaException | IllegalStateException e) {
            LOG.debug("{}: the peer could not be checked", this, e);
            return !closing;
        } finally {
            lock.unlock();
        }
    }

    /** Notes that an event of the connection manager has changed the state of the link. Takes the lock. */
    void linkChanged() {
        try (var _ = lock.hold()) {
            if (link.isAnswered() && VerbsAccess.get().losesLateRequests(domain.context())) {
                abandonLost();
            }
            if (hasEnded()) {
                hasEndedNow();
            }
            loop.wake(member);
        }
    }

    /** Fails what the device was given after the end, and so has lost. What it has completed is in the queue. */
    private void abandonLost() {
        takeLast();
        ring.abandon(endReason(SEND));
    }

    private void recordFailure(WorkCompletions completions) {
        if (ConnectionEvents.recordsFailures() && completions.status() != WorkCompletionStatus.WR_FLUSH_ERR) {
            ConnectionEvents.failure(localAddress, peerAddress, completions.status(), completions.vendorError(),
                    completions.workRequestId(), completions.queuePairNumber());
        }
    }

    /** Records that this side disconnects. */
    void recordDisconnect(boolean byPeer) {
        if (ConnectionEvents.recordsDisconnects()) {
            ConnectionEvents.disconnect(localAddress, peerAddress, byPeer, endReason(RECEIVE).toString());
        }
    }

    /** Checks that the connection can be used. */
    void requireUsable() throws RdmaException {
        requireUsable(SEND);
    }

    /** Returns whether an operation can be started, or would fail at once. */
    boolean canStart(Room room) {
        try {
            return isOver() || hasFree(room);
        } catch (RdmaException e) {
            // It will fail at once.
            receiveFailure = receiveFailure == null ? e : receiveFailure;
            disconnectQuietly();
            calls.ended();
            return true;
        }
    }

    /** Returns whether an operation of the queue can be started. */
    boolean isWritable(Room room) {
        return !asyncOperations.isWaiting() && canStart(room);
    }

    RegisteredSlice takeBuffer() throws RdmaException {
        return ring.takeSlice();
    }

    /** Returns why the connection has ended, for what is not done any more. */
    RdmaException endReason(String what) {
        try {
            requireUsable(what);
            return link.disconnected(what + " on " + this);
        } catch (RdmaException e) {
            return e;
        }
    }

    /** Returns why an operation failed: for those that were flushed, why the connection has ended. */
    @Nullable RdmaException cause(@Nullable RdmaException failure) {
        return failure != null && isFlush(failure) ? endReason(SEND) : failure;
    }

    /** Gives a send buffer back. Takes the lock. */
    void giveBack(RegisteredSlice slice) {
        try (var _ = lock.hold()) {
            ring.giveBack(slice);
            calls.bufferReturned();
            loop.wake(member);
        }
    }

    /** Discards a message that was not sent. Takes the lock. */
    void discard(OutgoingMessage message) {
        try (var _ = lock.hold()) {
            RegisteredSlice slice = message.release();
            if (slice != null) {
                giveBack(slice);
                makeProgress();
            }
        }
    }

    /** Sends a message that was filled in. Takes the lock. */
    void send(OutgoingMessage message, boolean withImmediate, int immediate, Duration timeout)
            throws RdmaException, InterruptedException {
        Deadline.requireValid(timeout);
        if (withImmediate) {
            large.requireOther(immediate);
        }
        try (var _ = lock.holdInterruptibly()) {
            RegisteredSlice ignored = message.slice();
            await(ROOM, 0, timeout, SEND);
            // Another thread may have sent it meanwhile.
            RegisteredSlice slice = message.slice();
            message.release();
            operations.sendSlice(slice, message.length(), withImmediate, immediate, null);
        }
    }

    /** Gives the buffer of a message back, unless it is closed. Takes the lock. */
    void giveBack(Message message) throws RdmaException {
        try (var _ = lock.hold()) {
            ReceiveBuffer buffer = message.release();
            if (buffer != null) {
                giveBack(buffer);
            }
        }
    }

    void giveBackQuietly(ReceiveBuffer buffer) {
        try {
            buffer.owner().giveBack(buffer);
        } catch (RdmaException | IllegalStateException e) {
            LOG.debug("{}: a receive could not be posted", this, e);
        }
    }

    /** Gives the buffer of a message back that a handler has left open. */
    void takeBack(Message message) {
        try {
            giveBack(message);
        } catch (RdmaException | IllegalStateException e) {
            LOG.debug("{}: a receive could not be posted", this, e);
        }
    }

    /** Moves a message to a new object. Takes the lock. */
    Message retain(Message message) {
        try (var _ = lock.hold()) {
            Message retained = new Message(this, message.buffer());
            message.release();
            return retained;
        }
    }

    private void giveBack(ReceiveBuffer buffer) throws RdmaException {
        try {
            buffer.owner().giveBack(buffer);
        } catch (RdmaException | IllegalStateException e) {
            if (!closing && !hasEnded()) {
                throw e;
            }
        }
    }

    /** Returns how many operations can be started. Takes the lock. */
    int freeOperations() {
        try (var _ = lock.hold()) {
            return isOver() || asyncOperations.isWaiting() ? 0 : ring.free();
        }
    }

    /** Runs a task and posts what it has started. Takes the lock. */
    void batch(OperationQueue.Batch task) throws RdmaException {
        try (var _ = lock.hold()) {
            operations.beginBatch();
        }
        try {
            task.run();
        } finally {
            try (var _ = lock.hold()) {
                operations.endBatch();
            }
        }
    }

    /** Sends a copy of a message if there is room. Takes the lock. */
    boolean trySend(MemorySegment data) throws RdmaException {
        requireFitting(data.byteSize());
        try (var _ = lock.hold()) {
            if (!tryRoom(Room.BUFFER)) {
                return false;
            }
            operations.sendCopy(data, null);
            return true;
        }
    }

    /** Announces a large message if there is room. Takes the lock. */
    boolean tryAnnounce(MemoryRegion region, long offset, long length, @Nullable OperationHandler handler, long context)
            throws RdmaException {
        large.check(region, offset, length);
        try (var _ = lock.hold()) {
            if (!tryRoom(Room.LARGE_MESSAGE)) {
                return false;
            }
            large.announce(region, offset, length, handler, context, null);
            if (handler != null) {
                calls.ensureDriver();
            }
            return true;
        }
    }

    /** Starts an operation if there is room. Takes the lock. */
    boolean tryOperate(SendOpcode opcode, MemoryRegion region, long offset, long length, @Nullable RemoteMemory remote,
            long remoteOffset, int immediate, @Nullable OperationHandler handler, long context) throws RdmaException {
        operations.check(opcode, region, offset, length, remote, remoteOffset);
        try (var _ = lock.hold()) {
            if (!tryRoom(Room.REQUEST)) {
                return false;
            }
            operations.start(opcode, region, offset, length, remote, remoteOffset, immediate, handler, context, false);
            if (handler != null) {
                calls.ensureDriver();
            }
            return true;
        }
    }

    /** Starts an operation with several parts of memory if there is room. Takes the lock. */
    boolean tryOperate(SendOpcode opcode, ScatterGatherList parts, @Nullable RemoteMemory remote, long remoteOffset,
            @Nullable OperationHandler handler, long context) throws RdmaException {
        operations.check(opcode, parts, remote, remoteOffset);
        try (var _ = lock.hold()) {
            if (!tryRoom(Room.REQUEST)) {
                return false;
            }
            operations.start(opcode, parts, remote, remoteOffset, handler, context, false);
            if (handler != null) {
                calls.ensureDriver();
            }
            return true;
        }
    }

    /** Starts an atomic operation if there is room. Takes the lock. */
    boolean tryAtomic(SendOpcode opcode, MemoryRegion region, long offset, RemoteMemory remote, long remoteOffset,
            long first, long second, OperationHandler handler, long context) throws RdmaException {
        Objects.requireNonNull(handler, "handler");
        long ignored = operations.checkAtomic(region, remote, remoteOffset);
        try (var _ = lock.hold()) {
            if (!tryRoom(Room.REQUEST)) {
                return false;
            }
            operations.startAtomic(opcode, region, offset, remote, remoteOffset, first, second, handler, context);
            calls.ensureDriver();
            return true;
        }
    }

    /** Starts an asynchronous operation, or lets it wait. Takes the lock. */
    void submit(AsyncOperations.Operation<?> operation) throws RdmaException {
        try (var _ = lock.hold()) {
            if (settings.asyncOverflow() == AsyncOverflow.WAIT) {
                awaitTurn(operation);
            }
            asyncOperations.add(operation);
            calls.ensureDriver();
            if (asyncOperations.hasFailed()) {
                calls.ready();
                loop.dispatch();
            }
        }
    }

    /** Tells the threads in {@link #awaitTurn}. With the lock held. */
    void wakeThoseInTurn() {
        if (inTurn > 0) {
            loop.wake(member);
        }
    }

    /** Waits until an asynchronous operation may wait for room. With the lock held. */
    private void awaitTurn(AsyncOperations.Operation<?> operation) throws RdmaException {
        inTurn++;
        try {
            await(TURN, operation.bytes(), Deadline.FOREVER, SEND);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RdmaException(SEND, "the thread was interrupted while it waited for room on " + this);
        } finally {
            inTurn--;
        }
    }

    void requireFitting(long length) {
        if (length < 0 || length > settings.messageSize()) {
            throw new IllegalArgumentException("a message of " + length
                    + " bytes on a connection for messages of at most " + settings.messageSize());
        }
        requireTaken(length);
    }

    /** Checks that the peer receives messages of a length, if it has told. */
    void requireTaken(long length) {
        AgreedSizes peer = link.peerSizes();
        if (peer != null && length > peer.messageSize()) {
            throw new IllegalArgumentException("a message of " + length + " bytes to a peer that receives at most "
                    + peer.messageSize() + " bytes, on " + this);
        }
    }

    /** Announces a message, and waits until the peer has read it. */
    private void sendLarge(MemoryRegion region, long offset, long length, @Nullable CachedRegistration registration,
            Duration timeout) throws RdmaException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        try (var _ = lock.holdInterruptibly()) {
            await(ROOM_FOR_LARGE, 0, timeout, SEND);
            long number = large.announce(region, offset, length, null, 0, registration);
            await(READ_BY_PEER, number, deadline.remaining(), timeout, SEND);
        }
    }

    private void sendLarge(MemorySegment data, Duration timeout) throws RdmaException, InterruptedException {
        large.check(data.byteSize());
        CachedRegistration registration = device.registrations().register(data);
        try {
            sendLarge(registration.region(), registration.offset(), data.byteSize(), registration, timeout);
        } finally {
            try (var _ = lock.hold()) {
                if (!large.uses(registration)) {
                    registration.close();
                }
            }
        }
    }

    private void operate(SendOpcode opcode, MemoryRegion region, long offset, long length,
            @Nullable RemoteMemory remote, int immediate, Duration timeout) throws RdmaException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        operations.check(opcode, region, offset, length, remote, 0);
        try (var _ = lock.holdInterruptibly()) {
            await(ROOM, 0, timeout, SEND);
            long operation = operations.start(opcode, region, offset, length, remote, 0, immediate, null, 0, true);
            await(COMPLETION, operation, deadline.remaining(), timeout, SEND);
        }
    }

    private void operate(SendOpcode opcode, ScatterGatherList parts, @Nullable RemoteMemory remote, Duration timeout)
            throws RdmaException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        operations.check(opcode, parts, remote, 0);
        try (var _ = lock.holdInterruptibly()) {
            await(ROOM, 0, timeout, SEND);
            long operation = operations.start(opcode, parts, remote, 0, null, 0, true);
            await(COMPLETION, operation, deadline.remaining(), timeout, SEND);
        }
    }

    private long atomic(SendOpcode opcode, RemoteMemory remote, long first, long second, Duration timeout)
            throws RdmaException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        Operations.checkAtomic(remote, 0);
        AtomicResult result = new AtomicResult(this);
        try (var _ = lock.holdInterruptibly()) {
            await(ROOM_AND_BUFFER, 0, timeout, SEND);
            result.start(opcode, remote, first, second, result);
            await(COMPLETION, ring.last(), deadline.remaining(), timeout, SEND);
            return result.value();
        }
    }

    private boolean hasMessage() throws RdmaException {
        requireOpen(RECEIVE);
        if (!arrived.isEmpty()) {
            return true;
        }
        // Asked once: another thread may take note of the end at any time, also after this.
        if (!hasEnded()) {
            return false;
        }
        // What arrived before the end is in the queue once the end is known.
        boolean ignored = loop.takeAll();
        if (arrived.isEmpty()) {
            requireUsable(RECEIVE);
        }
        return true;
    }

    private boolean hasRoom(Room room) throws RdmaException {
        requireUsable(SEND);
        // A program that only sends would learn late that nothing arrives any more.
        long now = System.nanoTime();
        if (now - lastPoll > MAX_POLL_INTERVAL) {
            lastPoll = now;
            if (loop.takeAll()) {
                requireUsable(SEND);
            }
        }
        return !asyncOperations.isWaiting() && hasFree(room);
    }

    private boolean hasFree(Room room) throws RdmaException {
        return ring.free() > 0 && (room == Room.REQUEST || hasBuffer())
                && (room != Room.LARGE_MESSAGE || large.hasRoom());
    }

    /** Returns whether there is a send buffer; if not, makes sure that those in flight come back. */
    private boolean hasBuffer() throws RdmaException {
        if (ring.hasSlice()) {
            return true;
        }
        if (ring.free() > 0) {
            operations.signalLast();
        }
        return false;
    }

    private boolean tryRoom(Room room) throws RdmaException {
        if (hasRoom(room)) {
            return true;
        }
        if (!loop.isInHandler()) {
            boolean ignored = loop.poll();
        }
        if (hasRoom(room)) {
            return true;
        }
        calls.wantRoom(room);
        return false;
    }

    private boolean isCompleted(long operation) throws RdmaException {
        if (ring.isCompleted(operation)) {
            RdmaException reason = cause(ring.failureOf(operation));
            if (reason != null) {
                throw reason;
            }
            return true;
        }
        requireOpen(SEND);
        return false;
    }

    /** Returns whether the peer has read a large message. */
    private boolean isRead(long number) throws RdmaException {
        if (large.isAnswered(number)) {
            return true;
        }
        requireOpen(SEND);
        if (!hasEnded()) {
            return false;
        }
        // What was answered before the end is in the queue once the end is known.
        boolean ignored = loop.takeAll();
        if (!large.isAnswered(number)) {
            requireUsable(SEND);
        }
        return true;
    }

    private boolean isDrained() throws RdmaException {
        requireOpen(SEND);
        if (ring.isEmpty() && large.isIdle() || hasEnded()) {
            return true;
        }
        if (ring.free() > 0 && !asyncOperations.isWaiting()) {
            operations.signalLast();
        }
        return false;
    }

    private void requireOpen(String what) throws RdmaException {
        if (closing) {
            throw new RdmaClosedException(what, "the " + this);
        }
    }

    private void requireUsable(String what) throws RdmaException {
        requireOpen(what);
        RdmaException broken = failure();
        if (broken != null && !isFlush(broken)) {
            throw broken;
        }
        if (link.failure() != null) {
            throw link.failure();
        }
        if (link.isDisconnected()) {
            throw link.disconnected(what + " on " + this);
        }
        if (broken != null) {
            throw broken;
        }
    }

    /** Returns whether nothing more will arrive, or be sent. With the lock held. */
    boolean hasEnded() {
        return link.isDisconnected() || link.failure() != null || failure() != null;
    }

    private void hasEndedNow() {
        calls.ended();
        makeProgress();
        if (ring.hasReport() || asyncOperations.hasFailed() || large.hasHandlers()) {
            calls.ready();
        }
        loop.wake(member);
    }

    private @Nullable RdmaException failure() {
        return ring.failure() != null ? ring.failure() : receiveFailure;
    }

    private static boolean isFlush(RdmaException failure) {
        return failure instanceof WorkCompletionException e && e.status() == WorkCompletionStatus.WR_FLUSH_ERR;
    }

    /** Returns why a work request failed. All requests that are flushed share one exception. */
    private RdmaException reasonOf(WorkCompletions completions) {
        RdmaException first = failure();
        boolean flushed = completions.status() == WorkCompletionStatus.WR_FLUSH_ERR;
        return flushed && first != null ? first : new WorkCompletionException(completions.copy(), toString());
    }

    private void disconnectQuietly() {
        try {
            link.disconnect();
        } catch (RdmaException | IllegalStateException e) {
            LOG.debug("{} could not be disconnected", this, e);
        }
    }

    private void requireNoHandler() {
        if (calls.hasHandler()) {
            throw new IllegalStateException("messages of " + this + " go to its handler");
        }
    }

    @Override
    public String toString() {
        return "Connection[" + localAddress + " to " + peerAddress + "]";
    }
}
