// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;

import io.rdmacm.core.internal.engine.Acceptor;
import io.rdmacm.core.internal.engine.CmLoop;
import io.rdmacm.core.internal.engine.Wildcard;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.Parts;
import io.rdmacm.verbs.metrics.MetricSource;
import org.jspecify.annotations.Nullable;

/**
 * Listens for {@link RdmaStream}s at an address ({@code rlisten}). Handshakes are carried on in the background, by the
 * thread of all streams, and established streams wait until they are accepted. The backlog bounds the number of both
 * together; requests beyond it wait, and are not rejected.
 *
 * <p>All methods may be called from any number of threads; {@link #close()} wakes those that wait.
 */
public final class RdmaStreamServer implements MetricSource, AutoCloseable {
    private final StreamSettings settings;
    private final CmLoop loop;
    private final Acceptor<StreamLink> acceptor;

    private RdmaStreamServer(StreamSettings settings, CmLoop loop, Acceptor<StreamLink> acceptor) {
        this.settings = settings;
        this.loop = loop;
        this.acceptor = acceptor;
    }

    /**
     * Listens at an address, with default settings and a backlog of 128.
     *
     * @param local the address; port 0 means any free port, a wildcard address all devices and, except where there is
     *        iWARP, both IPv4 and IPv6
     * @return the server, to be closed
     * @throws RdmaException as {@link #listen(InetSocketAddress, int, StreamSettings)}
     */
    public static RdmaStreamServer listen(InetSocketAddress local) throws RdmaException {
        return listen(local, 128, StreamSettings.defaults());
    }

    /**
     * Listens at an address ({@code rsocket}, {@code rbind} and {@code rlisten}).
     *
     * @param local the address; port 0 means any free port, a wildcard address all devices and, except where there is
     *        iWARP, both IPv4 and IPv6
     * @param backlog how many handshakes may be in progress and streams wait to be accepted, together, at least 1
     * @param settings the settings of the streams that are accepted
     * @return the server, to be closed
     * @throws RdmaException EADDRINUSE when the port is in use; ENODEV when the address belongs to no RDMA device
     */
    public static RdmaStreamServer listen(InetSocketAddress local, int backlog, StreamSettings settings)
            throws RdmaException {
        return listen(Wildcard.ofBothFamilies(Objects.requireNonNull(local, "local")), backlog, settings, false);
    }

    /** Listens at exactly this address, for streams or for requests to connect. */
    static RdmaStreamServer listen(InetSocketAddress local, int backlog, StreamSettings settings, boolean requests)
            throws RdmaException {
        Objects.requireNonNull(settings, "settings");
        try (Parts parts = new Parts()) {
            CmLoop loop = parts.add(CmLoop.acquire(), CmLoop::release);
            Acceptor<StreamLink> acceptor = parts.add(Acceptor.listen(loop, local,
                    new Acceptor.Settings<>("RdmaStreamServer", settings.reuseAddress(), backlog,
                            settings.handshakeTimeout(), request -> StreamLink.of(settings, request))),
                    created -> {
                        boolean ignored = created.close(StreamLink::close);
                    });
            acceptor.fd();
            if (requests) {
                acceptor.offerRequests();
            } else {
                acceptor.beginAll();
            }
            return parts.complete(new RdmaStreamServer(settings, loop, acceptor));
        }
    }

    /** {@return the address, with the actual port; it stays available after a close} */
    public InetSocketAddress localAddress() {
        return acceptor.address();
    }

    /**
     * {@return the requests that wait, the handshakes in progress, the streams that nobody has taken, and how many
     * handshakes have succeeded and failed so far}
     */
    @Override
    public Map<String, Long> metrics() {
        return acceptor.metrics();
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
        StreamLink link = poll();
        return link == null ? null : RdmaStream.create(settings, link);
    }

    /** Takes an established stream, or a request if this server is for requests, without waiting. */
    @Nullable StreamLink poll() throws RdmaException {
        return acceptor.poll();
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
        return RdmaStream.create(settings, acceptor.accept(timeout));
    }

    /** {@return whether {@link #accept()} would return a stream or throw an exception} */
    public boolean isAcceptable() {
        return acceptor.isReady();
    }

    /**
     * Returns a file descriptor for event loops, which is readable as long as {@link #isAcceptable()} is true. It needs
     * no arming.
     *
     * @return the file descriptor, which belongs to this server; do not read or close it
     */
    public int fd() {
        try {
            return acceptor.fd();
        } catch (RdmaException e) {
            // It was opened with the server.
            throw new IllegalStateException(e);
        }
    }

    /** {@return whether the server was not closed, and its device not removed} */
    public boolean isOpen() {
        return acceptor.isOpen();
    }

    /**
     * Stops listening. Streams that were accepted stay open; those that were not are closed. Threads that wait throw
     * RdmaClosedException. Has no effect when called again.
     *
     * @throws RdmaException when an object could not be closed; call this again
     */
    @Override
    public void close() throws RdmaException {
        if (acceptor.close(link -> {
            var ignored = RdmaStream.create(settings, link).closeAsync();
        })) {
            loop.release();
        }
    }

    @Override
    public String toString() {
        return acceptor.toString();
    }
}
