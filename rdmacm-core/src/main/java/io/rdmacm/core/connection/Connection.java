// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmIdState;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.CompletionWait;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionStatus;

/**
 * A reliable connection that carries messages: each message arrives whole, once and in order. A message is one send of
 * the C API, without any header, so the peer may be a C program.
 *
 * <p>All methods may be called from any number of threads. Those that wait take a timeout and can be interrupted. They
 * also end when the connection does:
 * <ul>
 * <li>{@link DisconnectedException} when the peer has disconnected or died. {@link #receive} throws it only after all
 * messages that arrived before have been received.
 * <li>{@link WorkCompletionException} when the connection broke, because a message was longer than the receiver's
 * buffers or the peer can no longer be reached.
 * <li>{@link RdmaClosedException} after {@link #close()}, also when another thread called it.
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
    private final CompletionWait waiting;
    // Guarded by the lock of the link.
    // Set by the first close, for good: nothing can be sent or received any more.
    private boolean closing;
    // Set while a thread frees the resources; the others wait for it.
    private boolean freeing;
    // Set when everything is freed.
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
        this.waiting = new CompletionWait(this, link.lock, new DeviceEvents());
    }

    /** Creates a connection for an id that is bound to a device and not connected yet. */
    static Connection create(ConnectionManager manager, Link link, ConnectionSettings settings)
            throws RdmaException {
        try {
            return new Connection(manager, link, settings, manager.device(link.id()));
        } catch (RdmaException e) {
            // EINVAL is all that C says when the peer has given up, and no event reports it. A reject then fails, too.
            if (e.errno() == Rdma.EINVAL() && link.isRequest() && !canReject(link)) {
                throw gone(link, e);
            }
            throw e;
        }
    }

    /** The client's part of the handshake. */
    void connect(Deadline deadline) throws RdmaException, InterruptedException {
        link.id().connect(settings.parameters());
        link.await(CmEventType.ESTABLISHED, deadline);
        hurryRetries();
    }

    /** The server's part of the handshake. */
    void accept(ConnectionParameters parameters, Deadline deadline) throws RdmaException, InterruptedException {
        try {
            link.id().accept(parameters);
        } catch (RdmaException | IllegalStateException e) {
            if (e instanceof IllegalStateException && !ENDED.contains(link.id().state())) {
                throw e;
            }
            // the peer has given up: the id refuses if its event was handled already, otherwise C does
            throw gone(link, e);
        }
        hurryRetries();
        link.await(CmEventType.ESTABLISHED, deadline);
    }

    /** Returns the local address. */
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    /** Returns the address of the peer. */
    public InetSocketAddress peerAddress() {
        return peerAddress;
    }

    /** Returns the settings of this side. */
    public ConnectionSettings settings() {
        return settings;
    }

    /**
     * Returns the parameters that the peer sent when the connection was made. The private data may be longer than what
     * the peer gave, padded with zeros.
     */
    public ConnectionParameters peerParameters() {
        return link.peerParameters();
    }

    /** Returns the private data of {@link #peerParameters()}. */
    public byte[] privateData() {
        return link.peerParameters().privateData();
    }

    /** Returns the queue pair, for what is not offered here. Its completions are consumed by this connection. */
    public QueuePair queuePair() {
        return queues.pair();
    }

    /**
     * Returns the protection domain that all connections of the manager over this device share. Memory that the peer
     * reads or writes, and the local memory of {@link #read} and {@link #write}, is registered in it. Close what you
     * create in it before the manager.
     */
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    /** Returns whether messages can be sent: as far as this side knows, the connection is neither closed nor ended. */
    public boolean isConnected() {
        link.lock.lock();
        try {
            return !closing && !link.isDisconnected() && link.failure() == null && queues.failure() == null;
        } finally {
            link.lock.unlock();
        }
    }

    /**
     * Sends a message. The bytes are copied, so the memory can be reused when this returns. Waits only when all send
     * buffers are in flight.
     *
     * @param data at most {@link ConnectionSettings#messageSize()} bytes, in native or heap memory
     * @param timeout the longest time to wait
     */
    public void send(MemorySegment data, Duration timeout) throws RdmaException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        if (data.byteSize() > settings.messageSize()) {
            throw new IllegalArgumentException("a message of " + data.byteSize()
                    + " bytes on a connection for messages of at most " + settings.messageSize());
        }
        link.lock.lockInterruptibly();
        try {
            while (!queues.canSend()) {
                requireUsable(SEND);
                progressOrWait(SEND, deadline);
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

    /**
     * As {@link #send(MemorySegment, Duration)}, from the position of the buffer to its limit; sets the position to the
     * limit.
     */
    public void send(ByteBuffer data, Duration timeout) throws RdmaException, InterruptedException {
        send(MemorySegment.ofBuffer(data), timeout);
        data.position(data.limit());
    }

    /**
     * Waits for the next message.
     *
     * @param timeout the longest time to wait; zero to take a message only if one is there
     * @return the message, to be closed: only then can the peer send into its buffer again
     * @throws DisconnectedException when the connection has ended and all messages have been received
     */
    public Message receive(Duration timeout) throws RdmaException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        link.lock.lockInterruptibly();
        try {
            while (true) {
                requireOpen(RECEIVE);
                if (!queues.hasArrived()) {
                    // Whatever arrived before the end of the connection is in the queue once that end is known.
                    progress();
                }
                ConnectionQueues.Arrived next = queues.nextArrived();
                if (next != null) {
                    return new Message(this, queues.memory(next), next.index());
                }
                requireUsable(RECEIVE);
                progressOrWait(RECEIVE, deadline);
            }
        } finally {
            link.lock.unlock();
        }
    }

    /**
     * Reads the peer's memory ({@code IBV_WR_RDMA_READ}), and waits until that is done.
     *
     * @param local the region to read into, of {@link #protectionDomain()}, with
     *        {@link io.rdmacm.verbs.work.AccessFlag#LOCAL_WRITE}
     * @param offset in the local region, in bytes
     * @param length in bytes
     * @param remoteAddress the address to read from
     * @param remoteKey the key of the peer's region
     * @param timeout the longest time to wait; the memory may still be written after that
     */
    public void read(MemoryRegion local, long offset, int length, long remoteAddress, int remoteKey, Duration timeout)
            throws RdmaException, InterruptedException {
        operate(false, local, offset, length, remoteAddress, remoteKey, timeout);
    }

    /**
     * Writes to the peer's memory ({@code IBV_WR_RDMA_WRITE}), and waits until that is done.
     *
     * @param local the region to write from, of {@link #protectionDomain()}
     * @param offset in the local region, in bytes
     * @param length in bytes
     * @param remoteAddress the address to write to
     * @param remoteKey the key of the peer's region
     * @param timeout the longest time to wait; the memory may still be written after that
     */
    public void write(MemoryRegion local, long offset, int length, long remoteAddress, int remoteKey,
            Duration timeout) throws RdmaException, InterruptedException {
        operate(true, local, offset, length, remoteAddress, remoteKey, timeout);
    }

    /**
     * Waits until everything that was sent has arrived, and ends the connection. Messages that have arrived here can
     * still be received.
     *
     * @param timeout the longest time to wait; if it runs out, the connection is not ended
     */
    public void disconnect(Duration timeout) throws RdmaException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        link.lock.lockInterruptibly();
        try {
            requireOpen(SEND);
            while (queues.hasSendsInFlight() && !hasEnded()) {
                progressOrWait(SEND, deadline);
                requireOpen(SEND);
            }
            link.disconnect();
        } finally {
            link.lock.unlock();
        }
    }

    /**
     * Ends the connection and frees its resources. Waits for messages in flight and for the peer's answer to the
     * disconnect, but no longer than {@link ConnectionSettings#linger()}, and not at all if the thread is interrupted.
     * Messages that were not received are lost. Closing twice does nothing.
     *
     * @throws IllegalStateException when an object that the program created with a part of the connection, such as a
     *         queue pair that uses its completion queue, is still open. Nothing can be sent or received any more;
     *         call this again when that object is closed.
     */
    @Override
    public void close() throws RdmaException {
        close(Deadline.after(settings.linger()));
    }

    void close(Deadline deadline) throws RdmaException {
        if (!beginClose()) {
            return;
        }
        boolean freed = false;
        try {
            link.lock.lock();
            try {
                linger(deadline);
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

    /** Returns whether there is something to close, after waiting for another thread that is closing now. */
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

    /** Posts the buffer of a closed message again. */
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
     * Shortens the time after which the peer tries again to send when this side had no free buffer: the connection
     * manager leaves it at the longest, which is 655 ms.
     */
    private void hurryRetries() {
        try {
            queues.pair().modify(QueuePairAttributes.builder().minRnrTimer(MIN_RNR_TIMER).build());
        } catch (RdmaException | IllegalStateException | IllegalArgumentException e) {
            // also if the peer has already broken the connection, because a queue pair in error takes no attributes
            manager.logDebug("the RNR timer could not be set", this, e);
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
        Deadline deadline = Deadline.after(timeout);
        link.lock.lockInterruptibly();
        try {
            while (!queues.canOperate()) {
                requireUsable(SEND);
                progressOrWait(SEND, deadline);
            }
            requireUsable(SEND);
            var operation = queues.operate(write, local, offset, length, remoteAddress, remoteKey);
            while (operation.completion() == null) {
                requireOpen(SEND);
                progressOrWait(SEND, deadline);
            }
            if (operation.completion().status() != WorkCompletionStatus.SUCCESS) {
                throw new WorkCompletionException(operation.completion());
            }
        } finally {
            link.lock.unlock();
        }
    }

    /** Takes completions, or waits until something happens when there are none. The caller looks what has changed. */
    private void progressOrWait(String what, Deadline deadline) throws RdmaException, InterruptedException {
        int ignored = waiting.takeOrSleep(what, (connection, none) -> connection.progress(), this, null, deadline);
    }

    /** The thread of the device takes the events of all completion queues and signals the condition of the link. */
    private final class DeviceEvents implements CompletionWait.Source {
        @Override
        public void arm() throws RdmaException {
            queues.arm();
        }

        @Override
        public boolean sleep(Deadline deadline) throws InterruptedException {
            long left = deadline.remainingNanos();
            if (left == 0) {
                return false;
            }
            long ignored = link.changed.awaitNanos(left);
            return true;
        }
    }

    /** Takes completions and returns how many. If they show that the connection broke, disconnects. */
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

    /** Waits for messages in flight and disconnects, as far as that is possible. With the lock held. */
    private void linger(Deadline deadline) {
        try {
            while (queues.hasSendsInFlight() && !hasEnded()) {
                progressOrWait(SEND, deadline);
            }
            link.disconnect();
            while (link.isDisconnected() && !link.isAnswered() && !deadline.hasPassed()) {
                long ignored = link.changed.awaitNanos(deadline.remainingNanos());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RdmaException | IllegalStateException e) {
            // IllegalStateException if the program has closed the completion queue
            manager.logDebug("messages in flight may be lost", this, e);
        }
        try {
            link.disconnect();
        } catch (RdmaException e) {
            manager.logDebug("could not be disconnected", this, e);
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
