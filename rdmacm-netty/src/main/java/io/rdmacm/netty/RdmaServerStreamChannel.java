// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.util.ArrayDeque;

import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ServerSocketChannel;
import io.rdmacm.core.internal.access.StreamAccess;
import io.rdmacm.core.internal.access.StreamAccess.Request;
import io.rdmacm.core.internal.sockets.SocketExceptions;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.RdmaStreamServer;
import io.rdmacm.verbs.error.RdmaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A channel that accepts {@link RdmaStreamChannel}s: the counterpart of Netty's ServerSocketChannel, over an
 * {@link RdmaStreamServer}. It works in event loops with {@link RdmaIoHandler} or with Netty's EpollIoHandler. Peers
 * use this package, {@link RdmaStream}, or any program that speaks the protocol of rsockets (rsocket(7)).
 *
 * <p>The address is one of an RDMA device, or the wildcard address for those of all devices; there is no RDMA over the
 * loopback interface.
 */
public final class RdmaServerStreamChannel extends AbstractRdmaChannel implements ServerSocketChannel {
    private static final Logger LOG = LoggerFactory.getLogger(RdmaServerStreamChannel.class);
    private static final StreamAccess STREAMS = StreamAccess.get();
    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);

    private final RdmaServerStreamChannelConfig config = new RdmaServerStreamChannelConfig(this);
    // null until the channel is bound
    @SuppressWarnings("NullAway.Init")
    private volatile RdmaStreamServer server;
    private boolean watched = true;
    // accepted while the program does not read, as the kernel does over TCP; used in the event loop
    private final ArrayDeque<RdmaStreamChannel> early = new ArrayDeque<>();

    /** Creates a channel that is not bound. */
    public RdmaServerStreamChannel() {
        super(null);
    }

    @Override
    public RdmaServerStreamChannelConfig config() {
        return config;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    public boolean isActive() {
        return isOpen() && server != null;
    }

    @Override
    public @Nullable InetSocketAddress localAddress() {
        return (InetSocketAddress) super.localAddress();
    }

    /** {@return null} */
    @Override
    public @Nullable InetSocketAddress remoteAddress() {
        return null;
    }

    @Override
    protected @Nullable SocketAddress localAddress0() {
        RdmaStreamServer bound = server;
        return bound == null ? null : bound.localAddress();
    }

    @Override
    protected @Nullable SocketAddress remoteAddress0() {
        return null;
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new ServerUnsafe();
    }

    @Override
    protected void doBind(SocketAddress address) throws Exception {
        InetSocketAddress local = require(address);
        if (server != null) {
            throw new AlreadyBoundException();
        }
        try {
            server = STREAMS.listen(local, Math.max(config.getBacklog(), 1), config.options().fix());
        } catch (RdmaException e) {
            throw SocketExceptions.ofBind(e, local);
        }
        watched = true;
        linkIfPossible(newPromise().addListener(future -> fail(future.cause())));
    }

    @Override
    boolean canRegister() {
        return server != null;
    }

    @Override
    int file() {
        return server.fd();
    }

    @Override
    boolean doArm() {
        // The file is readable for as long as there are requests, so it is watched only while they are wanted.
        boolean wanted = isReadPending() || mayAcceptEarly();
        if (isOpen() && registration() != null && watched && !wanted) {
            watched = false;
            registration().watch(false);
        }
        return !wanted || !isOpen() || !server.isAcceptable();
    }

    private boolean mayAcceptEarly() {
        return early.size() < Math.max(config.getBacklog(), 1) && server.isOpen();
    }

    @Override
    protected void doBeginRead() throws Exception {
        if (!watched && registration() != null) {
            watched = true;
            registration().watch(true);
        }
        super.doBeginRead();
    }

    @Override
    protected void doDeregister() throws Exception {
        watched = true;
        super.doDeregister();
    }

    @Override
    boolean doProgress() {
        if (!isActive()) {
            return false;
        }
        if (!isReadPending()) {
            return mayAcceptEarly() && server.isAcceptable() && acceptEarly();
        }
        if (early.isEmpty() && !server.isAcceptable()) {
            return false;
        }
        var handle = unsafe().recvBufAllocHandle();
        handle.reset(config);
        handle.attemptedBytesRead(1);
        Throwable failure = null;
        do {
            try {
                RdmaStreamChannel child = early.isEmpty() ? nextChild() : early.remove();
                if (child == null) {
                    break;
                }
                handle.lastBytesRead(1);
                handle.incMessagesRead(1);
                endRead();
                pipeline().fireChannelRead(child);
            } catch (RdmaException | RuntimeException | Error e) {
                if (!server.isOpen()) {
                    failure = e;
                    break;
                }
                // Of this peer alone. As an exception of the server, it would stop Netty from accepting for a second.
                LOG.warn("{} could not accept a stream", this, e);
            }
        } while (isOpen() && handle.continueReading());
        handle.readComplete();
        pipeline().fireChannelReadComplete();
        if (failure != null) {
            fail(failure);
        }
        return true;
    }

    /** Accepts a request although the program does not read; returns whether there was one. */
    private boolean acceptEarly() {
        try {
            RdmaStreamChannel child = nextChild();
            if (child == null) {
                return false;
            }
            try {
                child.acceptEarly();
                early.add(child);
            } catch (Throwable t) {
                child.unsafe().closeForcibly();
                throw t;
            }
        } catch (RdmaException | RuntimeException | Error e) {
            LOG.warn("{} could not accept a stream", this, e);
        }
        return true;
    }

    private @Nullable RdmaStreamChannel nextChild() throws RdmaException {
        Request request = STREAMS.nextRequest(server);
        return request == null ? null : newChild(request);
    }

    private RdmaStreamChannel newChild(Request request) {
        try {
            return new RdmaStreamChannel(this, request, server.settings());
        } catch (Throwable t) {
            request.reject();
            throw t;
        }
    }

    @Override
    void free() throws IOException {
        while (!early.isEmpty()) {
            early.remove().unsafe().closeForcibly();
        }
        RdmaStreamServer closing = server;
        if (closing != null) {
            try {
                // It waits for the step of a handshake that is being taken, but then the port is free.
                closing.close();
            } catch (RdmaException e) {
                throw new IOException(this + " could not be closed", e);
            }
        }
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer in) {
        throw new UnsupportedOperationException();
    }

    @Override
    protected Object filterOutboundMessage(Object msg) {
        throw new UnsupportedOperationException();
    }

    /** A server cannot connect. */
    private final class ServerUnsafe extends AbstractUnsafe {
        @Override
        public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
            safeSetFailure(promise, new UnsupportedOperationException());
        }
    }
}
