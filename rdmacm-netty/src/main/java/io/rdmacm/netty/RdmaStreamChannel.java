// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.WritableByteChannel;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.EventLoop;
import io.netty.channel.FileRegion;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.ChannelInputShutdownReadComplete;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.internal.StringUtil;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.RejectedException;
import io.rdmacm.core.UnreachableException;
import io.rdmacm.core.internal.access.StreamAccess;
import io.rdmacm.core.internal.access.StreamAccess.Request;
import io.rdmacm.core.internal.access.StreamAccess.SharedQueues;
import io.rdmacm.core.internal.sockets.SocketExceptions;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.core.stream.StreamProtocolException;
import io.rdmacm.core.stream.StreamSettings;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.pool.RegisteredSlice;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A channel over an {@link RdmaStream}: the counterpart of Netty's SocketChannel over TCP. It works in event loops with
 * {@link RdmaIoHandler} or with Netty's EpollIoHandler. The peer uses this package, {@code RdmaStream}, or any program
 * that speaks the protocol of rsockets (rsocket(7)).
 *
 * <p>It behaves as Netty's channels over TCP do: autoread, limits of a read, write watermarks, half closure, connect
 * timeouts, file regions. What is different:
 * <ul>
 * <li>The stream is made when the channel is bound or connected. Its settings are options of the channel, and fixed
 * from then on ({@link RdmaChannelOption}). Those of accepted channels are options of the server.
 * <li>Addresses are those of RDMA devices.
 * <li>Every write is sent at once, whatever {@code TCP_NODELAY} says; a flush of several buffers is one message where
 * it fits.
 * <li>There is no reset: a peer that closes with {@code SO_LINGER} 0, or whose process ends, is seen to close.
 * </ul>
 *
 * <p>Buffers are copied to and from registered memory, except that those of an {@link RdmaByteBufAllocator} are written
 * without a copy.
 */
