// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.CmEvent;
import io.rdmacm.core.ConnectionParameters;
import io.rdmacm.core.internal.engine.CmLoop;
import io.rdmacm.core.internal.engine.Link;
import io.rdmacm.core.internal.engine.Loop;
import io.rdmacm.core.internal.engine.Reasons;
import io.rdmacm.core.internal.engine.Wildcard;
import io.rdmacm.core.internal.jfr.ConnectionEvents;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.life.Parts;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The link of a stream: what the two sides tell each other, and the queues. All streams share a loop. */
final class StreamLink extends Link {
    private static final Logger LOG = LoggerFactory.getLogger(StreamLink.class);

    private final StreamSettings settings;
    // the private data of a request, which may be empty over iWARP; null for a client
    private final byte @Nullable [] request;
    private final AtomicBoolean released = new AtomicBoolean();
    // set before the handshake begins; null if the queues are the stream's own
    private @Nullable StreamLoop shared;
    private Loop.@Nullable Member member;
    private volatile @Nullable InetSocketAddress localAddress;
    // used by the thread that starts the stream, which has a lock for it
    private boolean bound;
    private volatile boolean started;
    @SuppressWarnings("NullAway.Init")
    private volatile StreamQueues queues;
    // set when the stream is connected
    @SuppressWarnings("NullAway.Init")
    private volatile ConnectData peer;
    // what Java Flight Recorder is told, null if it does not ask
    private volatile @Nullable Object handshake;

    /** Creates the link of a client. */
    StreamLink(StreamSettings settings) throws RdmaException {
        super(CmLoop.acquire());
        this.settings = settings;
        this.request = null;
        try (Parts parts = new Parts()) {
            parts.add(this, StreamLink::release);
            open();
            parts.complete(this);
        }
    }

    /** Creates the link of a connect request. */
    static StreamLink of(StreamSettings settings, CmEvent request) throws RdmaException {
        try (Parts parts = new Parts()) {
            CmLoop loop = parts.add(CmLoop.acquire(), CmLoop::release);
            return parts.complete(new StreamLink(loop, settings, request));
        }
    }

    private StreamLink(CmLoop acquired, StreamSettings settings, CmEvent request) {
        super(acquired, request);
        this.settings = settings;
        this.request = request.privateData();
        this.bound = true;
        this.started = true;
        this.handshake = ConnectionEvents.handshakeBegins(false);
        this.localAddress = id().localAddress();
    }

    /** Has completions of the stream arrive in queues that it shares. Called before the handshake begins. */
    void share(StreamLoop with, Loop.Member as) {
        shared = with;
        member = as;
    }

    /** Accepts the request soon. */
    void acceptLater() {
        loop().later(() -> {
            if (failure() == null && !isStopped()) {
                try {
                    accept();
                } catch (RdmaException | RuntimeException | Error e) {
                    fail(Reasons.of("rdma_accept", e));
                }
            }
        });
    }

    /** Frees everything soon, for a request that nobody accepts. */
    void discardLater() {
        loop().later(() -> {
            try {
                discard();
            } catch (RdmaException | IllegalStateException e) {
                LOG.warn("what was left of {} could not be closed", this, e);
            }
        });
    }

    /** Returns the queues, null until the route to the peer is known. */
    StreamQueues queues() {
        return queues;
    }

    /** Returns what the peer said, null until the stream is connected. */
    @Nullable ConnectData peer() {
        return isEstablished() ? peer : null;
    }

    boolean isStarted() {
        return started;
    }

    @Nullable InetSocketAddress localAddress() {
        return localAddress;
    }

    /** Returns the address of the peer, null while a client is not connected. */
    @Override
    public @Nullable InetSocketAddress peerAddress() {
        return request == null && peer == null ? null : super.peerAddress();
    }

    void bind(InetSocketAddress local) throws RdmaException {
        if (bound || started) {
            throw new IllegalStateException("the stream is bound or connected already");
        }
        bindId(local);
        bound = true;
    }

