// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.internal.wait.EventFile;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Listens for {@link RdmaStream}s at an address ({@code rlisten}). Handshakes are carried on in the background by a
 * virtual thread, and established streams wait until they are accepted. When the backlog is full, further ones are
 * rejected.
 *
 * <p>All methods may be called from any number of threads; {@link #close()} wakes those that wait.
 */
public final class RdmaStreamServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RdmaStreamServer.class);
    private static final String FUNCTION = "raccept";

    private final StreamSettings settings;
    private final int backlog;
    private final EventChannel channel;
    private final CmId id;
    private final InetSocketAddress localAddress;
    // used by the thread only
    private final StreamHandshakes handshakes;
    private final Thread thread;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition acceptable = lock.newCondition();
    // guarded by the lock
    private final ArrayDeque<RdmaStream> established = new ArrayDeque<>();
    private final ArrayDeque<RdmaException> problems = new ArrayDeque<>();
    private final EventFile file;
    // why there will be no more streams; null while there may be
    private @Nullable RdmaException failure;
    private boolean closing;
    private boolean closed;

    private RdmaStreamServer(StreamSettings settings, int backlog, EventChannel channel, CmId id, EventFile file) {
        this.settings = settings;
        this.backlog = backlog;
        this.channel = channel;
        this.id = id;
        this.localAddress = id.localAddress();
        this.file = file;
        this.handshakes = new StreamHandshakes(settings);
        this.thread = Thread.ofVirtual().name("rdmacm-stream-server-" + localAddress.getPort()).unstarted(this::run);
    }

    /**
     * Listens at an address, with default settings and a backlog of 128.
     *
     * @param local the address; port 0 means any free port, the wildcard address all devices
     * @return the server, to be closed
     * @throws RdmaException as {@link #listen(InetSocketAddress, int, StreamSettings)}
     */
    public static RdmaStreamServer listen(InetSocketAddress local) throws RdmaException {
        return listen(local, 128, StreamSettings.defaults());
    }

    /**
     * Listens at an address ({@code rsocket}, {@code rbind} and {@code rlisten}).
     *
     * @param local the address; port 0 means any free port, the wildcard address all devices
     * @param backlog how many streams can wait to be accepted, at least 1
     * @param settings the settings of the streams that are accepted
     * @return the server, to be closed
     * @throws RdmaException EADDRINUSE when the port is in use; ENODEV when the address belongs to no RDMA device
     */
    public static RdmaStreamServer listen(InetSocketAddress local, int backlog, StreamSettings settings)
            throws RdmaException {
        if (backlog < 1) {
            throw new IllegalArgumentException("backlog must be at least 1, not " + backlog);
        }
        Objects.requireNonNull(local, "local");
        Objects.requireNonNull(settings, "settings");
        EventChannel channel = EventChannel.open();
        CmId id = null;
        EventFile file = null;
        RdmaStreamServer server = null;
        try {
            id = CmId.open(channel, PortSpace.TCP);
            if (settings.reuseAddress()) {
                id.options().reuseAddress(true);
            }
            id.bindAddress(local);
            id.listen(backlog);
            file = EventFile.open();
            server = new RdmaStreamServer(settings, backlog, channel, id, file);
            server.thread.start();
            return server;
        } finally {
            if (server == null) {
                if (file != null) {
                    file.close();
                }
                if (id != null) {
                    id.close();
                }
                channel.close();
            }
        }
    }

    /** {@return the address, with the actual port; it stays available after a close} */
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    /** {@return the settings of the streams that are accepted} */
    public StreamSettings settings() {
        return settings;
    }

    /**
     * Takes an established stream, without waiting ({@code raccept}).
     *
     * @return the stream, to be closed; null when there is none
     * @throws RdmaException when the device was removed, or had no resources for a stream
     */
    public @Nullable RdmaStream accept() throws RdmaException {
        lock.lock();
        try {
            return take();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for an established stream, and takes it ({@code raccept}).
     *
     * @param timeout the longest time to wait
     * @return the stream, to be closed
     * @throws io.rdmacm.verbs.error.RdmaTimeoutException when there was none in time
     * @throws io.rdmacm.verbs.error.RdmaClosedException when another thread closed the server
     * @throws RdmaException when the device was removed, or had no resources for a stream
     * @throws InterruptedException when this thread was interrupted
     */
    public RdmaStream accept(Duration timeout) throws RdmaException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        lock.lockInterruptibly();
        try {
            for (RdmaStream stream = take(); ; stream = take()) {
                if (stream != null) {
                    return stream;
                }
                if (deadline.hasPassed()) {
                    throw new RdmaTimeoutException(FUNCTION, "nobody connected to " + this + " within " + timeout);
                }
                long ignored = acceptable.awaitNanos(deadline.remainingNanos());
            }
        } finally {
            lock.unlock();
        }
    }

    /** {@return whether {@link #accept()} would return a stream or throw an exception} */
    public boolean isAcceptable() {
        lock.lock();
        try {
            return closing || hasNews();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns a file descriptor for event loops, which is readable as long as {@link #isAcceptable()} is true. It needs
     * no arming.
     *
     * @return the file descriptor, which belongs to this server; do not read or close it
     */
    public int fd() {
        lock.lock();
        try {
            if (closed) {
                throw new IllegalStateException(this + " is closed");
            }
            return file.fd();
        } finally {
            lock.unlock();
        }
    }

    /** {@return whether the server was not closed, and its device not removed} */
    public boolean isOpen() {
        lock.lock();
        try {
            return !closing && failure == null;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Stops listening. Streams that were accepted stay open; those that were not are closed. Threads that wait throw
     * RdmaClosedException. Has no effect when called again.
     *
     * @throws RdmaException when an object could not be closed
     */
    @Override
    public void close() throws RdmaException {
        if (beginClose()) {
            channel.wakeup();
            joinThread();
            free();
        }
    }

    private boolean hasNews() {
        return !established.isEmpty() || !problems.isEmpty() || failure != null;
    }

    /** Returns the next stream, null if there is none. Called with the lock held. */
    private RdmaStream take() throws RdmaException {
        if (closing) {
            throw new RdmaClosedException(FUNCTION, toString());
        }
        RdmaStream stream = established.poll();
        RdmaException problem = stream == null ? problems.poll() : null;
        if (!hasNews()) {
            file.reset();
        }
        if (problem != null) {
            throw problem;
        }
        if (stream == null && failure != null) {
            throw failure;
        }
        return stream;
    }

    private void run() {
        try {
            while (isOpen()) {
                Optional<CmEvent> next = channel.pollEvent(handshakes.patience());
                if (next.isPresent()) {
                    handle(next.get());
                } else {
                    // Not before: among the events at hand may be that a peer has confirmed.
                    handshakes.endOverdue();
                }
            }
        } catch (RdmaException e) {
            fail(e);
        } catch (InterruptedException e) {
            // nothing in this library interrupts the thread, and the program does not know it
            LOG.debug("the thread of {} was interrupted", this, e);
        }
    }

    private void fail(RdmaException reason) {
        lock.lock();
        try {
            failure = reason;
            acceptable.signalAll();
            announce();
        } finally {
            lock.unlock();
        }
    }

    private void handle(CmEvent event) throws RdmaException {
        CmId connection;
        CmEventType type = event.type();
        byte[] privateData = new byte[0];
        RdmaException failure = null;
        try (event) {
            connection = event.id();
            if (type == CmEventType.CONNECT_REQUEST) {
                privateData = event.privateData();
            } else if (type == CmEventType.DEVICE_REMOVAL && connection == id) {
                failure = event.failure("listening on " + localAddress);
            }
        }
        try {
            switch (type) {
                case CONNECT_REQUEST -> begin(connection, privateData);
                case ESTABLISHED -> add(handshakes.establish(connection));
                case TIMEWAIT_EXIT, ADDR_CHANGE, USER -> LOG.debug("{} of {} is of no interest", type, connection);
                default -> handshakes.end(connection);
            }
        } catch (RdmaException e) {
            report(e);
        } catch (IllegalStateException e) {
            // The peer has given up meanwhile.
            LOG.debug("{} did not become a stream", connection, e);
        }
        if (failure != null) {
            throw failure;
        }
    }

    private void begin(CmId connection, byte[] privateData) throws RdmaException {
        boolean full;
        lock.lock();
        try {
            full = established.size() + handshakes.count() >= backlog;
        } finally {
            lock.unlock();
        }
        if (full) {
            StreamHandshakes.reject(connection);
            connection.close();
        } else {
            handshakes.begin(connection, privateData);
        }
    }

    private void add(@Nullable RdmaStream stream) throws RdmaException {
        if (stream == null) {
            return;
        }
        boolean added;
        lock.lock();
        try {
            added = !closing;
            if (added) {
                established.add(stream);
                announce();
            }
        } finally {
            lock.unlock();
        }
        if (!added) {
            stream.close();
        }
    }

    private void report(RdmaException problem) {
        lock.lock();
        try {
            LOG.debug("{} has a problem", this, problem);
            if (problems.size() < backlog) {
                problems.add(problem);
            }
            announce();
        } finally {
            lock.unlock();
        }
    }

    private void announce() {
        acceptable.signal();
        if (!closed) {
            file.wake();
        }
    }

    private boolean beginClose() {
        lock.lock();
        try {
            boolean first = !closing;
            closing = true;
            acceptable.signalAll();
            return first;
        } finally {
            lock.unlock();
        }
    }

    private void joinThread() {
        boolean interrupted = false;
        while (true) {
            try {
                thread.join();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void free() throws RdmaException {
        handshakes.close();
        id.close();
        channel.close();
        lock.lock();
        try {
            closed = true;
            file.close();
        } finally {
            lock.unlock();
        }
        for (RdmaStream stream : established) {
            stream.closeAsync();
        }
        established.clear();
    }

    @Override
    public String toString() {
        return "RdmaStreamServer[" + localAddress + "]";
    }
}
