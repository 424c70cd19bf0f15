// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.wait.CompletionWait;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionStatus;

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
 * <h2>Buffers</h2>
 *
 * <p>The {@link ConnectionSettings} fix the size of the largest message and the number of buffers. A message arrives in
 * a buffer of the receiver, and occupies it until {@link Message#close()}. While all buffers are occupied, the sender's
 * device retries; by default it does so without limit, and no message is lost.
 *
 * <p>The program can also {@link #read} and {@link #write} memory that the peer has registered, without involving the
 * peer's CPU.
 *
 * <h2>Waiting and failing</h2>
 *
 * <p>All methods may be called from any number of threads. Those that wait take a timeout, which may be zero, and throw
 * <ul>
 * <li>{@link RdmaTimeoutException} when the time has run out;
 * <li>InterruptedException when the thread was interrupted;
 * <li>{@link DisconnectedException} when the connection has ended, because this side or the peer has disconnected, or
 * the peer has died. {@link #receive} throws it only after all messages that arrived before have been received;
 * <li>{@link WorkCompletionException} when the connection broke, because a message was longer than the receiver's
 * buffers, access to the peer's memory was refused, or the peer can no longer be reached;
 * <li>{@link io.rdmacm.core.DeviceRemovedException DeviceRemovedException} when the device was removed;
 * <li>{@link RdmaClosedException} after {@link #close()}, also when another thread called it.
 * </ul>
 * A timeout or an interrupt leaves the connection usable.
 */
public final class Connection implements AutoCloseable {
    private static final String SEND = "ibv_post_send";
    private static final String RECEIVE = "ibv_post_recv";
    private static final RnrTimer MIN_RNR_TIMER = RnrTimer.atLeast(Duration.ofNanos(640_000));

    private final ConnectionManager manager;
    private final Link link;
    private final ConnectionSettings settings;
    private final InetSocketAddress localAddress;
    private final InetSocketAddress peerAddress;
    private final ProtectionDomain domain;
    private final ConnectionQueues queues;
    private final CompletionWait waiting;
    // The following three are guarded by the lock of the link.
    // Set by the first close and never cleared: nothing can be sent or received any more.
    private boolean closing;
    // Set while a thread frees the resources; the others wait for it.
    private boolean freeing;
    // Set when everything has been freed.
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
            // EINVAL may mean that the peer has given up, which no event reports. A reject then fails too.
            if (e.errno() == Rdma.EINVAL() && link.isRequest() && !canReject(link)) {
                throw gone(link, e);
            }
            throw e;
        }
    }

    /** Runs the client's part of the handshake. */
    void connect(Deadline deadline) throws RdmaException, InterruptedException {
        link.id().connect(settings.parameters());
        link.await(CmEventType.ESTABLISHED, deadline);
        shortenRnrTimer();
    }

    /** Runs the server's part of the handshake. */
    void accept(ConnectionParameters parameters, Deadline deadline) throws RdmaException, InterruptedException {
        try {
            link.id().accept(parameters);
        } catch (RdmaException | IllegalStateException e) {
            if (e instanceof IllegalStateException && !link.id().state().isOver()) {
                throw e;
            }
            // The peer has given up: the id refuses if the event that says so was already handled, otherwise C does.
            throw gone(link, e);
        }
        shortenRnrTimer();
        link.await(CmEventType.ESTABLISHED, deadline);
    }

    /** {@return the local address} */
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    /** {@return the address of the peer} */
    public InetSocketAddress peerAddress() {
        return peerAddress;
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
     * memory that the peer may read or write, and the local memory of {@link #read} and {@link #write}.
     *
     * @return the domain; what the program creates in it must be closed before the manager
     */
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    /** {@return whether, as far as this side knows, the connection is established: neither closed nor ended} */
    public boolean isConnected() {
        link.lock.lock();
        try {
            return !closing && !link.isDisconnected() && link.failure() == null && queues.failure() == null;
        } finally {
            link.lock.unlock();
        }
    }

    /**
     * Sends a message ({@code IBV_WR_SEND}). The bytes are copied, so the memory can be reused when this returns. Waits
     * only when all send buffers are in flight; does not wait until the message has arrived.
     *
     * @param data at most {@link ConnectionSettings#messageSize()} bytes, in native or heap memory; may be empty
     * @param timeout the longest time to wait
     * @throws IllegalArgumentException when the message is too long
     * @throws RdmaException when the message was not sent, see {@link Connection}
     * @throws InterruptedException when this thread was interrupted; the message was not sent
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
        send(MemorySegment.ofArray(data), timeout);
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
     * Waits for the next message.
     *
     * @param timeout the longest time to wait; zero to take a message only if one is there
     * @return the message, to be closed, which makes its buffer available again
     * @throws RdmaTimeoutException when no message arrived in time
     * @throws DisconnectedException when the connection has ended and all messages have been received
     * @throws RdmaException when no message can arrive any more, see {@link Connection}
     * @throws InterruptedException when this thread was interrupted; no message is lost
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
     * Reads the peer's memory ({@code IBV_WR_RDMA_READ}), and waits until the data has arrived.
     *
     * @param local the region to read into, of {@link #protectionDomain()}, with
     *        {@link io.rdmacm.verbs.work.AccessFlag#LOCAL_WRITE}
     * @param offset where the data goes in the local region, in bytes
     * @param length how many bytes to read
     * @param remoteAddress the address to read from, which the peer has from {@link MemoryRegion#remoteAddress()}
     * @param remoteKey the key of the peer's region, which the peer has from {@link MemoryRegion#remoteKey()}
     * @param timeout the longest time to wait; the local memory may still be written after it has run out
     * @throws IndexOutOfBoundsException when the offset and the length are not within the local region
     * @throws WorkCompletionException when the peer does not permit the read, which also ends the connection
     * @throws RdmaException when the read failed or did not complete in time, see {@link Connection}
     * @throws InterruptedException when this thread was interrupted; the local memory may still be written
     */
    public void read(MemoryRegion local, long offset, int length, long remoteAddress, int remoteKey, Duration timeout)
            throws RdmaException, InterruptedException {
        operate(false, local, offset, length, remoteAddress, remoteKey, timeout);
    }

    /**
     * Writes to the peer's memory ({@code IBV_WR_RDMA_WRITE}), and waits until the peer's device has acknowledged it.
     * The peer's program does not notice a write; send a message after it.
     *
     * @param local the region to write from, of {@link #protectionDomain()}
     * @param offset where the data is in the local region, in bytes
     * @param length how many bytes to write
     * @param remoteAddress the address to write to, which the peer has from {@link MemoryRegion#remoteAddress()}
     * @param remoteKey the key of the peer's region, which the peer has from {@link MemoryRegion#remoteKey()}
     * @param timeout the longest time to wait; the peer's memory may still be written after it has run out
     * @throws IndexOutOfBoundsException when the offset and the length are not within the local region
     * @throws WorkCompletionException when the peer does not permit the write, which also ends the connection
     * @throws RdmaException when the write failed or did not complete in time, see {@link Connection}
     * @throws InterruptedException when this thread was interrupted; the peer's memory may still be written
     */
    public void write(MemoryRegion local, long offset, int length, long remoteAddress, int remoteKey,
            Duration timeout) throws RdmaException, InterruptedException {
        operate(true, local, offset, length, remoteAddress, remoteKey, timeout);
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
     * Messages that were not received are lost. Has no effect when called again.
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

    /** Waits for another thread that is closing the connection; returns whether there is still something to free. */
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

    /** Makes the buffer of a closed message available for another one. */
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
     * Shortens the time after which the peer sends again when this side had no free buffer. The connection manager
     * leaves it at the longest possible, 655 ms.
     */
    private void shortenRnrTimer() {
        try {
            queues.pair().modify(QueuePairAttributes.builder().minRnrTimer(MIN_RNR_TIMER).build());
        } catch (RdmaException | IllegalStateException | IllegalArgumentException e) {
            // A queue pair in error, after the peer has already ended the connection, accepts no attributes.
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

    /** Takes completions, or sleeps until something happens when there are none. The caller checks what has changed. */
    private void progressOrWait(String what, Deadline deadline) throws RdmaException, InterruptedException {
        int ignored = waiting.takeOrSleep(what, (connection, none) -> connection.progress(), this, null, deadline);
    }

    /** Sleeps on the condition of the link, which the thread of the device signals for each event of the queue. */
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