    private void bindId(InetSocketAddress local) throws RdmaException {
        if (settings.reuseAddress()) {
            id().options().reuseAddress(true);
        }
        Link.bind(id(), local);
        localAddress = id().localAddress();
    }

    void start(InetSocketAddress to) throws RdmaException {
        if (started) {
            throw new IllegalStateException("the stream is connected or connecting already");
        }
        if (to.isUnresolved()) {
            throw new IllegalArgumentException("the address is not resolved: " + to);
        }
        handshake = ConnectionEvents.handshakeBegins(true);
        InetSocketAddress target = reachable(to);
        InetSocketAddress local = localAddress;
        if (local != null && Wildcard.isIpv4(local) != Wildcard.isIpv4(target)) {
            changeFamily(local, target);
        }
        if (settings.typeOfService() != 0) {
            id().options().typeOfService(settings.typeOfService());
        }
        resolve(target);
        started = true;
    }

    /** An id is bound to one family, but a wildcard address stands for both: takes the same port of the other one. */
    private void changeFamily(InetSocketAddress local, InetSocketAddress to) throws RdmaException {
        if (!Wildcard.isAny(local)) {
            throw Failures.of("rdma_resolve_addr", Rdma.EADDRNOTAVAIL(), to + " from " + local
                    + ": the families differ");
        }
        reopen();
        bindId(new InetSocketAddress(Wildcard.of(Wildcard.isIpv4(to)), local.getPort()));
    }

    @Override
    protected Duration stepTime() {
        return settings.handshakeTimeout();
    }

    @Override
    protected void resolveRoute(Duration time) throws RdmaException {
        byte[] route = settings.route();
        if (route.length == 0) {
            super.resolveRoute(time);
        } else {
            id().options().infinibandPaths(route);
        }
    }

    @Override
    protected ConnectionParameters prepare() throws RdmaException {
        if (request != null) {
            peer = ConnectData.decode(request);
        }
        queues = StreamQueues.create(id(), settings, shared, member);
        return ConnectionParameters.builder().privateData(queues.connectData().encode())
                .responderResources(queues.reads()).initiatorDepth(queues.reads()).flowControl(true)
                .retryCount(settings.retries()).build();
    }

    @Override
    protected void confirmed(CmEvent event) throws RdmaException {
        if (peer == null) {
            peer = ConnectData.decode(event.privateData());
        }
        localAddress = id().localAddress();
    }

    @Override
    protected void announced() {
        ConnectionEvents.handshakeEnds(handshake, localAddress, name(), null);
    }

    @Override
    protected void changed() {
        RdmaException reason = failure();
        if (reason != null && !isEstablished()) {
            ConnectionEvents.handshakeEnds(handshake, localAddress, name(), reason);
        }
        super.changed();
    }

    @Override
    protected void disconnects() {
        if (isEstablished() && ConnectionEvents.recordsDisconnects()) {
            RdmaException reason = failure();
            ConnectionEvents.disconnect(localAddress, peerAddress(), isDisconnectedByPeer(),
                    (reason == null ? disconnected(toString()) : reason).toString());
        }
    }

    @Override
    protected boolean isPeers(RdmaException reason) {
        return reason instanceof StreamProtocolException || super.isPeers(reason);
    }

    @Override
    protected void free() throws RdmaException {
        StreamQueues current = queues;
        if (current != null) {
            current.close();
        }
    }

    @Override
    protected void discard() throws RdmaException {
        super.discard();
        release();
    }

    /** Frees everything. Not to be called with a lock held that the listener of {@link #onChange} takes. */
    @Override
    public void close() throws RdmaException {
        stop();
        try {
            if (isEstablished()) {
                // The thread of all streams is not held up by what takes long.
                free();
            }
            loop().run(super::discard);
        } finally {
            release();
        }
    }

    private void release() {
        if (released.compareAndSet(false, true)) {
            loop().release();
        }
    }

    @Override
    public String toString() {
        InetSocketAddress to = peerAddress();
        return (localAddress == null ? "unbound" : localAddress) + " to " + (to == null ? "nobody" : to);
    }
}
