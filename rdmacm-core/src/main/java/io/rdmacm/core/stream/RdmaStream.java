// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.rdmacm.core.internal.engine.BackgroundTask;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.life.Parts;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.metrics.MetricSource;
import org.jspecify.annotations.Nullable;

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
 * Of several threads that write, one has its turn at a time, until all its bytes are written: others that wait do so
 * until then, and methods that never wait return 0 meanwhile. The same holds for reading.
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
 * <h2>On iWARP</h2>
 *
 * <p>The side that has connected must be the first one to send, so the output of an accepted stream has no room until
 * the peer's library has taken note that it is connected, which it does in the first call of the program after that.
 *
 * <h2>What is not supported</h2>
 *
 * <p>Urgent data and datagrams.
 */
public final class RdmaStream implements MetricSource, AutoCloseable {
    /** A read would not return 0: there is data, the end of the stream, or an exception. */
    public static final int READABLE = 1;
    /** A write would not return 0: there is room, or it would throw an exception. */
    public static final int WRITABLE = 2;
    /** {@link #finishConnect()} would not return false. */
    public static final int CONNECTED = 4;
    /** The stream has failed, or neither side will send anything more. */
    public static final int ENDED = 8;

    private static final String FUNCTION = "rsocket";
    private static final int ALL = READABLE | WRITABLE | CONNECTED | ENDED;
    private static final long MOST_MAPPED = 0xFFFF_FFFFL;
    // How long a close may take after the stream has lingered.
    private static final long CLOSE_NANOS = TimeUnit.MINUTES.toNanos(1);
    private static final long LONGEST_LINGER = TimeUnit.DAYS.toNanos(36_500);


    private final StreamSettings settings;
    private final StreamLink link;
    private final StreamCore core;
    private final StreamReader reader;
    private final StreamWriter writer;
    private final StreamTask task;

    /** Creates a stream, which takes the link unless this fails. */
    private RdmaStream(StreamSettings settings, StreamLink link, @Nullable StreamLoop shared,
            @Nullable Runnable changed) throws RdmaException {
        this.settings = settings;
        this.link = link;
        this.core = new StreamCore(settings, link, shared, changed);
        this.reader = new StreamReader(core);
        this.writer = new StreamWriter(core);
        this.task = new StreamTask(settings, core, reader, writer);
        link.onChange(task::linkChanged);
        // It may have changed before.
        task.linkChanged();
        task.keepAlive();
    }

    /** Creates a stream, which takes the link; if this fails, the link is closed. */
    static RdmaStream create(StreamSettings settings, StreamLink link) throws RdmaException {
        return create(settings, link, null, null);
    }