public final class RdmaStreamChannel extends AbstractRdmaChannel implements SocketChannel {
    private static final Logger LOG = LoggerFactory.getLogger(RdmaStreamChannel.class);
    private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);
    private static final int MOST_BUFFERS = 64;
    private static final long MOST_BYTES = 1 << 20;
    private static final String EXPECTED_TYPES = " (expected: " + StringUtil.simpleClassName(ByteBuf.class) + ", "
            + StringUtil.simpleClassName(FileRegion.class) + ')';

    private final RdmaStreamChannelConfig config;
    private final LentBuffers lent = new LentBuffers();
    private final Runnable flushing = () -> ((StreamUnsafe) unsafe()).flushNow();
    private final Runnable changed = this::changed;
    // null unless the channel was accepted and not registered yet
    private volatile @Nullable Request request;
    // null until the channel is bound or connects, or was accepted and registered
    @SuppressWarnings("NullAway.Init")
    private volatile RdmaStream stream;
    private volatile @Nullable SharedQueues queues;
    private volatile boolean connected;
    private volatile boolean inputShut;
    private volatile boolean outputShut;
    // what the channel has joined; null if it is not one of ours
    private volatile @Nullable RdmaByteBufAllocator allocator;
    // The fields below are used in the event loop.
    private boolean writePending;
    private boolean allDataRead;
    private boolean accepting;
    private @Nullable ChannelPromise connectPromise;
    private @Nullable Future<?> connectTimeout;
    private @Nullable SocketAddress requestedRemote;
    private @Nullable WritableByteChannel output;

    /** Creates a channel that is not connected. */
    public RdmaStreamChannel() {
        super(null);
        config = new RdmaStreamChannelConfig(this, StreamSettings.defaults(), false);
    }

    /** Creates a channel for a request, which is accepted when the channel is registered. */
    RdmaStreamChannel(RdmaServerStreamChannel parent, Request request, StreamSettings settings) {
        super(parent);
        this.request = request;
        config = new RdmaStreamChannelConfig(this, settings, true);
        config.options().inherit(parent.config().options());
    }

    @Override
    public @Nullable RdmaServerStreamChannel parent() {
        return (RdmaServerStreamChannel) super.parent();
    }

    @Override
    public RdmaStreamChannelConfig config() {
        return config;
    }

    @Override
    public ChannelMetadata metadata() {
        return METADATA;
    }

    @Override
    public boolean isActive() {
        return isOpen() && connected;
    }

    @Override
    public @Nullable InetSocketAddress localAddress() {
        return (InetSocketAddress) super.localAddress();
    }

    @Override
    public @Nullable InetSocketAddress remoteAddress() {
        return (InetSocketAddress) super.remoteAddress();
    }

    @Override
    protected @Nullable SocketAddress localAddress0() {
        RdmaStream mine = stream;
        Request unanswered = request;
        return mine != null ? mine.localAddress() : unanswered != null ? unanswered.localAddress() : null;
    }

    @Override
    protected @Nullable SocketAddress remoteAddress0() {
        RdmaStream mine = stream;
        Request unanswered = request;
        return mine != null ? mine.peerAddress() : unanswered != null ? unanswered.peerAddress() : null;
    }

    @Override
    protected AbstractUnsafe newUnsafe() {
        return new StreamUnsafe();
    }

    // The stream and its event loop.

    @Override
    boolean canRegister() {
        return true;
    }

    @Override
    void registered() throws IOException {
        Request unanswered = request;
        if (unanswered != null) {
            accept(unanswered, Objects.requireNonNull(registration()).queues());
        }
    }

    /** Accepts the request before the channel is registered, on queues of its own. */
    void acceptEarly() throws RdmaException {
        SharedQueues own = StreamAccess.get().openQueues();
        try {
            accept(Objects.requireNonNull(request), own);
        } finally {
            // as soon as the stream is closed
            own.close();
        }
    }

    private void accept(Request unanswered, SharedQueues shared) throws RdmaException {
        request = null;
        accepting = true;
        queues = shared;
        stream = unanswered.accept(shared, changed);
        optionsChanged();
    }

    @Override
    void optionsChanged() {
        RdmaStream mine = stream;
        if (mine != null) {
            mine.keepAlive(config.options().keepAlive());
        }
    }

    @Override
    @Nullable SharedQueues queues() {
        return queues;
    }

    /** The stream may have become ready for something. Called by any thread. */
    private void changed() {
        LoopRegistration mine = registration();
        if (mine != null) {
            mine.changed();
        }
    }

    @Override
    long spinNanos() {
        return connected ? config.options().spinNanos() : 0;
    }

    @Override
    boolean doProgress() {
        if (!isOpen() || stream == null) {
            return false;
        }
        if (connectPromise != null || accepting) {
            return finishConnect();
        }
        if (!connected) {
            return false;
        }
        int ready = stream.poll();
        boolean any = false;
        if (!lent.isEmpty()) {
            lent.release(stream.releasedBytes());
        }
        // First, because a write fails when the peer has ended, and closes the channel with what was not read.
        if (isReadPending() && (ready & RdmaStream.READABLE) != 0) {
            any = true;
            read0();
        }
        if (isOpen() && writePending && (ready & RdmaStream.WRITABLE) != 0) {
            any = true;
            ((StreamUnsafe) unsafe()).flushNow();
        }
        return any;
    }

    // Binding and connecting.

    /** Returns the stream; null until the channel is bound or connects. */
    RdmaStream stream() {
        return stream;
    }

    private RdmaStream openStream() throws RdmaException {
        RdmaStream created = stream;
        if (created == null) {
            LoopRegistration mine = registration();
            if (mine == null) {
                throw new IllegalStateException(this + " is not registered");
            }
            SharedQueues shared = mine.queues();
            queues = shared;
            created = StreamAccess.get().open(config.options().fix(), shared, changed);
            stream = created;
        }
        return created;
    }

    @Override
    protected void doBind(SocketAddress address) throws Exception {
        InetSocketAddress local = require(address);
        try {
            openStream().bind(local);
        } catch (RdmaException e) {
            throw SocketExceptions.ofBind(e, local);
        }
    }

    private void startConnect(SocketAddress remote, SocketAddress local, ChannelPromise promise) throws Exception {
        InetSocketAddress to = require(remote);
        if (connectPromise != null) {
            throw new ConnectionPendingException();
        }
        if (connected) {
            throw new AlreadyConnectedException();
        }
        if (local != null) {
            doBind(local);
        }
        try {
            openStream().startConnect(to);
            requestedRemote = remote;
            connectPromise = promise;
        } catch (Throwable t) {
            connectPromise = null;
            doClose();
            throw t;
        }
    }

    private void awaitConnect(ChannelPromise promise) {
        int millis = config.getConnectTimeoutMillis();
        if (millis > 0) {
            SocketAddress remote = requestedRemote;
            connectTimeout = eventLoop().schedule(() -> {
                if (connectPromise == promise && promise.tryFailure(
                        new ConnectTimeoutException("connection timed out after " + millis + " ms: " + remote))) {
                    closeForLoop();
                }
            }, millis, TimeUnit.MILLISECONDS);
        }
        promise.addListener((ChannelFuture future) -> {
            if (future.isCancelled()) {
                endConnect();
                closeForLoop();
            }
        });
    }

    private @Nullable ChannelPromise endConnect() {
        ChannelPromise promise = connectPromise;
        connectPromise = null;
        if (connectTimeout != null) {
            connectTimeout.cancel(false);
            connectTimeout = null;
        }
        return promise;
    }

    /** Returns whether the connect has come to an end. */
    private boolean finishConnect() {
        StreamUnsafe unsafe = (StreamUnsafe) unsafe();
        try {
            if (!stream.finishConnect()) {
                return false;
            }
        } catch (RdmaException | RuntimeException | Error e) {
            accepting = false;
            unsafe.connectFailed(endConnect(), e);
            return true;
        }
        accepting = false;
        unsafe.connected(endConnect());
        return true;
    }

    // Reading.

    private void read0() {
        if (inputShut && (allDataRead || !config.isAllowHalfClosure())) {
            endRead();
            return;
        }
        var handle = unsafe().recvBufAllocHandle();
        handle.reset(config);
        ByteBuf buffer = null;
        boolean ended = false;
        try {
            do {
                buffer = handle.allocate(config.getAllocator());
                handle.attemptedBytesRead(buffer.writableBytes());
                handle.lastBytesRead(readInto(buffer));
                if (handle.lastBytesRead() <= 0) {
                    buffer.release();
                    buffer = null;
                    ended = handle.lastBytesRead() < 0;
                    if (ended) {
                        endRead();
                    }
                    break;
                }
                handle.incMessagesRead(1);
                endRead();
                pipeline().fireChannelRead(buffer);
                buffer = null;
            } while (isOpen() && !inputShut && handle.continueReading());
            handle.readComplete();
            pipeline().fireChannelReadComplete();
            if (ended) {
                endInput(true);
            }
        } catch (IOException | RuntimeException | Error e) {
            readFailed(buffer, e);
        }
    }

    private int readInto(ByteBuf buffer) throws IOException {
        int index = buffer.writerIndex();
        try {
            int length = buffer.nioBufferCount() == 1
                    ? stream.read(buffer.internalNioBuffer(index, buffer.writableBytes()))
                    : (int) stream.read(buffer.nioBuffers(index, buffer.writableBytes()), 0, buffer.nioBufferCount());
            if (length > 0) {
                buffer.writerIndex(index + length);
            }
            return length;
        } catch (DisconnectedException e) {
            // As over TCP, the exit of the peer's process is the end of the stream.
            LOG.debug("the peer of {} has not said that it ends", this, e);
            return -1;
        }
    }

    private void readFailed(@Nullable ByteBuf buffer, Throwable cause) {
        if (buffer != null) {
            if (buffer.isReadable()) {
                endRead();
                pipeline().fireChannelRead(buffer);
            } else {
                buffer.release();
            }
        }
        unsafe().recvBufAllocHandle().readComplete();
        ChannelPipeline pipeline = pipeline();
        pipeline.fireChannelReadComplete();
        pipeline.fireExceptionCaught(cause);
        if (!(cause instanceof RuntimeException)) {
            endInput(false);
        }
    }

    /** There will be no more data. */
    private void endInput(boolean atEnd) {
        if (!isOpen()) {
            return;
        }
        if (!inputShut) {
            if (!config.isAllowHalfClosure()) {
                closeForLoop();
                return;
            }
            try {
                doShutdownInput();
            } catch (IOException | IllegalStateException e) {
                LOG.debug("the input of {} had ended", this, e);
                inputShut = true;
            }
            pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        }
        if (atEnd && !allDataRead) {
            allDataRead = true;
            pipeline().fireUserEventTriggered(ChannelInputShutdownReadComplete.INSTANCE);
        }
    }

    // Writing.

    @Override
    protected Object filterOutboundMessage(Object msg) {
        if (msg instanceof ByteBuf || msg instanceof FileRegion) {
            return msg;
        }
        throw new UnsupportedOperationException("unsupported message type: " + StringUtil.simpleClassName(msg)
                + EXPECTED_TYPES);
    }

    @Override
    protected void doWrite(ChannelOutboundBuffer in) throws Exception {
        int left = config.getWriteSpinCount();
        try {
            while (left > 0) {
                Object message = in.current();
                if (message == null) {
                    return;
                }
                if (message instanceof ByteBuf buffer && !buffer.isReadable()) {
                    in.remove();
                    continue;
                }
                if (!write0(in, message)) {
                    writePending = true;
                    return;
                }
                left--;
            }
        } finally {
            used();
        }
        // There is room, but others may have their turn first.
        eventLoop().execute(flushing);
    }

    /** Writes the first message, or several at once; returns false if there is no room. */
    @SuppressWarnings("NullAway") // isLendable() has found the slice
    private boolean write0(ChannelOutboundBuffer in, Object message) throws IOException {
        if (message instanceof FileRegion region) {
            return writeRegion(in, region);
        }
        ByteBuf buffer = (ByteBuf) message;
        if (isLendable(buffer)) {
            return lend(in, buffer, RdmaByteBufAllocator.sliceOf(buffer));
        }
        if (in.size() == 1 && buffer.nioBufferCount() == 1) {
            int written = stream.write(buffer.internalNioBuffer(buffer.readerIndex(), buffer.readableBytes()));
            in.removeBytes(written);
            return written > 0;
        }
        return writeSeveral(in, buffer);
    }

    /** Returns whether a buffer is in memory that the device can read, and large enough for that to pay. */
    private boolean isLendable(ByteBuf buffer) {
        if (buffer.readableBytes() < config.options().zeroCopyThreshold()) {
            return false;
        }
        RegisteredSlice slice = RdmaByteBufAllocator.sliceOf(buffer);
        return slice != null && slice.region().protectionDomain() == stream.protectionDomain();
    }

    private boolean lend(ChannelOutboundBuffer in, ByteBuf buffer, RegisteredSlice slice) throws IOException {
        long address = MemorySegment.ofBuffer(buffer.internalNioBuffer(buffer.readerIndex(), buffer.readableBytes()))
                .address();
        long offset = slice.offset() + address - slice.memory().address();
        int written = stream.write(slice.region(), offset, buffer.readableBytes());
        if (written > 0) {
            lent.add(buffer, stream.lentBytes());
            in.removeBytes(written);
        }
        return written > 0;
    }

    private boolean writeSeveral(ChannelOutboundBuffer in, ByteBuf first) throws IOException {
        ByteBuffer[] buffers = in.nioBuffers(MOST_BUFFERS, allocator == null ? MOST_BYTES : copied(in));
        int count = in.nioBufferCount();
        if (count == 0) {
            // Buffers without memory of their own in one piece.
            buffers = first.nioBuffers();
            count = buffers.length;
        }
        long written = stream.write(buffers, 0, count);
        in.removeBytes(written);
        return written > 0;
    }

    /** Returns how many bytes there are before the next buffer that need not be copied. */
    private long copied(ChannelOutboundBuffer in) throws IOException {
        CopiedBytes bytes = new CopiedBytes();
        try {
            in.forEachFlushedMessage(bytes);
        } catch (IOException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        return Math.clamp(bytes.total, 1, MOST_BYTES);
    }

    private boolean writeRegion(ChannelOutboundBuffer in, FileRegion region) throws IOException {
        if (region.transferred() >= region.count()) {
            in.remove();
            return true;
        }
        if (output == null) {
            output = new StreamOutput();
        }
        long written = region.transferTo(output, region.transferred());
        if (written > 0) {
            in.progress(written);
            if (region.transferred() >= region.count()) {
                in.remove();
            }
        }
        return written > 0;
    }

    // Shutting down and closing.

    @Override
    public boolean isInputShutdown() {
        return inputShut || !isOpen() && connected;
    }

    @Override
    public boolean isOutputShutdown() {
        return outputShut || !isOpen() && connected;
    }

    @Override
    public boolean isShutdown() {
        return isInputShutdown() && isOutputShutdown();
    }

    private void doShutdownInput() throws IOException {
        requireConnected();
        stream.shutdownInput();
        inputShut = true;
    }

    @Override
    protected void doShutdownOutput() throws Exception {
        requireConnected();
        stream.shutdownOutput();
        outputShut = true;
    }

    private void requireConnected() throws IOException {
        if (!isOpen()) {
            throw new ClosedChannelException();
        }
        if (!connected) {
            throw new NotYetConnectedException();
        }
    }

    @Override
    public ChannelFuture shutdownInput() {
        return shutdownInput(newPromise());
    }

    @Override
    public ChannelFuture shutdownInput(ChannelPromise promise) {
        inLoop(() -> {
            try {
                doShutdownInput();
                promise.setSuccess();
            } catch (IOException | RuntimeException e) {
                promise.setFailure(e);
            }
        });
        return promise;
    }

    @Override
    public ChannelFuture shutdownOutput() {
        return shutdownOutput(newPromise());
    }

    @Override
    public ChannelFuture shutdownOutput(ChannelPromise promise) {
        inLoop(() -> ((AbstractUnsafe) unsafe()).shutdownOutput(promise));
        return promise;
    }

    @Override
    public ChannelFuture shutdown() {
        return shutdown(newPromise());
    }

    @Override
    public ChannelFuture shutdown(ChannelPromise promise) {
        shutdownOutput().addListener(first -> shutdownInput().addListener(second -> {
            Throwable cause = first.isSuccess() ? second.cause() : first.cause();
            if (cause == null) {
                promise.setSuccess();
            } else {
                promise.setFailure(cause);
            }
        }));
        return promise;
    }

    private void inLoop(Runnable task) {
        EventLoop loop = eventLoop();
        if (loop.inEventLoop()) {
            task.run();
        } else {
            loop.execute(task);
        }
    }

    @Override
    protected void doClose() throws Exception {
        ChannelPromise promise = endConnect();
        if (promise != null) {
            promise.tryFailure(new ClosedChannelException());
        }
        super.doClose();
    }

    @Override
    void free() throws Exception {
        Request unanswered = request;
        if (unanswered != null) {
            request = null;
            unanswered.reject();
        }
        if (stream != null) {
            CompletableFuture<Void> end = closeStream();
            if (end.isCompletedExceptionally()) {
                throw new IOException(this + " could not be closed", end.exceptionNow());
            }
        }
    }

    /** Begins to close the stream. May be called again. */
    private CompletableFuture<Void> closeStream() {
        if (allocator != null) {
            // Before the stream is closed: the protection domain can be closed only after the memory in it.
            allocator.leave(stream);
        }
        CompletableFuture<Void> end = stream.closeAsync();
        end.whenComplete((nothing, failure) -> lent.release(Long.MAX_VALUE));
        return end;
    }

    /** Takes part in the registered memory of the allocator, if it is one of ours. */
    private void joinAllocator() {
        if (config.getAllocator() instanceof RdmaByteBufAllocator ours) {
            allocator = ours;
            ours.join(stream);
        }
    }

    /** Counts the bytes before the first buffer that need not be copied. */
    private final class CopiedBytes implements ChannelOutboundBuffer.MessageProcessor {
        private long total;

        @Override
        public boolean processMessage(Object message) {
            if (!(message instanceof ByteBuf buffer) || total > 0 && isLendable(buffer)) {
                return false;
            }
            total += buffer.readableBytes();
            return total < MOST_BYTES;
        }
    }

    /** A file region writes to it. */
    private final class StreamOutput implements WritableByteChannel {
        @Override
        public int write(ByteBuffer source) throws IOException {
            return stream.write(source);
        }

        @Override
        public boolean isOpen() {
            return RdmaStreamChannel.this.isOpen();
        }

        @Override
        public void close() {
            throw new UnsupportedOperationException();
        }
    }

    /** What only an Unsafe can do. */
    private final class StreamUnsafe extends AbstractUnsafe {
        @Override
        public void connect(SocketAddress remoteAddress, SocketAddress localAddress, ChannelPromise promise) {
            if (promise.isDone() || !ensureOpen(promise)) {
                return;
            }
            try {
                startConnect(remoteAddress, localAddress, promise);
                awaitConnect(promise);
            } catch (Throwable t) {
                promise.tryFailure(connectFailure(t, remoteAddress));
                closeIfClosed();
            }
        }

        /** The stream is connected; there is no promise for a channel that was accepted. */
        void connected(@Nullable ChannelPromise promise) {
            connected = true;
            joinAllocator();
            boolean active = isActive();
            boolean kept = promise == null || promise.trySuccess();
            if (active) {
                pipeline().fireChannelActive();
            }
            if (promise == null) {
                flush0();
            }
            // Cancelled at the last moment.
            if (!kept) {
                close(voidPromise());
            }
        }

        private static Throwable connectFailure(Throwable cause, @Nullable SocketAddress remote) {
            return cause instanceof IOException failure && remote != null ? SocketExceptions.ofConnect(failure, remote)
                    : cause;
        }

        void connectFailed(@Nullable ChannelPromise promise, Throwable cause) {
            if (promise != null) {
                promise.tryFailure(connectFailure(cause, requestedRemote));
            } else if (cause instanceof DisconnectedException || cause instanceof RejectedException
                    || cause instanceof UnreachableException || cause instanceof RdmaTimeoutException
                    || cause instanceof StreamProtocolException) {
                LOG.debug("the peer of {} has not completed the handshake", RdmaStreamChannel.this, cause);
            } else {
                LOG.warn("{} could not accept its stream", RdmaStreamChannel.this, cause);
            }
            close(voidPromise());
        }

        @Override
        protected void flush0() {
            // If there was no room, the event loop flushes when there is; before the handshake of a channel that was
            // accepted is complete, when it is.
            if (!writePending && !accepting) {
                super.flush0();
            }
        }

        void flushNow() {
            // Set again if there is no room. Nothing is written when the output has been shut down meanwhile.
            writePending = false;
            super.flush0();
        }

        /** With SO_LINGER, the channel is closed when the stream is, or the time has run out. */
        @Override
        protected @Nullable Executor prepareToClose() {
            int linger = config.getSoLinger();
            if (!isOpen() || !connected || linger <= 0) {
                return null;
            }
            leaveLoop();
            return closing -> {
                try {
                    closeStream().orTimeout(linger, TimeUnit.SECONDS)
                            .whenComplete((nothing, failure) -> GlobalEventExecutor.INSTANCE.execute(closing));
                } catch (Throwable t) {
                    LOG.warn("{} is closed without waiting for its peer", RdmaStreamChannel.this, t);
                    closing.run();
                }
            };
        }
    }
}
