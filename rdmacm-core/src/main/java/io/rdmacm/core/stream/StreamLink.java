// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmId;
import io.rdmacm.core.CmIdState;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.error.RdmaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The id of a stream and its channel: how the stream is connected, and how its end is learnt. */
final class StreamLink {
    private static final Logger LOG = LoggerFactory.getLogger(StreamLink.class);
    private static final Duration LONGEST_STEP = Duration.ofMillis(Integer.MAX_VALUE);

    private final StreamSettings settings;
    private final EventChannel channel;
    private final CmId id;
    // The rest is used with the lock of the stream held; the addresses are read without it.
    private volatile @Nullable InetSocketAddress localAddress;
    private volatile @Nullable InetSocketAddress peerAddress;
    private boolean bound;
    private boolean started;
    @SuppressWarnings("NullAway.Init")
    private StreamQueues queues;
    // set when the stream is connected
    @SuppressWarnings("NullAway.Init")
    private ConnectData peer;
    private @Nullable RdmaException failure;
    private boolean disconnected;

    /** Creates the link of a client. */
    StreamLink(StreamSettings settings) throws RdmaException {
        this.settings = settings;
        this.channel = EventChannel.open();
        boolean made = false;
        try {
            this.id = CmId.open(channel, PortSpace.TCP);
            made = true;
        } finally {
            if (!made) {
                channel.close();
            }
        }
    }

    /** Creates the link of a server, for a stream that is connected. Takes the id, unless it fails. */
    StreamLink(StreamSettings settings, CmId id, StreamQueues queues, ConnectData peer) throws RdmaException {
        this.settings = settings;
        this.channel = EventChannel.open();
        this.id = id;
        boolean made = false;
        try {
            id.migrate(channel);
            made = true;
        } finally {
            if (!made) {
                channel.close();
            }
        }
        this.bound = true;
        this.started = true;
        this.queues = queues;
        this.peer = peer;
        learnAddresses();
        queues.shortenRnrTimer();
    }

    int file() {
        return channel.fd();
    }

    /** Returns the queues, null until the route to the peer is known. */
    StreamQueues queues() {
        return queues;
    }

    /** Returns what the peer said, null until the stream is connected. */
    ConnectData peer() {
        return peer;
    }

    @Nullable RdmaException failure() {
        return failure;
    }

    boolean isStarted() {
        return started;
    }

    boolean isDisconnected() {
        return disconnected;
    }

    @Nullable InetSocketAddress localAddress() {
        return localAddress;
    }

    @Nullable InetSocketAddress peerAddress() {
        return peerAddress;
    }

    void bind(InetSocketAddress local) throws RdmaException {
        if (bound || started) {
            throw new IllegalStateException("the stream is bound or connected already");
        }
        if (settings.reuseAddress()) {
            id.options().reuseAddress(true);
        }
        id.bindAddress(local);
        bound = true;
        localAddress = id.localAddress();
    }

    void start(InetSocketAddress to) throws RdmaException {
        if (started) {
            throw new IllegalStateException("the stream is connected or connecting already");
        }
        if (to.isUnresolved()) {
            throw new IllegalArgumentException("the address is not resolved: " + to);
        }
        id.resolveAddress(to, step());
        started = true;
    }

    private Duration step() {
        Duration timeout = settings.handshakeTimeout();
        return timeout.compareTo(LONGEST_STEP) < 0 ? timeout : LONGEST_STEP;
    }

    /** Takes the events that are there, and carries on with the connect. Returns whether there were any. */
    boolean takeEvents() {
        boolean any = false;
        try {
            for (Optional<CmEvent> next = channel.pollEvent(); next.isPresent(); next = channel.pollEvent()) {
                any = true;
                try (CmEvent event = next.get()) {
                    handle(event);
                }
            }
        } catch (RdmaException e) {
            fail(e);
            return true;
        }
        return any;
    }

    private void handle(CmEvent event) {
        try {
            switch (event.type()) {
                case ADDR_RESOLVED -> resolveRoute();
                case ROUTE_RESOLVED -> connect();
                case ESTABLISHED -> establish(event);
                case DISCONNECTED -> end(event);
                case REJECTED, UNREACHABLE, ADDR_ERROR, ROUTE_ERROR, CONNECT_ERROR, DEVICE_REMOVAL -> fail(event);
                default -> LOG.debug("{} is of no interest", event);
            }
        } catch (RdmaException | IllegalStateException e) {
            fail(e instanceof RdmaException cause ? cause : unexpected(e));
        }
    }

    private static RdmaException unexpected(Exception cause) {
        RdmaException failure = new RdmaException("rdma_connect",
                Objects.requireNonNullElse(cause.getMessage(), cause.toString()));
        failure.initCause(cause);
        return failure;
    }

    private void resolveRoute() throws RdmaException {
        byte[] route = settings.route();
        if (route.length == 0) {
            id.resolveRoute(step());
        } else {
            id.options().infinibandPaths(route);
        }
    }

    private void connect() throws RdmaException {
        queues = StreamQueues.create(id, settings);
        id.connect(parameters(queues, settings));
    }

    /** Returns the parameters of a connect or an accept. */
    static ConnectionParameters parameters(StreamQueues queues, StreamSettings settings) {
        return ConnectionParameters.builder().privateData(queues.connectData().encode()).responderResources(0)
                .initiatorDepth(0).flowControl(true).retryCount(settings.retries()).build();
    }

    private void establish(CmEvent event) throws RdmaException {
        ConnectData answer = ConnectData.decode(event.privateData());
        learnAddresses();
        queues.shortenRnrTimer();
        peer = answer;
    }

    private void learnAddresses() {
        localAddress = id.localAddress();
        peerAddress = id.peerAddress();
    }

    private void end(CmEvent event) {
        disconnected = true;
        if (peer == null) {
            fail(event);
        }
    }

    private void fail(CmEvent event) {
        fail(event.failure(peer == null ? "connecting" : "the stream to " + peerAddress));
    }

    private void fail(RdmaException reason) {
        if (failure == null) {
            failure = reason;
        }
    }

    /** Ends the connection, if there is one; what is in flight is flushed. */
    void disconnect() {
        try {
            CmIdState state = id.state();
            if (state == CmIdState.CONNECTED || state == CmIdState.ACCEPTED || state == CmIdState.DISCONNECTED) {
                id.disconnect();
            }
        } catch (RdmaException | IllegalStateException e) {
            // The peer may have ended it meanwhile.
            LOG.debug("there was nothing to disconnect", e);
        }
    }

    /** Frees everything. */
    void close() throws RdmaException {
        if (queues != null) {
            queues.close();
        }
        id.close();
        channel.close();
    }

    @Override
    public String toString() {
        return (localAddress == null ? "unbound" : localAddress) + " to " + (peerAddress == null ? "nobody"
                : peerAddress);
    }
}
