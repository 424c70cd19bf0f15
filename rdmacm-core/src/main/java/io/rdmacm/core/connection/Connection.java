// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;

import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmIdState;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairAttributes;
import io.rdmacm.verbs.RdmaClosedException;
import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.RdmaTimeoutException;
import io.rdmacm.verbs.RnrTimer;
import io.rdmacm.verbs.WorkCompletion;
import io.rdmacm.verbs.WorkCompletionException;
import io.rdmacm.verbs.WorkCompletionStatus;

/**
 * A reliable connection that carries messages: what one side sends is received by the other whole, once, and in order.
 * One message is one send of the C API, without any header: the peer may be a C program.
 *
 * <p>All methods may be called from any number of threads. Those that wait take a time-out, and end by an interrupt, by
 * {@link #close()} from another thread, and by the end of the connection:
 * <ul>
 * <li>{@link DisconnectedException} when the peer has ended it, or has died. {@link #receive} throws it only when all
 * messages that arrived before have been received.
 * <li>{@link WorkCompletionException} when it broke: a message was longer than the receiver's buffers, or the peer
 * cannot be reached any more.
 * <li>{@link RdmaClosedException} after {@link #close()}.
 * </ul>
 */
public final class Connection implements AutoCloseable {
    private static final String SEND = "ibv_post_send";
    private static final String RECEIVE = "ibv_post_recv";
    private static final RnrTimer MIN_RNR_TIMER = RnrTimer.atLeast(Duration.ofNanos(640_000));
    private static final Set<CmIdState> ENDED = EnumSet.of(CmIdState.FAILED, CmIdState.DISCONNECTED);

    private final ConnectionManager manager;
    private final Link link;
    private final ConnectionSettings settings;
    private final InetSocketAddress localAddress;
    private final InetSocketAddress peerAddress;
    private final ProtectionDomain domain;
    private final ConnectionQueues queues;
    // Guarded by the lock of the link: closing keeps everybody out, freeing one closer at a time; closed is when all
    // is freed.
    private boolean closing;
    private boolean freeing;
    private boolean closed;

    private Connection(ConnectionManager manager, Link link, ConnectionSettings settings, DeviceResources device)
            throws RdmaException {
        this.manager = manager;
        this.link = link;
        this.settings = settings;
        this.localAddress = link.id().localAddress();
        this.peerAddress = link.id().peerAddress();
        this.domain = device.domain();
        this.queues = ConnectionQueues.create(device, link.id(), settings, this::wake);
    }

    /** For an id that is bound to a device; not connected yet. */
    static Connection create(ConnectionManager manager, Link link, ConnectionSettings settings)
            throws RdmaException {
        try {
            return new Connection(manager, link, settings, manager.device(link.id()));
        } catch (RdmaException e) {
            // C has no other word for an id whose peer has given up, and no event either. A reject tells.
            if (e.errnoName().equals("EINVAL") && link.isRequest() && !canReject(link)) {
                throw gone(link, e);
            }
            throw e;
        }
    }

    /** The client's part of the handshake. */
    void connect(Limit limit) throws RdmaException, InterruptedException {
        link.id().connect(settings.parameters());
        link.await(CmEventType.ESTABLISHED, limit);
        hurryRetries();
    }

    /** The server's part of the handshake. */
    void accept(ConnectionParameters parameters, Limit limit) throws RdmaException, InterruptedException {
        try {
            link.id().accept(parameters);
        } catch (RdmaException | IllegalStateException e) {
            if (e instanceof IllegalStateException && !ENDED.contains(link.id().state())) {
                throw e;
            }
            // the peer has given up; depending on who knows first, C refuses or the id does
            throw gone(link, e);
        }
        hurryRetries();
        link.await(CmEventType.ESTABLISHED, limit);
    }

    /** The address of this side. */
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    /** The address of the other side. */
    public InetSocketAddress peerAddress() {
        return peerAddress;
    }

    /** What this side was made with. */
    public ConnectionSettings settings() {
        return settings;
    }

    /**
     * What the peer said when the connection was made: its private data, and what it can have outstanding. The private
     * data may be longer than what the peer gave, filled with zeros.
     */
    public ConnectionParameters peerParameters() {
        return link.peerParameters();
    }

    /** The private data of {@link #peerParameters()}. */
    public byte[] privateData() {
        return link.peerParameters().privateData();
    }

    /** The queue pair, for what is not offered here. Its completions are taken by this connection. */
    public QueuePair queuePair() {
        return queues.pair();
    }

    /**
     * The protection domain of all connections of the manager over this device: for memory that the peer is to read or
     * write, and for {@link #read} and {@link #write}. What is made of it is to be closed before the manager.
     */
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    /** Whether messages can be sent: it is neither closed nor ended, as far as this side knows. */
    public boolean isConnected() {
        link.lock.lock();
        try {
            return !closing && !link.isDisconnected() && link.failure() == null && queues.failure() == null;
        } finally {
            link.lock.unlock();
        }
    }

