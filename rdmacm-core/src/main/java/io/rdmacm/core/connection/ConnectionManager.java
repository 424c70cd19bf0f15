// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.Deadline;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates connections and listeners. A program needs only one manager.
 *
 * <p>A manager runs daemon threads: one handles the connection-manager events of all its connections and listeners, and
 * one for each device handles completion events. They wake the threads of the program but never run its code. All other
 * work, such as posting, polling and copying, is done by the calling threads.
 *
 * <p>All methods may be called from any thread. {@link #close()} closes everything that the manager has created.
 */
public final class ConnectionManager implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionManager.class);
    private static final int BACKLOG = 64;

    private final EventLoop loop;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    // guarded by the lock
    private final Set<Connection> connections = new LinkedHashSet<>();
    private final Set<Listener> listeners = new LinkedHashSet<>();
    private final Map<VerbsContext, DeviceResources> devices = new HashMap<>();
    private int inside;
    private boolean closing;
    private boolean closed;

    private ConnectionManager(EventLoop loop) {
        this.loop = loop;
    }

    /** The part of a handshake that comes after the queues are created. */
    @FunctionalInterface
    interface Handshake {
        void run(Connection connection) throws RdmaException, InterruptedException;
    }

    /**
     * Creates a manager and starts its threads.
     *
     * @return the manager, to be closed
     * @throws io.rdmacm.verbs.error.NativeLibraryException when librdmacm or libibverbs is not installed
     * @throws RdmaException ENODEV when this machine has no RDMA device
     */
    public static ConnectionManager open() throws RdmaException {
        return new ConnectionManager(EventLoop.start());
    }

    /**
     * Listens for connections with the default settings and a backlog of 64.
     *
     * @param address the address to listen on; port 0 for any free port, the wildcard address for all devices
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
     * @param address the address to listen on; port 0 for any free port, the wildcard address for all devices
     * @param backlog how many peers may wait to be accepted, at least 1; further ones are rejected
     * @param settings the settings of the accepted connections, with at most 196 bytes of private data
     * @return the listener, to be closed
     * @throws io.rdmacm.core.UnreachableException when this machine does not have the address
     * @throws RdmaException EADDRINUSE when the port is in use; ENODEV when the address belongs to no RDMA device
     */
    public Listener listen(InetSocketAddress address, int backlog, ConnectionSettings settings) throws RdmaException {
        enter();
        try {
            Listener listener = new Listener(this, loop, address, backlog, settings);
            lock.lock();
            try {
                listeners.add(listener);
            } finally {
                lock.unlock();
            }
            return listener;
        } finally {
            leave();
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
     * @param peer the address to connect to
     * @param settings the settings of this side of the connection, with at most 56 bytes of private data
     * @param timeout the longest time to wait
     * @return the connection, to be closed
     * @throws io.rdmacm.core.RejectedException when the peer rejects the connection, or nothing listens on its port
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
        enter();
        try {
            Link link = Link.open(loop, peer.toString());
            boolean resolved = false;
            try {
                link.id().resolveAddress(peer, deadline.remainingForKernel());
                link.await(CmEventType.ADDR_RESOLVED, deadline);
                link.id().resolveRoute(deadline.remainingForKernel());
                link.await(CmEventType.ROUTE_RESOLVED, deadline);
                resolved = true;
            } finally {
                if (!resolved) {
                    link.close();
                }
            }
            return establish(link, settings, connection -> connection.connect(deadline));
        } finally {
            leave();
        }
    }

    /** Creates and establishes a connection on an id that is bound to a device. Closes the id if that fails. */
    Connection establish(Link link, ConnectionSettings settings, Handshake handshake)
            throws RdmaException, InterruptedException {
        boolean made = false;
        boolean established = false;
        Connection connection = null;
        try {
            enter();
            try {
                connection = Connection.create(this, link, settings);
                made = true;
                handshake.run(connection);
                lock.lock();
                try {
                    connections.add(connection);
                } finally {
                    lock.unlock();
                }
                established = true;
                return connection;
            } finally {
                if (made && !established) {
                    connection.close(Deadline.after(Duration.ZERO));
                }
                leave();
            }
        } finally {
            if (!made) {
                link.close();
            }
        }
    }

    /**
     * Closes all listeners and connections, and ends the threads of the manager. Threads that wait in one of them get a
     * {@link RdmaClosedException}. Waits for the peers no longer than the longest {@link ConnectionSettings#linger()}.
     * Has no effect when called again.
     *
     * @throws IllegalStateException when an object that the program created in {@link Connection#protectionDomain()} is
     *         still open. The connections are closed by then; call this again when that object is closed.
     * @throws RdmaException when C cannot free an object; call this again
     */
    @Override
    public void close() throws RdmaException {
        List<Listener> openListeners;
        lock.lock();
        try {
            closing = true;
            openListeners = List.copyOf(listeners);
        } finally {
            lock.unlock();
        }
        for (Listener listener : openListeners) {
            listener.close();
        }
        closeConnections();
        // Ends the handshakes that are in progress, and the requests that nobody has accepted.
        loop.failAll(new RdmaClosedException("rdma_connect", "the connection manager"));
        lock.lock();
        try {
            while (inside > 0) {
                changed.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
        closeConnections();
        free();
    }

    /** Returns the resources that connections over the device of an id share. */
    DeviceResources device(CmId id) throws RdmaException {
        lock.lock();
        try {
            DeviceResources resources = devices.get(id.context());
            if (resources == null) {
                resources = DeviceResources.create(loop, id);
                devices.put(id.context(), resources);
            }
            return resources;
        } finally {
            lock.unlock();
        }
    }

    void forget(Connection connection) {
        lock.lock();
        try {
            connections.remove(connection);
        } finally {
            lock.unlock();
        }
    }

    void forget(Listener listener) {
        lock.lock();
        try {
            listeners.remove(listener);
        } finally {
            lock.unlock();
        }
    }

    void logDebug(String what, Connection connection, Exception reason) {
        LOG.debug("{}: {}", connection, what, reason);
    }

    private void closeConnections() throws RdmaException {
        List<Connection> open;
        lock.lock();
        try {
            open = List.copyOf(connections);
        } finally {
            lock.unlock();
        }
        // All of them share the longest of their linger times.
        Duration linger = open.stream().map(c -> c.settings().linger()).max(Duration::compareTo).orElse(Duration.ZERO);
        Deadline deadline = Deadline.after(linger);
        for (Connection connection : open) {
            connection.close(deadline);
        }
    }

    private void free() throws RdmaException {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            for (VerbsContext context : List.copyOf(devices.keySet())) {
                devices.get(context).close();
                devices.remove(context);
            }
            loop.closeAll();
            closed = true;
        } finally {
            lock.unlock();
        }
    }

    private void enter() throws RdmaException {
        lock.lock();
        try {
            if (closed) {
                throw new IllegalStateException("ConnectionManager is closed");
            }
            if (closing) {
                throw new RdmaClosedException("rdma_connect", "the connection manager");
            }
            inside++;
        } finally {
            lock.unlock();
        }
    }

    private void leave() {
        lock.lock();
        try {
            inside--;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