    /**
     * Creates a stream, which takes the link; if this fails, the link is closed.
     *
     * @param shared where its completions arrive, null for a queue of its own
     * @param changed told of changes, whoever takes the completions
     */
    static RdmaStream create(StreamSettings settings, StreamLink link, @Nullable StreamLoop shared,
            @Nullable Runnable changed) throws RdmaException {
        try (Parts parts = new Parts()) {
            parts.add(link, StreamLink::close);
            RdmaStream stream = new RdmaStream(settings, link, shared, changed);
            if (shared != null) {
                shared.added();
            }
            return parts.complete(stream);
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

    /** Returns the heart of the stream. */
    StreamCore core() {
        return core;
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
     * Starts to connect ({@code rconnect}) without waiting. {@link #finishConnect()} says when it is done. A stream
     * that is bound to a wildcard address connects to both IPv4 and IPv6.
     *
     * @param peer the address of the server; a wildcard address stands for this host
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
        task.keepAlive();
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
            if (!core.await(CONNECTED, deadline)) {
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
        requireWritable(targets, first, count);
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
        requireWritable(target.isReadOnly());
        return (int) read(StreamReader::read, target, target.byteSize() == 0, timeout);
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
        requireWritable(target.isReadOnly());
        return (int) read(StreamReader::read, target, !target.hasRemaining(), timeout);
    }

    /**
     * Waits until bytes have arrived, and reads them into several buffers.
     *
     * @param targets where to put the bytes, one after the other; their positions move
     * @param first the index of the first buffer
     * @param count the number of buffers
     * @param timeout the longest time to wait
     * @return the number of bytes, at least 1 unless the targets are full; -1 at the end of the stream
     * @throws io.rdmacm.verbs.error.RdmaTimeoutException when no byte arrived in time
     * @throws RdmaException when the stream has failed, see {@link RdmaStream}
     * @throws InterruptedException when this thread was interrupted; no byte is lost
     */
    public long read(ByteBuffer[] targets, int first, int count, Duration timeout)
            throws RdmaException, InterruptedException {
        requireWritable(targets, first, count);
        boolean full = remaining(targets, first, count) == 0;
        return read((from, all) -> from.read(all, first, count), targets, full, timeout);
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
        requireNonNull(sources, first, count);
        return writer.write(sources, first, count);
    }

    /**
     * Writes as much as there is room for at the peer, without waiting and without copying: the device reads the bytes
     * where they are. They must not change until {@link #releasedBytes()} has reached the value that
     * {@link #lentBytes()} has after this call, and the region must not be closed before.
     *
     * @param region memory that was registered in {@link #protectionDomain()}
     * @param offset of the bytes in the region
     * @param length the number of bytes, of which a call takes at most {@code Integer.MAX_VALUE}
     * @return the number of bytes, which may be less than there are; 0 when there is no room
     * @throws IllegalArgumentException when the region belongs to another protection domain
     * @throws IndexOutOfBoundsException when the bytes are not within the region
     * @throws RdmaException when the stream has failed, see {@link RdmaStream}
     */
    public int write(MemoryRegion region, long offset, long length) throws RdmaException {
        return writer.write(region, offset, length);
    }

    /** {@return what this stream has sent and received so far, also after its close} */
    public StreamCounters counters() {
        return core.counters();
    }

    /** {@return {@link #counters()} by name} */
    @Override
    public Map<String, Long> metrics() {
        return counters().metrics();
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
        write(StreamWriter::write, source, source.byteSize(), timeout);
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
        write((to, all, written) -> to.write(all), source, source.remaining(), timeout);
    }

    /**
     * Writes all bytes of several buffers, and waits for room as often as necessary. The bytes are copied. Does not
     * wait until they have arrived.
     *
     * @param sources the bytes, one buffer after the other; their positions move, also when an exception is thrown
     * @param first the index of the first buffer
     * @param count the number of buffers
     * @param timeout the longest time to wait
     * @throws io.rdmacm.verbs.error.RdmaTimeoutException when there was no room in time
     * @throws RdmaException when the stream has failed, see {@link RdmaStream}
     * @throws InterruptedException when this thread was interrupted
     */
    public void write(ByteBuffer[] sources, int first, int count, Duration timeout)
            throws RdmaException, InterruptedException {
        requireNonNull(sources, first, count);
        write((to, all, written) -> to.write(all, first, count), sources, remaining(sources, first, count), timeout);
    }

    /**
     * Returns how many bytes have arrived and not been read ({@code FIONREAD} of TCP).
     *
     * @return the number of bytes that a {@code read} would return without waiting; 0 at the end of the stream, and
     *         when it has failed
     * @throws IllegalStateException when the stream is not connected
     * @throws RdmaException when another thread closed the stream
     */
    public int available() throws RdmaException {
        return core.available();
    }

    /**
     * Sets how often an idle stream checks that the peer can be reached ({@code SO_KEEPALIVE} and
     * {@code TCP_KEEPIDLE}), instead of what the {@linkplain StreamSettings#keepAlive() settings} say. May be called at
     * any time.
     *
     * @param interval at least 1 ms; zero for never
     * @throws IllegalArgumentException when the interval is out of its range
     */
    public void keepAlive(Duration interval) {
        task.keepAlive(settings.toBuilder().keepAlive(interval).build().keepAlive());
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
        core.await(interest, Deadline.after(timeout));
        task.keepAlive();
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
        try (var _ = reader.turn().hold()) {
            core.shutdownInput();
        }
    }

    /**
     * Ends writing ({@code rshutdown} with {@code SHUT_WR}): the peer reads the end of the stream after everything that
     * was written before. Does not wait until it has arrived. A write of another thread that is waiting for room throws
     * RdmaClosedException. Has no effect when called again.
     *
     * @throws IllegalStateException when the stream is not connected
     * @throws RdmaException when the device refuses the message to the peer
     */
    public void shutdownOutput() throws RdmaException {
        try (var _ = writer.turn().hold()) {
            core.shutdownOutput();
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
     * can be {@linkplain #write(MemoryRegion, long, long) written without copying}. It is closed when the last stream
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
     * but no longer than {@link StreamSettings#linger()}; an interrupt ends that wait. When the program ends before, it
     * gets up to 2 seconds. Has no effect when called again.
     *
     * @throws RdmaTimeoutException when a thread that uses the stream does not leave it for a minute
     * @throws RdmaException when an object could not be closed
     */
    @Override
    public void close() throws RdmaException {
        CompletableFuture<Void> closed = task.close();
        if (!BackgroundTask.isCurrentThread()) {
            awaitClosed(closed);
        }
    }

    /**
     * Starts to close the stream, without waiting: like {@link #close()}, which a thread of the library carries on
     * with. From now on the stream counts as closed, and {@link #fd()} must not be used any more; remove it from event
     * loops before.
     *
     * @return how the close ends. What depends on it may be called by the thread that closes all streams, and must not
     *         block it: there, {@code get} and {@code join} of a close that has not ended throw IllegalStateException
     */
    public CompletableFuture<Void> closeAsync() {
        return task.close().copy();
    }

    private void awaitClosed(CompletableFuture<Void> closed) throws RdmaException {
        long linger = Math.min(TimeUnit.NANOSECONDS.convert(settings.linger()), LONGEST_LINGER);
        long end = System.nanoTime() + linger + CLOSE_NANOS;
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    closed.get(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                    return;
                } catch (InterruptedException e) {
                    // Whoever interrupts wants the thread back: what is still in flight is lost.
                    interrupted = true;
                    end = Math.min(end, System.nanoTime() + CLOSE_NANOS);
                    task.hurry();
                }
            }
        } catch (TimeoutException e) {
            throw new RdmaTimeoutException(FUNCTION, this + " could not be closed yet; that goes on: one of its threads"
                    + " does not leave it, or the machine is overloaded");
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RdmaException cause) {
                throw cause;
            }
            throw new IllegalStateException(e.getCause());
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** A part of a read. */
    @FunctionalInterface
    private interface Read<T> {
        /** Reads without waiting. */
        long run(StreamReader from, T target) throws RdmaException;
    }

    /** A part of a write. */
    @FunctionalInterface
    private interface Write<T> {
        /** Writes without waiting, after so many bytes. */
        long run(StreamWriter to, T source, long written) throws RdmaException;
    }

    /** Waits for this thread's turn, and takes its lock. Returns the deadline, null if there was no need to wait. */
    private @Nullable Deadline takeTurn(Turn turn, Duration timeout, String what)
            throws RdmaException, InterruptedException {
        Deadline.requireValid(timeout);
        turn.lock();
        if (!turn.isOfAnother()) {
            return null;
        }
        boolean taken = false;
        try {
            Deadline deadline = Deadline.after(timeout);
            taken = turn.await(deadline);
            if (!taken) {
                throw new RdmaTimeoutException(FUNCTION, "nothing was " + what + " on " + this + " within " + timeout
                        + ", because another thread was waiting to do so");
            }
            return deadline;
        } finally {
            if (!taken) {
                turn.unlock();
            }
        }
    }

    /** Reads what there is; keeps the turn of this thread while it waits, if there is nothing. */
    private <T> long read(Read<T> read, T target, boolean full, Duration timeout)
            throws RdmaException, InterruptedException {
        Deadline begun = takeTurn(reader.turn(), timeout, "read");
        try {
            long length = read.run(reader, target);
            if (length != 0 || full) {
                return length;
            }
            reader.turn().keep();
        } finally {
            reader.turn().unlock();
        }
        try {
            Deadline deadline = begun == null ? Deadline.after(timeout) : begun;
            long length;
            do {
                if (!core.await(READABLE, deadline)) {
                    throw new RdmaTimeoutException(FUNCTION, "nothing arrived on " + this + " within " + timeout);
                }
                length = read.run(reader, target);
            } while (length == 0);
            return length;
        } finally {
            reader.turn().end();
            core.turnEnded();
        }
    }

    /** Writes all; keeps the turn of this thread while it waits, if there is no room for all. */
    private <T> void write(Write<T> write, T source, long length, Duration timeout)
            throws RdmaException, InterruptedException {
        Deadline begun = takeTurn(writer.turn(), timeout, "written");
        long written;
        try {
            written = write.run(writer, source, 0);
            if (written == length) {
                return;
            }
            writer.turn().keep();
        } finally {
            writer.turn().unlock();
        }
        try {
            Deadline deadline = begun == null ? Deadline.after(timeout) : begun;
            for (; written < length; written += write.run(writer, source, written)) {
                if (!core.await(WRITABLE, deadline)) {
                    throw noRoom(timeout);
                }
            }
        } catch (IllegalStateException e) {
            // It was not when the write began.
            if (core.isOutputShut()) {
                throw new RdmaClosedException(FUNCTION, "the output of " + this);
            }
            throw e;
        } finally {
            writer.turn().end();
            core.turnEnded();
        }
    }

    private RdmaTimeoutException noRoom(Duration timeout) throws RdmaException {
        int unread = available();
        return new RdmaTimeoutException(FUNCTION, "there was no room on " + this + " within " + timeout
                + (unread == 0 ? "" : ": " + unread + " bytes of the peer have arrived and were not read; where both"
                        + " sides write first, each waits for the other"));
    }

    private static long remaining(ByteBuffer[] buffers, int first, int count) {
        long bytes = 0;
        for (int i = first; i < first + count; i++) {
            bytes += buffers[i].remaining();
        }
        return bytes;
    }

    private static void requireNonNull(ByteBuffer[] buffers, int first, int count) {
        Objects.checkFromIndexSize(first, count, buffers.length);
        for (int i = first; i < first + count; i++) {
            Objects.requireNonNull(buffers[i], "buffer");
        }
    }

    private static void requireWritable(ByteBuffer[] targets, int first, int count) {
        Objects.checkFromIndexSize(first, count, targets.length);
        for (int i = first; i < first + count; i++) {
            requireWritable(targets[i].isReadOnly());
        }
    }

    private static void requireWritable(boolean readOnly) {
        if (readOnly) {
            throw new IllegalArgumentException("the target is read-only");
        }
    }

    @Override
    public String toString() {
        return core.toString();
    }
}