    /**
     * Sends a message. The bytes are copied: the memory is free when this returns. It waits only when all send buffers
     * are on their way.
     *
     * @param data at most {@link ConnectionSettings#messageSize()} bytes, native or of the heap
     * @param timeout how long at most
     */
    public void send(MemorySegment data, Duration timeout) throws RdmaException, InterruptedException {
        Limit limit = Limit.of(timeout);
        if (data.byteSize() > settings.messageSize()) {
            throw new IllegalArgumentException("a message of " + data.byteSize()
                    + " bytes on a connection for messages of at most " + settings.messageSize());
        }
        link.lock.lockInterruptibly();
        try {
            while (!queues.canSend()) {
                requireUsable(SEND);
                progressOrWait(SEND, limit);
            }
            requireUsable(SEND);
            queues.send(data);
        } finally {
            link.lock.unlock();
        }
    }

    /** As {@link #send(MemorySegment, Duration)}. */
    public void send(byte[] data, Duration timeout) throws RdmaException, InterruptedException {
        send(MemorySegment.ofArray(data), timeout);
    }

    /** As {@link #send(MemorySegment, Duration)}, from the position of the buffer to its limit; it is then consumed. */
    public void send(ByteBuffer data, Duration timeout) throws RdmaException, InterruptedException {
        send(MemorySegment.ofBuffer(data), timeout);
        data.position(data.limit());
    }

    /**
     * Waits for the next message.
     *
     * @param timeout how long at most; zero only looks
     * @return to be closed: its buffer is one of those that the peer can send to
     * @throws DisconnectedException when the connection was ended, and all messages were received
     */
    public Message receive(Duration timeout) throws RdmaException, InterruptedException {
        Limit limit = Limit.of(timeout);
        link.lock.lockInterruptibly();
        try {
            while (true) {
                requireOpen(RECEIVE);
                if (!queues.hasArrived()) {
                    // What arrived before the end of the connection is in the queue when that is known.
                    progress();
                }
                ConnectionQueues.Arrived next = queues.nextArrived();
                if (next != null) {
                    return new Message(this, queues.memory(next), next.index());
                }
                requireUsable(RECEIVE);
                progressOrWait(RECEIVE, limit);
            }
        } finally {
            link.lock.unlock();
        }
    }

    /**
     * Reads the peer's memory ({@code IBV_WR_RDMA_READ}), and waits until that is done.
     *
     * @param local of {@link #protectionDomain()}, with {@link io.rdmacm.verbs.AccessFlag#LOCAL_WRITE}
     * @param offset in bytes
     * @param length in bytes
     * @param remoteAddress where from
     * @param remoteKey of the peer's region
     * @param timeout how long at most; after that it may still happen
     */
    public void read(MemoryRegion local, long offset, int length, long remoteAddress, int remoteKey, Duration timeout)
            throws RdmaException, InterruptedException {
        operate(false, local, offset, length, remoteAddress, remoteKey, timeout);
    }

    /**
     * Writes to the peer's memory ({@code IBV_WR_RDMA_WRITE}), and waits until that is done.
     *
     * @param local of {@link #protectionDomain()}
     * @param offset in bytes
     * @param length in bytes
     * @param remoteAddress where to
     * @param remoteKey of the peer's region
     * @param timeout how long at most; after that it may still happen
     */
    public void write(MemoryRegion local, long offset, int length, long remoteAddress, int remoteKey,
            Duration timeout) throws RdmaException, InterruptedException {
        operate(true, local, offset, length, remoteAddress, remoteKey, timeout);
    }

    /**
     * Waits until all that was sent has arrived, and ends the connection. What has arrived here can still be received.
     *
     * @param timeout how long at most; then the connection is not ended
     */
    public void disconnect(Duration timeout) throws RdmaException, InterruptedException {
        Limit limit = Limit.of(timeout);
        link.lock.lockInterruptibly();
        try {
            requireOpen(SEND);
            while (queues.hasSendsOnTheWay() && !hasEnded()) {
                progressOrWait(SEND, limit);
                requireOpen(SEND);
            }
            link.disconnect();
        } finally {
            link.lock.unlock();
        }
    }

    /**
     * Ends the connection and frees all that belongs to it. Waits for messages that are on their way, and for the
     * peer's farewell, no longer than {@link ConnectionSettings#linger()}, and not at all in an interrupted thread.
     * Messages that were not received are lost. Does nothing the second time.
     *
     * @throws IllegalStateException when something that a program made with what belongs to it, as with the completion
     *         queue of its queue pair, is still open; nothing can be sent or received then, but this be called again
     */
    @Override
    public void close() throws RdmaException {
        close(Limit.of(settings.linger()));
    }

    void close(Limit limit) throws RdmaException {
        if (!beginClose()) {
            return;
        }
        boolean freed = false;
        try {
            link.lock.lock();
            try {
                linger(limit);
            } finally {
                link.lock.unlock();
            }
            queues.close();
            link.close();
            manager.forget(this);
            freed = true;
        } finally {
            endClose(freed);
        }
    }

