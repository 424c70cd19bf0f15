// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.function.ToLongFunction;
import javax.management.ObjectName;

import io.rdmacm.core.CmId;
import io.rdmacm.core.PortSpace;
import io.rdmacm.core.internal.engine.CmLoop;
import io.rdmacm.core.internal.engine.DeviceResources;
import io.rdmacm.core.internal.engine.Workers;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.Stack;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.internal.wait.MixedThreadsLock;
import io.rdmacm.verbs.metrics.MetricSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates connections and listeners. A program needs only one manager.
 *
 * <p>A manager runs one daemon thread, which carries out the handshakes of all its connections and never runs code of
 * the program. Messages do not pass through it: the threads that wait for them poll the device themselves, unless
 * connections are given to the threads of {@link #startLoops}. If handlers are to be called on a connection without a
 * loop, a thread of the library waits for it.
 *
 * <p>All methods may be called from any thread. {@link #close()} closes everything that the manager has created.
 */
public final class ConnectionManager implements MetricSource, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionManager.class);
    private static final int BACKLOG = 64;

    private final CmLoop loop;
    private final SerialExecutor completions = new SerialExecutor();
    private final MixedThreadsLock lock = new MixedThreadsLock();
    private final Condition changed = lock.newCondition();
    // guarded by the lock
    private final Set<Connection> connections = new LinkedHashSet<>();
    private final Set<Listener> listeners = new LinkedHashSet<>();
    private final Set<ConnectionLoopGroup> groups = new LinkedHashSet<>();
    private final Map<VerbsContext, DeviceResources> devices = new HashMap<>();
    // of connections that were closed
    private ConnectionCounters past = ConnectionCounters.NONE;
    private long established;
    private @Nullable ManagerStatistics statistics;
    private int inside;
    private boolean closing;
    private boolean closed;

    private ConnectionManager(CmLoop loop) {
        this.loop = loop;
    }

    /** Starts a handshake. */
    @FunctionalInterface
    interface Start {
        MessageLink run() throws RdmaException;
    }

    /**
     * Creates a manager and starts its thread.
     *
     * @return the manager, to be closed
     * @throws io.rdmacm.verbs.error.NativeLibraryException when librdmacm or libibverbs is not installed
     * @throws RdmaException ENODEV when this machine has no RDMA device
     */
    public static ConnectionManager open() throws RdmaException {
        return new ConnectionManager(CmLoop.start());
    }

    /**
     * Listens for connections with the default settings and a backlog of 64.
     *
     * @param address the address to listen on; port 0 for any free port, a wildcard address for all devices and, except
     *        where there is iWARP, for both IPv4 and IPv6
     * @return the listener, to be closed
     * @throws io.rdmacm.core.UnreachableException when this machine does not have the address
     * @throws RdmaException EADDRINUSE when the port is in use; ENODEV when the address belongs to no RDMA device
     */
    public Listener listen(InetSocketAddress address) throws RdmaException {
        return listen(address, BACKLOG, ConnectionSettings.defaults());
    }

    /**
     * Listens for connections.
     *
     * @param address the address to listen on; port 0 for any free port, a wildcard address for all devices and, except
     *        where there is iWARP, for both IPv4 and IPv6
     * @param backlog how many handshakes may be in progress and connections wait to be accepted, together, at least
     *        1; further requests wait
     * @param settings the settings of the accepted connections, with at most 196 bytes of private data
     * @return the listener, to be closed
     * @throws IllegalArgumentException when the private data are too long
     * @throws io.rdmacm.core.UnreachableException when this machine does not have the address
     * @throws RdmaException EADDRINUSE when the port is in use; ENODEV when the address belongs to no RDMA device
     */
    public Listener listen(InetSocketAddress address, int backlog, ConnectionSettings settings) throws RdmaException {
        AgreedSizes.requireRoom(settings, settings.parameters(), "accept", PortSpace.TCP.maxAcceptPrivateData());
        enter();
        try {
            Listener listener = new Listener(this, loop, address, backlog, settings);
            try (var _ = lock.hold()) {
                listeners.add(listener);
            }
            return listener;
        } finally {
            leave();
        }
    }

    /**
     * Listens for connections, and accepts them all: they are passed to their handlers, from the beginning.
     *
     * @param address the address to listen on, as for {@link #listen(InetSocketAddress, int, ConnectionSettings)}
     * @param backlog how many handshakes may be in progress, at least 1; further requests wait
     * @param settings the settings of the accepted connections, with a handler
     * @return the listener, to be closed; its methods that accept throw IllegalStateException
     * @throws IllegalArgumentException when the private data are too long
     * @throws IllegalStateException when the settings have no handler
     * @throws io.rdmacm.core.UnreachableException when this machine does not have the address
     * @throws RdmaException EADDRINUSE when the port is in use; ENODEV when the address belongs to no RDMA device
     */
    public Listener serve(InetSocketAddress address, int backlog, ConnectionSettings settings) throws RdmaException {
        Listener listener = listen(address, backlog, settings);
        boolean serving = false;
        try {
            listener.acceptAll();
            serving = true;
            return listener;
        } finally {
            if (!serving) {
                listener.close();
            }
        }
    }

    /**
     * Connects with the default settings.
     *
     * @param peer the address to connect to
     * @param timeout the longest time to wait
     * @return the connection, to be closed
     * @throws RdmaException as {@link #connect(InetSocketAddress, ConnectionSettings, Duration)}
     * @throws InterruptedException when this thread was interrupted
     */
    public Connection connect(InetSocketAddress peer, Duration timeout) throws RdmaException, InterruptedException {
        return connect(peer, ConnectionSettings.defaults(), timeout);
    }

    /**
     * Connects to a listener, or to any other program that accepts reliable connections.
     *
     * @param peer the address to connect to; a wildcard address stands for this host
     * @param settings the settings of this side of the connection, with at most 56 bytes of private data
     * @param timeout the longest time to wait
     * @return the connection, to be closed
     * @throws IllegalArgumentException when the host name of the peer is not resolved, or the private data are too long
     * @throws io.rdmacm.core.RejectedException when the peer rejects the connection, or nothing listens on its port
     * @throws io.rdmacm.core.DisconnectedException when the peer gave up during the handshake
     * @throws io.rdmacm.core.UnreachableException when the peer cannot be reached
     * @throws io.rdmacm.verbs.error.RdmaTimeoutException when the connection was not established in time
     * @throws RdmaClosedException when another thread closed the manager
     * @throws RdmaException ENODEV when no RDMA device leads to the peer; ENOMEM or EINVAL when the device has no
     *         resources for queues and buffers of this size
     * @throws InterruptedException when this thread was interrupted
     */
    public Connection connect(InetSocketAddress peer, ConnectionSettings settings, Duration timeout)
            throws RdmaException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        requireValid(peer, settings);
        return establish(() -> {
            MessageLink link = new MessageLink(this, loop, settings, deadline);
            link.connect(peer);
            return link;
        }, deadline);
    }

    /**
     * Connects without waiting. Any number of connections can be made at the same time.
     *
     * @param peer the address to connect to; a wildcard address stands for this host
     * @param settings the settings of this side of the connection, with at most 56 bytes of private data
     * @param timeout the longest time that it may take
     * @return completes with the connection, to be closed; fails with the exceptions of
     *         {@link #connect(InetSocketAddress, ConnectionSettings, Duration)}. If it is cancelled, the connection is
     *         closed as soon as it is established. Dependent actions run in threads of the library, each in its own.
     * @throws IllegalArgumentException when the host name of the peer is not resolved, or the private data are too long
     */
    public CompletableFuture<Connection> connectAsync(InetSocketAddress peer, ConnectionSettings settings,
            Duration timeout) {
        Deadline deadline = Deadline.after(timeout);
        requireValid(peer, settings);
        CompletableFuture<Connection> result = new CompletableFuture<>();
        try {
            enter();
        } catch (RdmaException e) {
            return CompletableFuture.failedFuture(e);
        }
        boolean begun = false;
        try {
            MessageLink link = new MessageLink(this, loop, settings, deadline);
            var ignored = link.result().whenComplete((connection, failure) -> {
                try {
                    completions.execute(() -> finish(link, connection, failure, result));
                } catch (OutOfMemoryError e) {
                    // Nothing else would end it.
                    complete(link, connection, failure, result);
                }
            });
            begun = true;
            // From here on, the end of the link is the end of this, whatever it is.
            link.connect(peer);
            return result;
        } finally {
            if (!begun) {
                leave();
            }
        }
    }

    private static void requireValid(InetSocketAddress peer, ConnectionSettings settings) {
        if (Objects.requireNonNull(peer, "peer").isUnresolved()) {
            throw new IllegalArgumentException("the host name is not resolved: " + peer);
        }
        Objects.requireNonNull(settings, "settings");
        AgreedSizes.requireRoom(settings, settings.parameters(), "connect", PortSpace.TCP.maxConnectPrivateData());
    }

    /** Completes the future of the program, in a thread that may wait. */
    private void finish(MessageLink link, Connection connection, Throwable failure,
            CompletableFuture<Connection> result) {
        if (connection == null || result.isDone() || result.getNumberOfDependents() > 0) {
            try {
                // This may take long: the others do not wait for it.
                Workers.execute(() -> complete(link, connection, failure, result));
                return;
            } catch (OutOfMemoryError e) {
                LOG.warn("no thread can be started for the end of {}: others have to wait for it", link, e);
            }
        }
        complete(link, connection, failure, result);
    }

    private void complete(MessageLink link, Connection connection, Throwable failure,
            CompletableFuture<Connection> result) {
        if (connection == null) {
            abandon(link);
        }
        // Before what depends on the result, which may close this.
        leave();
        if (failure != null) {
            result.completeExceptionally(failure);
        } else if (!result.complete(connection)) {
            abandon(link);
        }
    }

    private static void abandon(MessageLink link) {
        try {
            link.abandon();
        } catch (RdmaException | RuntimeException | Error e) {
            LOG.warn("a connection that nobody has taken could not be closed", e);
        }
    }

    /** Starts a handshake and waits for its end. */
    Connection establish(Start start, Deadline deadline) throws RdmaException, InterruptedException {
        enter();
        try {
            MessageLink link = start.run();
            boolean established = false;
            try {
                Connection connection = link.await(deadline);
                established = true;
                return connection;
            } finally {
                if (!established) {
                    link.abandon();
                }
            }
        } finally {
            leave();
        }
    }

    /** {@return the open connections of this manager} */
    public List<Connection> connections() {
        try (var _ = lock.hold()) {
            return List.copyOf(connections);
        }
    }

    /** {@return the open listeners of this manager} */
    public List<Listener> listeners() {
        try (var _ = lock.hold()) {
            return List.copyOf(listeners);
        }
    }

    /** {@return the open loops of this manager, as groups} */
    public List<ConnectionLoopGroup> loops() {
        try (var _ = lock.hold()) {
            return List.copyOf(groups);
        }
    }

    /** {@return how many connections of this manager have been established, those that were closed included} */
    public long establishedConnections() {
        try (var _ = lock.hold()) {
            return established;
        }
    }

    /** {@return the sums of the counters of all connections of this manager, those that were closed included} */
    public ConnectionCounters counters() {
        List<Connection> open;
        ConnectionCounters sum;
        try (var _ = lock.hold()) {
            open = List.copyOf(connections);
            sum = past;
        }
        // Without the lock: each has a lock of its own.
        for (Connection connection : open) {
            sum = sum.plus(connection.counters());
        }
        return sum;
    }

    /** {@return how many bytes the pools of this manager have registered, for all its devices} */
    public long registeredBytes() {
        return sumOfDevices(DeviceResources::registeredBytes);
    }

    /** {@return how many buffers of these pools are in use: for receives, and messages that are not closed or sent} */
    public long buffersInUse() {
        return sumOfDevices(DeviceResources::buffersInUse);
    }

    private long sumOfDevices(ToLongFunction<DeviceResources> number) {
        try (var _ = lock.hold()) {
            return devices.values().stream().mapToLong(number).sum();
        }
    }

    /**
     * {@return how many connections and listeners are open, how many connections were established, {@link #counters()},
     * what the loops have, and what the pools hold}
     */
    @Override
    public Map<String, Long> metrics() {
        Map<String, Long> metrics = new LinkedHashMap<>();
        metrics.put("openConnections", (long) connections().size());
        metrics.put("openListeners", (long) listeners().size());
        metrics.put("establishedConnections", establishedConnections());
        metrics.putAll(counters().metrics());
        metrics.put("loopConnections", loops().stream().mapToLong(ConnectionLoopGroup::connections).sum());
        metrics.put("loopCompletions", loops().stream().mapToLong(ConnectionLoopGroup::completions).sum());
        metrics.put("registeredBytes", registeredBytes());
        metrics.put("buffersInUse", buffersInUse());
        return metrics;
    }

    /**
     * Makes the numbers of this manager readable by JMX: registers a {@link ConnectionManagerMXBean} with the MBean
     * server of the platform. The close of the manager undoes it.
     *
     * @param name tells this manager from others
     * @return the name of the MXBean, {@code io.rdmacm:type=ConnectionManager,name="..."}
     * @throws IllegalStateException when another manager has the name, or this one is registered already
     * @throws RdmaException when another thread closed the manager
     */
    public ObjectName registerMXBean(String name) throws RdmaException {
        Objects.requireNonNull(name, "name");
        enter();
        try {
            // Without the lock: JMX tells listeners of it.
            ManagerStatistics registered = ManagerStatistics.register(this, name);
            ManagerStatistics earlier;
            try (var _ = lock.hold()) {
                earlier = statistics;
                statistics = earlier == null ? registered : earlier;
            }
            if (earlier != null) {
                registered.unregister();
                throw new IllegalStateException("the manager is registered already: " + earlier.name());
            }
            return registered.name();
        } finally {
            leave();
        }
    }

    /** Notes a connection that was established, which {@link #close} closes. */
    void add(Connection connection) {
        try (var _ = lock.hold()) {
            connections.add(connection);
            established++;
        }
    }

    /**
     * Starts loops, each driven by a thread of its own: for connections with handlers, or for very many connections.
     * The threads of a device are started when the first connections over it are created.
     *
     * @param settings the number of threads, and what the loops share among their connections
     * @return the group, to be used in {@link ConnectionSettings.Builder#loops}; closed with the manager, or before it
     *         but after its connections
     * @throws RdmaException when another thread closed the manager
     */
    public ConnectionLoopGroup startLoops(LoopSettings settings) throws RdmaException {
        Objects.requireNonNull(settings, "settings");
        enter();
        try {
            return add(new LoopThreads(this, settings));
        } finally {
            leave();
        }
    }

    /**
     * Opens a loop that the program drives.
     *
     * @param local an address of this machine that belongs to the device
     * @param settings what the loop shares among its connections
     * @return the loop, to be used in {@link ConnectionSettings.Builder#loops}; closed with the manager, or before it
     *         but after its connections
     * @throws io.rdmacm.core.UnreachableException when this machine does not have the address
     * @throws RdmaException ENODEV when the address belongs to no RDMA device; ENOMEM or EINVAL when the device has no
     *         resources for the loop
     */
    public ConnectionLoop openLoop(InetAddress local, LoopSettings settings) throws RdmaException {
        Objects.requireNonNull(settings, "settings");
        enter();
        try {
            return add(ConnectionLoop.open(this, device(local), settings));
        } finally {
            leave();
        }
    }

    /**
     * Returns the protection domain that all connections of this manager over a device share, before there is one: to
     * register memory when the program starts, and to send its {@link io.rdmacm.verbs.MemoryRegion#remoteMemory()} in
     * private data.
     *
     * @param local an address of this machine that belongs to the device
     * @return the {@link Connection#protectionDomain()} of connections over the device; what the program creates in it
     *         must be closed before the manager
     * @throws io.rdmacm.core.UnreachableException when this machine does not have the address
     * @throws RdmaException ENODEV when the address belongs to no RDMA device
     */
    public ProtectionDomain protectionDomain(InetAddress local) throws RdmaException {
        enter();
        try {
            return device(local).domain();
        } finally {
            leave();
        }
    }

    private DeviceResources device(InetAddress local) throws RdmaException {
        Objects.requireNonNull(local, "no local address: a host name that is not resolved has none");
        if (local.isAnyLocalAddress()) {
            throw new IllegalArgumentException("the wildcard address belongs to no device");
        }
        CmId id = DeviceResources.open(loop, new InetSocketAddress(local, 0));
        try {
            return device(id);
        } finally {
            loop.close(id);
        }
    }

    private <T extends ConnectionLoopGroup> T add(T group) {
        try (var _ = lock.hold()) {
            groups.add(group);
            return group;
        }
    }

    /** Returns the loop of the next connection with the given settings, null if it has none. */
    @Nullable ConnectionLoop loop(ConnectionSettings settings, DeviceResources device) throws RdmaException {
        ConnectionLoopGroup loops = settings.loops().orElse(null);
        return loops == null ? null : loops.next(this, device);
    }

    void forget(ConnectionLoopGroup group) {
        try (var _ = lock.hold()) {
            groups.remove(group);
        }
    }

    /**
     * Closes all listeners and connections, and ends the loops and the thread of the manager. Threads that wait in one
     * of them get a {@link RdmaClosedException}. Waits for the peers no longer than the longest
     * {@link ConnectionSettings#linger()}. Has no effect when called again.
     *
     * @throws IllegalStateException inside a handler, for which it would wait: nothing is closed then; or if an object
     *         that the program created in {@link Connection#protectionDomain()} is still open: the connections are
     *         closed by then, and this is to be called again when that object is closed
     * @throws RdmaException when C cannot free an object; call this again
     */
    @Override
    public void close() throws RdmaException {
        Stack.require();
        List<Listener> openListeners;
        try (var _ = lock.hold()) {
            connections.forEach(Connection::requireNotInHandler);
            groups.forEach(ConnectionLoopGroup::requireNotInHandler);
            closing = true;
            openListeners = List.copyOf(listeners);
        }
        for (Listener listener : openListeners) {
            listener.close();
        }
        closeConnections();
        // Ends the handshakes that are in progress, and the requests that nobody has accepted.
        loop.failAll(new RdmaClosedException("rdma_connect", "the connection manager"));
        try (var _ = lock.hold()) {
            while (inside > 0) {
                changed.awaitUninterruptibly();
            }
        }
        closeConnections();
        closeGroups();
        free();
    }

    /** Returns the resources that connections over the device of an id share. */
    DeviceResources device(CmId id) throws RdmaException {
        try (var _ = lock.hold()) {
            DeviceResources resources = devices.get(id.context());
            if (resources == null) {
                resources = DeviceResources.create(loop, id);
                devices.put(id.context(), resources);
            }
            return resources;
        }
    }

    void forget(Connection connection) {
        ConnectionCounters last = connection.counters();
        try (var _ = lock.hold()) {
            if (connections.remove(connection)) {
                past = past.plus(last);
            }
        }
    }

    void forget(Listener listener) {
        try (var _ = lock.hold()) {
            listeners.remove(listener);
        }
    }

    private void closeConnections() throws RdmaException {
        List<Connection> open;
        try (var _ = lock.hold()) {
            open = List.copyOf(connections);
        }
        // All of them share the longest of their linger times.
        Duration linger = open.stream().map(c -> c.settings().linger()).max(Duration::compareTo).orElse(Duration.ZERO);
        Deadline deadline = Deadline.after(linger);
        for (Connection connection : open) {
            connection.close(deadline);
        }
    }

    private void closeGroups() throws RdmaException {
        List<ConnectionLoopGroup> open;
        try (var _ = lock.hold()) {
            open = List.copyOf(groups);
        }
        // Without the lock: this waits for threads whose handlers may call methods of this manager.
        for (ConnectionLoopGroup group : open) {
            group.close();
        }
    }

    private void free() throws RdmaException {
        ManagerStatistics registered;
        try (var _ = lock.hold()) {
            if (closed) {
                return;
            }
            for (VerbsContext context : List.copyOf(devices.keySet())) {
                Objects.requireNonNull(devices.get(context)).close();
                devices.remove(context);
            }
            loop.closeAll();
            closed = true;
            registered = statistics;
        }
        if (registered != null) {
            registered.unregister();
        }
    }

    private void enter() throws RdmaException {
        // What follows may fail for want of stack, but leave() may not: a close would wait for ever.
        Stack.require();
        try (var _ = lock.hold()) {
            if (closed) {
                throw new IllegalStateException("ConnectionManager is closed");
            }
            if (closing) {
                throw new RdmaClosedException("rdma_connect", "the connection manager");
            }
            inside++;
        }
    }

    private void leave() {
        try (var _ = lock.hold()) {
            inside--;
            changed.signalAll();
        }
    }
}
