// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.wait.Deadline;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A stream of bytes in each direction, like a TCP connection, over RDMA. It speaks the protocol of rsockets
 * (rsocket(7)), so the peer may be a C program, also one that knows only sockets and preloads
 * {@code librspreload.so}.
 *
 * <pre>{@code
 * try (RdmaStream stream = RdmaStream.connect(peer, TIMEOUT)) {
 *     stream.write(ByteBuffer.wrap("ping".getBytes()), TIMEOUT);
 *     ByteBuffer answer = ByteBuffer.allocate(4);
 *     while (answer.hasRemaining() && stream.read(answer, TIMEOUT) >= 0) {
 *         // read on
 *     }
 * }
 * }</pre>
 *
 * <h2>Two ways to use it</h2>
 *
 * <p>Methods with a timeout wait: they poll and then sleep as {@link StreamSettings#waiting()} says, and throw
 * RdmaTimeoutException when the time has run out, InterruptedException when the thread was interrupted, and
 * {@link io.rdmacm.verbs.error.RdmaClosedException RdmaClosedException} when another thread closed the stream.
 *
 * <p>Methods without a timeout never wait: {@link #startConnect}, {@link #finishConnect}, {@code read} and
 * {@code write} do what can be done now. An event loop watches {@link #fd()}:
 *
 * <pre>{@code
 * while (running) {
 *     int ready = stream.poll();
 *     // read if (ready & RdmaStream.READABLE) != 0, write what is left if (ready & RdmaStream.WRITABLE) != 0
 *     if (stream.arm()) {
 *         // nothing is left to be done: sleep until stream.fd() is readable, e.g. in epoll_wait
 *     }
 * }
 * }</pre>
 *
 * <h2>Threads</h2>
 *
 * <p>All methods may be called from any thread, and close at any time. One thread may read while another one writes.
 * Several threads may write as well, but a write that does not find enough room is sent in parts, and bytes of another
 * thread may come between them: writers whose data must stay together need a lock of their own, and so do readers.
 *
 * <h2>How a stream ends</h2>
 *
 * <p>{@link #shutdownOutput()} and {@link #close()} tell the peer that there is no more data. Its reads return -1 after
 * all data. When the peer died or disconnected without saying so, data may be missing: reads then throw
 * {@link io.rdmacm.core.DisconnectedException DisconnectedException} after the data that has arrived. A broken
 * connection gives a {@link io.rdmacm.verbs.work.WorkCompletionException WorkCompletionException}, a peer that does not
 * keep to the protocol a {@link StreamProtocolException}. Writes throw the same exceptions; after the peer has closed
 * the stream they throw DisconnectedException.
 *
 * <h2>What is not supported</h2>
 *
 * <p>Devices without RDMA write with immediate data (iWARP), urgent data and datagrams.
 */
public final class RdmaStream implements AutoCloseable {
    /** A read would not return 0: there is data, the end of the stream, or an exception. */
    public static final int READABLE = 1;
    /** A write would not return 0: there is room, or it would throw an exception. */
    public static final int WRITABLE = 2;
    /** {@link #finishConnect()} would not return false. */
    public static final int CONNECTED = 4;
    /** The stream has failed, or neither side will send anything more. */
    public static final int ENDED = 8;

    private static final Logger LOG = LoggerFactory.getLogger(RdmaStream.class);
    private static final String FUNCTION = "rsocket";
    private static final int ALL = READABLE | WRITABLE | CONNECTED | ENDED;
    private static final long MOST_MAPPED = 0xFFFF_FFFFL;

    private static final StreamCore.Goal READ = core -> (core.readiness() & READABLE) != 0;
    private static final StreamCore.Goal WRITE = core -> (core.readiness() & WRITABLE) != 0;
    private static final StreamCore.Goal CONNECT = core -> (core.readiness() & CONNECTED) != 0;
    private static final StreamCore.Goal DELIVERED = StreamCore::isDelivered;

    private final StreamSettings settings;
    private final StreamLink link;
    private final StreamCore core;
    private final StreamReader reader;
    private final StreamWriter writer;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private volatile KeepAlive keepAlive;

    /** Creates a stream, which takes the link unless this fails. */
    private RdmaStream(StreamSettings settings, StreamLink link) throws RdmaException {
        this.settings = settings;
        this.link = link;
        this.core = new StreamCore(settings, link);
        this.reader = new StreamReader(core);
        this.writer = new StreamWriter(core);
        startKeepAlive();
    }

    /** Creates a stream, which takes the link; if this fails, the link is closed. */
    static RdmaStream create(StreamSettings settings, StreamLink link) throws RdmaException {
        boolean made = false;
        try {
            RdmaStream stream = new RdmaStream(settings, link);
            made = true;
            return stream;
        } finally {
            if (!made) {
                link.close();
            }
        }
    }

    private void startKeepAlive() {
        if (keepAlive == null && core.isConnected() && !settings.keepAlive().isZero()) {
            keepAlive = KeepAlive.start(core, settings.keepAlive());
        }
    }

    /**
     * Creates a stream that is not connected ({@code rsocket}), with default settings.
     *
     * @return the stream, to be closed
     * @throws RdmaException as {@link #open(StreamSettings)}
     */
    public static RdmaStream open() throws RdmaException {
        return open(StreamSettings.defaults());
    }

    /**
     * Creates a stream that is not connected ({@code rsocket}).
     *
     * @param settings the settings
     * @return the stream, to be closed
     * @throws RdmaException ENODEV when this machine has no RDMA device, EMFILE when the limit of open files is reached
     */
    public static RdmaStream open(StreamSettings settings) throws RdmaException {
        return create(settings, new StreamLink(Objects.requireNonNull(settings, "settings")));
    }

    /**
     * Connects to a server, with default settings.
     *
     * @param peer the address of the server
     * @param timeout the longest time to wait
     * @return the stream, to be closed
     * @throws RdmaException as {@link #connect(InetSocketAddress, Duration)}
     * @throws InterruptedException when this thread was interrupted
     */
    public static RdmaStream connect(InetSocketAddress peer, Duration timeout)
            throws RdmaException, InterruptedException {
        return connect(peer, StreamSettings.defaults(), timeout);
    }

    /**
     * Connects to a server.
     *
     * @param peer the address of the server
     * @param settings the settings
     * @param timeout the longest time to wait
     * @return the stream, to be closed
     * @throws RdmaException as {@link #finishConnect(Duration)}
     * @throws InterruptedException when this thread was interrupted
     */
    public static RdmaStream connect(InetSocketAddress peer, StreamSettings settings, Duration timeout)
            throws RdmaException, InterruptedException {
        Deadline.requireValid(timeout);
        RdmaStream stream = open(settings);
        boolean connected = false;
        try {
            stream.startConnect(peer);
            stream.finishConnect(timeout);
            connected = true;
            return stream;
        } finally {
            if (!connected) {
                stream.close();
            }
        }
    }

    /** {@return the settings} */
    public StreamSettings settings() {
        return settings;
    }

    /**
     * Binds the stream to a local address before it is connected ({@code rbind}).
     *
     * @param local the address; port 0 means any free port
     * @throws IllegalStateException when the stream is bound or connected already
     * @throws RdmaException EADDRINUSE when the port is in use; ENODEV when the address belongs to no RDMA device
     */
    public void bind(InetSocketAddress local) throws RdmaException {
        core.bind(Objects.requireNonNull(local, "local"));
    }

    /**
     * Starts to connect ({@code rconnect}) without waiting. {@link #finishConnect()} says when it is done.
     *
     * @param peer the address of the server
     * @throws IllegalStateException when the stream is connected or connecting already
     * @throws RdmaException ENETUNREACH or EHOSTUNREACH when there is no route to the address; ENODEV when it leads
     *         through no RDMA device. The stream is of no use then, and must be closed
     */
    public void startConnect(InetSocketAddress peer) throws RdmaException {
        core.startConnect(Objects.requireNonNull(peer, "peer"));
    }

    /**
     * Carries on with the connect, without waiting.
     *
     * @return whether the stream is connected
     * @throws IllegalStateException when {@link #startConnect} was not called
     * @throws io.rdmacm.core.RejectedException when the server rejected the connection, or nobody listens there
     * @throws io.rdmacm.core.UnreachableException when the server could not be reached
     * @throws StreamProtocolException when the server does not speak the protocol of rsockets
     * @throws RdmaException when the device has no resources. After any exception the stream must be closed
     */
    public boolean finishConnect() throws RdmaException {
        boolean connected = core.finishConnect();
        startKeepAlive();
        return connected;
    }

    /**
     * Waits until the stream is connected.
     *
     * @param timeout the longest time to wait
     * @throws io.rdmacm.verbs.error.RdmaTimeoutException when the stream was not connected in time; it goes on
     *         connecting
     * @throws RdmaException as {@link #finishConnect()}
     * @throws InterruptedException when this thread was interrupted
     */
    public void finishConnect(Duration timeout) throws RdmaException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        while (!finishConnect()) {
            if (!core.await(CONNECT, deadline, false)) {
                throw new RdmaTimeoutException(FUNCTION, this + " was not connected within " + timeout);
            }
        }
    }

    /**
     * Takes what has arrived and finished, without waiting, and says what can be done now. It costs one poll of the
     * completion queue.
     *
     * @return {@link #READABLE}, {@link #WRITABLE}, {@link #CONNECTED} and {@link #ENDED}, or-ed; never throws because
     *         the stream has failed
     */
    public int poll() {
        return core.poll();
    }

    /**
     * Returns a file descriptor for event loops. It becomes readable after {@link #arm()} has returned true, when
     * {@link #poll()} may have something new to say, also because another thread has read or written. It is unreadable
     * again after {@code poll}, or a {@code read} or {@code write} by the thread that armed it. It fits both
     * level-triggered and edge-triggered loops.
     *
     * @return the file descriptor, which belongs to this stream; do not read or close it
     * @throws RdmaException EMFILE when the limit of open files is reached
     */
    public int fd() throws RdmaException {
        return core.fd();
    }

    /**
     * Prepares {@link #fd()} for a sleep of the event loop, which is the thread that calls this.
     *
     * @return true if nothing has happened since the last call of this method or {@link #poll()}, so that the loop may
     *         sleep; false if something has, also if another thread has read or written meanwhile, so that the loop
     *         should poll again
     * @throws RdmaException when the driver fails
     */
    public boolean arm() throws RdmaException {
        return core.armFile();
    }

    /**
     * Reads what has arrived, without waiting ({@code rread}).
     *
     * @param target where to put the bytes, in native or heap memory
     * @return the number of bytes; 0 when none has arrived, or the target is empty; -1 at the end of the stream
     * @throws RdmaException when the stream has failed, see {@link RdmaStream}
     */
    public int read(MemorySegment target) throws RdmaException {
        requireWritable(target.isReadOnly());
        return reader.read(target);
    }

    /**
     * Reads what has arrived, without waiting ({@code rread}).
     *
     * @param target where to put the bytes; its position moves
     * @return the number of bytes; 0 when none has arrived, or the target is full; -1 at the end of the stream
     * @throws RdmaException when the stream has failed, see {@link RdmaStream}
     */
    public int read(ByteBuffer target) throws RdmaException {
        requireWritable(target.isReadOnly());
        return reader.read(target);
    }

    /**
     * Reads what has arrived into several buffers, without waiting ({@code rreadv}).
     *
     * @param targets where to put the bytes, one after the other; their positions move
     * @param first the index of the first buffer
     * @param count the number of buffers
     * @return the number of bytes; 0 when none has arrived, or the targets are full; -1 at the end of the stream
     * @throws RdmaException when the stream has failed, see {@link RdmaStream}
     */
    public long read(ByteBuffer[] targets, int first, int count) throws RdmaException {
        Objects.checkFromIndexSize(first, count, targets.length);
        for (int i = first; i < first + count; i++) {
            requireWritable(targets[i].isReadOnly());
        }
        return reader.read(targets, first, count);
    }

    /**
     * Waits until bytes have arrived, and reads them.
     *
     * @param target where to put the bytes, in native or heap memory
     * @param timeout the longest time to wait
     * @return the number of bytes, at least 1 unless the target is empty; -1 at the end of the stream
     * @throws io.rdmacm.verbs.error.RdmaTimeoutException when no byte arrived in time
     * @throws RdmaException when the stream has failed, see {@link RdmaStream}
     * @throws InterruptedException when this thread was interrupted; no byte is lost
     */
    public int read(MemorySegment target, Duration timeout) throws RdmaException, InterruptedException {
        Deadline.requireValid(timeout);
        int length = read(target);
        if (length != 0 || target.byteSize() == 0) {
            return length;
        }
        Deadline deadline = Deadline.after(timeout);
        do {
            awaitInput(deadline, timeout);
            length = reader.read(target);
        } while (length == 0);
        return length;
    }

    /**
     * Waits until bytes have arrived, and reads them.
     *
     * @param target where to put the bytes; its position moves
     * @param timeout the longest time to wait
     * @return the number of bytes, at least 1 unless the target is full; -1 at the end of the stream
     * @throws io.rdmacm.verbs.error.RdmaTimeoutException when no byte arrived in time
     * @throws RdmaException when the stream has failed, see {@link RdmaStream}
     * @throws InterruptedException when this thread was interrupted; no byte is lost
     */
    public int read(ByteBuffer target, Duration timeout) throws RdmaException, InterruptedException {
        Deadline.requireValid(timeout);
        int length = read(target);
        if (length != 0 || !target.hasRemaining()) {
            return length;
        }
        Deadline deadline = Deadline.after(timeout);
        do {
            awaitInput(deadline, timeout);
            length = reader.read(target);
        } while (length == 0);
        return length;
    }

    /**
     * Writes as much as there is room for, without waiting ({@code rwrite}). The bytes are copied.
     *
     * @param source the bytes, in native or heap memory
     * @return the number of bytes, which may be less than there are; 0 when there is no room
     * @throws RdmaException when the stream has failed, see {@link RdmaStream}
     */
    public int write(MemorySegment source) throws RdmaException {
        return writer.write(source, 0);
    }

    /**
     * Writes as much as there is room for, without waiting ({@code rwrite}). The bytes are copied.
     *
     * @param source the bytes; its position moves
     * @return the number of bytes, which may be less than there are; 0 when there is no room
     * @throws RdmaException when the stream has failed, see {@link RdmaStream}
     */
    public int write(ByteBuffer source) throws RdmaException {
        return writer.write(source);
    }

    /**
     * Writes as much of several buffers as there is room for, without waiting ({@code rwritev}). The bytes are copied.
     *
     * @param sources the bytes, one buffer after the other; their positions move
     * @param first the index of the first buffer
     * @param count the number of buffers
     * @return the number of bytes, which may be less than there are; 0 when there is no room
     * @throws RdmaException when the stream has failed, see {@link RdmaStream}
     */
    public long write(ByteBuffer[] sources, int first, int count) throws RdmaException {
        Objects.checkFromIndexSize(first, count, sources.length);
        for (int i = first; i < first + count; i++) {
            Objects.requireNonNull(sources[i], "source");
        }
        return writer.write(sources, first, count);
    }

    /**
     * Writes as much as there is room for at the peer, without waiting and without copying: the device reads the bytes
     * where they are. They must not change until {@link #releasedBytes()} has reached the value that
     * {@link #lentBytes()} has after this call, and the region must not be closed before.
     *
     * @param region memory that was registered in {@link #protectionDomain()}
     * @param offset of the bytes in the region
     * @param length the number of bytes
     * @return the number of bytes, which may be less than there are; 0 when there is no room
     * @throws IllegalArgumentException when the region belongs to another protection domain
     * @throws IndexOutOfBoundsException when the bytes are not within the region
     * @throws RdmaException when the stream has failed, see {@link RdmaStream}
     */
    public int write(MemoryRegion region, long offset, int length) throws RdmaException {
        return writer.write(region, offset, length);
    }

    /** {@return how many bytes have been written without copying, altogether} */
    public long lentBytes() {
        SendLedger ledger = core.ledger();
        return ledger == null ? 0 : ledger.lent();
    }

    /**
     * Returns how many of the bytes in {@link #lentBytes()} the device has read, so that the program may change them,
     * as of the last {@link #poll()}, {@code read} or {@code write}. When the stream has been closed, all are
     * released. {@link #arm()} returns false, and {@link #fd()} becomes readable, when the number has changed.
     *
     * @return the number of bytes, in the order in which they were written
     */
    public long releasedBytes() {
        SendLedger ledger = core.ledger();
        return ledger == null ? 0 : ledger.released();
    }

    /**
     * Writes all bytes, and waits for room as often as necessary. The bytes are copied. Does not wait until they have
     * arrived.
     *
     * @param source the bytes, in native or heap memory
     * @param timeout the longest time to wait
     * @throws io.rdmacm.verbs.error.RdmaTimeoutException when there was no room in time. An unknown number of bytes was
     *         written; with a ByteBuffer it is known
     * @throws RdmaException when the stream has failed, see {@link RdmaStream}
     * @throws InterruptedException when this thread was interrupted; an unknown number of bytes was written
     */
    public void write(MemorySegment source, Duration timeout) throws RdmaException, InterruptedException {
        Deadline.requireValid(timeout);
        long written = writer.write(source, 0);
        Deadline deadline = null;
        while (written < source.byteSize()) {
            deadline = deadline == null ? Deadline.after(timeout) : deadline;
            awaitOutput(deadline, timeout);
            written += writer.write(source, written);
        }
    }

    /**
     * Writes all bytes, and waits for room as often as necessary. The bytes are copied. Does not wait until they have
     * arrived.
     *
     * @param source the bytes; its position moves, also when an exception is thrown
     * @param timeout the longest time to wait
     * @throws io.rdmacm.verbs.error.RdmaTimeoutException when there was no room in time
     * @throws RdmaException when the stream has failed, see {@link RdmaStream}
     * @throws InterruptedException when this thread was interrupted
     */
    public void write(ByteBuffer source, Duration timeout) throws RdmaException, InterruptedException {
        Deadline.requireValid(timeout);
        writer.write(source);
        Deadline deadline = null;
        while (source.hasRemaining()) {
            deadline = deadline == null ? Deadline.after(timeout) : deadline;
            awaitOutput(deadline, timeout);
            writer.write(source);
        }
    }

    /**
     * Waits until one of several things is possible.
     *
     * @param interest {@link #READABLE}, {@link #WRITABLE}, {@link #CONNECTED} and {@link #ENDED}, or-ed
     * @param timeout the longest time to wait
     * @return those of them that are possible; 0 when the time has run out
     * @throws IllegalArgumentException when the interest is empty or has other bits
     * @throws RdmaException when another thread closed the stream, or the wait fails
     * @throws InterruptedException when this thread was interrupted
     */
    public int await(int interest, Duration timeout) throws RdmaException, InterruptedException {
        if (interest == 0 || (interest & ~ALL) != 0) {
            throw new IllegalArgumentException("not an interest: " + interest);
        }
        core.await(any -> (any.readiness() & interest) != 0, Deadline.after(timeout), false);
        startKeepAlive();
        return core.poll() & interest;
    }

    /**
     * Ends reading ({@code rshutdown} with {@code SHUT_RD}): reads return -1 from now on, and what arrives is dropped.
     * If the output has been shut down as well, the peer is told that the stream has ended. Has no effect when called
     * again.
     *
     * @throws IllegalStateException when the stream is not connected
     * @throws RdmaException when the device refuses the message to the peer
     */
    public void shutdownInput() throws RdmaException {
        reader.enter();
        try {
            core.shutdownInput();
        } finally {
            reader.leave();
        }
    }

    /**
     * Ends writing ({@code rshutdown} with {@code SHUT_WR}): the peer reads the end of the stream after everything that
     * was written before. Does not wait until it has arrived. Has no effect when called again.
     *
     * @throws IllegalStateException when the stream is not connected
     * @throws RdmaException when the device refuses the message to the peer
     */
    public void shutdownOutput() throws RdmaException {
        writer.enter();
        try {
            core.shutdownOutput();
        } finally {
            writer.leave();
        }
    }

    /**
     * Gives the peer access to memory ({@code riomap}): it can write there directly, with {@link #writeMapped}. The
     * settings of the peer must have {@link StreamSettings#mapSlots()}. It knows of the mapping as soon as it has read
     * a byte that was written after this call.
     *
     * @param memory native memory
     * @param offset the offset by which the peer names the first byte of the memory
     * @return the mapping
     * @throws IllegalArgumentException when the memory is empty, on the heap, longer than 2^32 - 1 bytes or read-only,
     *         or the offset is negative
     * @throws IllegalStateException when the stream is not connected, or the peer has no free slot
     * @throws RdmaException when the memory cannot be registered
     */
    public StreamMapping map(MemorySegment memory, long offset) throws RdmaException {
        if (!memory.isNative() || memory.byteSize() == 0 || memory.byteSize() > MOST_MAPPED || memory.isReadOnly()) {
            throw new IllegalArgumentException("only native memory of 1 to " + MOST_MAPPED + " bytes that is not"
                    + " read-only can be mapped: " + memory);
        }
        if (offset < 0) {
            throw new IllegalArgumentException("the offset is negative: " + offset);
        }
        StreamMapping mapping = core.map(memory, offset);
        writer.publishMappings();
        return mapping;
    }

    /**
     * Writes directly to memory that the peer has mapped, as much as there is room for, without waiting
     * ({@code riowrite}). The peer is not told; it has the bytes when it has read a byte that was written to the stream
     * afterwards. The bytes are copied.
     *
     * @param source the bytes, in native or heap memory
     * @param offset where to put the first byte
     * @return the number of bytes, which may be less than there are, because there is no room or the mapping ends; 0
     *         when there is no room
     * @throws IndexOutOfBoundsException when the peer has mapped no memory at the offset
     * @throws RdmaException when the stream has failed, see {@link RdmaStream}
     */
    public int writeMapped(MemorySegment source, long offset) throws RdmaException {
        return writer.writeMapped(source, offset);
    }

    /** {@return whether the stream is connected: the handshake is complete, and the stream is not closed} */
    public boolean isConnected() {
        return core.isConnected() && !core.isClosing();
    }

    /** {@return whether the stream has not been closed} */
    public boolean isOpen() {
        return !core.isClosing();
    }

    /**
     * Returns the local address ({@code rgetsockname}). It stays available after a close.
     *
     * @return the address; null when the stream is neither bound nor connected
     */
    public @Nullable InetSocketAddress localAddress() {
        return link.localAddress();
    }

    /**
     * Returns the address of the peer ({@code rgetpeername}). It stays available after a close.
     *
     * @return the address; null when the stream is not connected
     */
    public @Nullable InetSocketAddress peerAddress() {
        return link.peerAddress();
    }

    /**
     * Returns the protection domain, which is that of all streams over the same device. Memory that is registered in it
     * can be {@linkplain #write(MemoryRegion, long, int) written without copying}. It is closed when the last stream
     * over the device and all regions in it are closed.
     *
     * @return the domain
     * @throws IllegalStateException when the stream has no device yet, because it is not connected
     */
    public ProtectionDomain protectionDomain() {
        StreamQueues queues = core.queues();
        if (queues == null) {
            throw new IllegalStateException(this + " is not connected");
        }
        return queues.domain();
    }

    /**
     * Closes the stream ({@code rclose}). Threads that wait for it are woken and throw RdmaClosedException. The peer
     * reads the end of the stream after everything that was written. Waits until the peer's device has received that,
     * but no longer than {@link StreamSettings#linger()}. Has no effect when called again.
     *
     * @throws RdmaException when an object could not be closed
     */
    @Override
    public void close() throws RdmaException {
        if (core.beginClose()) {
            finishClose();
        } else {
            awaitClosed();
        }
    }

    /**
     * Starts to close the stream, without waiting: like {@link #close()}, which a virtual thread carries on with. From
     * now on the stream counts as closed, and {@link #fd()} must not be used any more; remove it from event loops
     * before.
     *
     * @return how the close ends
     */
    public CompletableFuture<Void> closeAsync() {
        if (core.beginClose()) {
            Thread.ofVirtual().name("rdmacm-stream-close").start(this::finishCloseInBackground);
        }
        return closed.copy();
    }

    private void awaitInput(Deadline deadline, Duration timeout) throws RdmaException, InterruptedException {
        if (!core.await(READ, deadline, false)) {
            throw new RdmaTimeoutException(FUNCTION, "nothing arrived on " + this + " within " + timeout);
        }
    }

    private void awaitOutput(Deadline deadline, Duration timeout) throws RdmaException, InterruptedException {
        if (!core.await(WRITE, deadline, false)) {
            throw new RdmaTimeoutException(FUNCTION, "there was no room on " + this + " within " + timeout);
        }
    }

    private static void requireWritable(boolean readOnly) {
        if (readOnly) {
            throw new IllegalArgumentException("the target is read-only");
        }
    }

    private void finishCloseInBackground() {
        try {
            finishClose();
        } catch (RdmaException | RuntimeException e) {
            LOG.debug("{} could not be closed", this, e);
        }
    }

    private void finishClose() throws RdmaException {
        try {
            // After these, no thread is reading or writing, and none will.
            writer.enter();
            writer.leave();
            reader.enter();
            reader.leave();
            if (keepAlive != null) {
                keepAlive.stop();
            }
            core.sayGoodbye();
            linger();
            core.free();
            closed.complete(null);
        } catch (RdmaException | RuntimeException e) {
            closed.completeExceptionally(e);
            throw e;
        }
    }

    private void linger() throws RdmaException {
        Deadline deadline = Deadline.after(settings.linger());
        boolean interrupted = Thread.interrupted();
        try {
            core.await(DELIVERED, deadline, true);
        } catch (InterruptedException e) {
            // Whoever interrupts wants the thread back: what is still in flight is lost.
            interrupted = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void awaitClosed() throws RdmaException {
        try {
            closed.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RdmaException cause) {
                throw cause;
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    @Override
    public String toString() {
        return core.toString();
    }
}