    /** Whether there is something to close; when another thread is at it, that is known when it has ended. */
    private boolean beginClose() {
        link.lock.lock();
        try {
            closing = true;
            link.changed.signalAll();
            while (freeing) {
                link.changed.awaitUninterruptibly();
            }
            freeing = !closed;
            return freeing;
        } finally {
            link.lock.unlock();
        }
    }

    private void endClose(boolean freed) {
        link.lock.lock();
        try {
            freeing = false;
            closed = freed;
            link.changed.signalAll();
        } finally {
            link.lock.unlock();
        }
    }

    /** The buffer of a message is free again. */
    void giveBack(int index) throws RdmaException {
        link.lock.lock();
        try {
            if (!closing && !hasEnded()) {
                queues.postReceive(index);
            }
        } finally {
            link.lock.unlock();
        }
    }

    /**
     * The connection manager leaves the time after which a peer tries again to send to this side, when that had no free
     * buffer, at its longest, which is 655 ms.
     */
    private void hurryRetries() {
        try {
            queues.pair().modify(QueuePairAttributes.builder().minRnrTimer(MIN_RNR_TIMER).build());
        } catch (RdmaException | IllegalStateException | IllegalArgumentException e) {
            // also when the peer has broken the connection already: an error state takes no attributes
            manager.remark("retries are slow", this, e);
        }
    }

    private static boolean canReject(Link link) {
        try {
            link.id().reject();
            return true;
        } catch (RdmaException | IllegalStateException e) {
            return false;
        }
    }

    private static RdmaException gone(Link link, Exception cause) {
        RdmaException gone = new DisconnectedException("accepting " + link.name());
        gone.initCause(cause);
        return gone;
    }

    private void operate(boolean write, MemoryRegion local, long offset, int length, long remoteAddress,
            int remoteKey, Duration timeout) throws RdmaException, InterruptedException {
        Objects.requireNonNull(local, "local");
        Limit limit = Limit.of(timeout);
        link.lock.lockInterruptibly();
        try {
            while (!queues.canOperate()) {
                requireUsable(SEND);
                progressOrWait(SEND, limit);
            }
            requireUsable(SEND);
            var operation = queues.operate(write, local, offset, length, remoteAddress, remoteKey);
            while (operation.completion() == null) {
                requireOpen(SEND);
                progressOrWait(SEND, limit);
            }
            if (operation.completion().status() != WorkCompletionStatus.SUCCESS) {
                throw new WorkCompletionException(operation.completion());
            }
        } finally {
            link.lock.unlock();
        }
    }

    /** Takes what has finished; when there is nothing, waits until something happens. The caller looks what. */
    private void progressOrWait(String what, Limit limit) throws RdmaException, InterruptedException {
        if (progress() > 0) {
            return;
        }
        queues.arm();
        if (progress() > 0) {
            return;
        }
        long left = limit.leftNanos();
        if (left == 0) {
            throw new RdmaTimeoutException(what, what + ": nothing happened in time on " + this);
        }
        long ignored = link.changed.awaitNanos(left);
    }

    /** Takes what has finished. When that shows that the connection broke, the peer is told. */
    private int progress() throws RdmaException {
        int taken = queues.progress();
        if (taken > 0) {
            if (queues.failure() != null) {
                link.disconnect();
            }
            link.changed.signalAll();
        }
        return taken;
    }

    private void requireOpen(String what) throws RdmaException {
        if (closing) {
            throw new RdmaClosedException(what, "the " + this);
        }
    }

    private void requireUsable(String what) throws RdmaException {
        requireOpen(what);
        WorkCompletion broken = queues.failure();
        if (broken != null && broken.status() != WorkCompletionStatus.WR_FLUSH_ERR) {
            throw new WorkCompletionException(broken);
        }
        if (link.failure() != null) {
            throw link.failure();
        }
        if (link.isDisconnected()) {
            throw new DisconnectedException(what + " on " + this);
        }
        if (broken != null) {
            throw new WorkCompletionException(broken);
        }
    }

    private boolean hasEnded() {
        return link.isDisconnected() || link.failure() != null || queues.failure() != null;
    }

    /** Lets what is on its way arrive, and tells the peer, as far as that is possible. With the lock held. */
    private void linger(Limit limit) {
        try {
            while (queues.hasSendsOnTheWay() && !hasEnded()) {
                progressOrWait(SEND, limit);
            }
            link.disconnect();
            while (link.isDisconnected() && !link.isAnswered() && limit.leftNanos() > 0) {
                long ignored = link.changed.awaitNanos(limit.leftNanos());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RdmaException | IllegalStateException e) {
            // the latter when the program has closed the queue that the ends of its sends are reported to
            manager.remark("not a graceful end", this, e);
        }
        try {
            link.disconnect();
        } catch (RdmaException e) {
            manager.remark("not a graceful end", this, e);
        }
    }

    private void wake() {
        link.lock.lock();
        try {
            link.changed.signalAll();
        } finally {
            link.lock.unlock();
        }
    }

    @Override
    public String toString() {
        return "Connection[" + localAddress + " to " + peerAddress + "]";
    }
}
