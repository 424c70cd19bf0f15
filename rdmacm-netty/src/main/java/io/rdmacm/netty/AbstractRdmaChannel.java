// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;

import io.netty.channel.AbstractChannel;
import io.netty.channel.Channel;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import io.rdmacm.core.internal.access.StreamAccess.SharedQueues;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What both kinds of channels have in common: they are open, active and registered with an event loop. The stream or
 * server below is made when the channel is bound or connected, because its settings are options of the channel, and
 * registered with the event loop from then on.
 */
abstract class AbstractRdmaChannel extends AbstractChannel {
    private static final Logger LOG = LoggerFactory.getLogger(AbstractRdmaChannel.class);
    // Without a quiet period, Netty may end an event loop without closing its channels, but not without this.
    private final Runnable closedByLoop = this::closeForLoop;
    private volatile boolean open = true;
    // Those below are set in the event loop.
    // the event loop that calls the above, null if there is none
    private @Nullable SingleThreadEventExecutor hooked;
    private volatile @Nullable LoopRegistration registration;
    private boolean readPending;

    AbstractRdmaChannel(@Nullable Channel parent) {
        super(parent);
    }

    /** Returns whether the channel can be registered with an event loop now. */
    abstract boolean canRegister();

    /** The channel was registered with an event loop; its options have been set. */
    void registered() throws IOException {
        // nothing to do
    }

    /** Returns the file to watch, -1 if the event loop has queues for the channel. */
    int file() throws IOException {
        return -1;
    }

    /** Returns the queues of the channel, null if it has none yet or has a file. */
    @Nullable SharedQueues queues() {
        return null;
    }

    /** See {@link #progress}. */
    abstract boolean doProgress() throws Exception;

    /** See {@link #arm}. Queues are armed for all channels. */
    boolean doArm() throws Exception {
        return true;
    }

    /** Returns how many nanoseconds to poll after a use, in an event loop that does not poll itself. */
    long spinNanos() {
        return 0;
    }

    /** Frees the stream or server, without waiting for more than the options ask for. */
    abstract void free() throws Exception;

    /** Leaves the event loop before a close that goes on elsewhere. */
    final void leaveLoop() {
        try {
            doDeregister();
        } catch (Exception e) {
            LOG.debug("{} could not be removed from its event loop", this, e);
        }
    }

    @Override
    public final boolean isOpen() {
        return open;
    }

    /** {@return true: {@link #doRegister} refuses event loops that do not fit, and says what fits} */
    @Override
    protected final boolean isCompatible(EventLoop loop) {
        return true;
    }

    @Override
    protected final void doRegister(ChannelPromise promise) {
        if (!LoopRegistration.isPossible(eventLoop())) {
            promise.tryFailure(new IllegalStateException("channels over RDMA work in event loops with RdmaIoHandler or"
                    + " EpollIoHandler, not in " + eventLoop()));
            return;
        }
        try {
            if (eventLoop() instanceof SingleThreadEventExecutor loop) {
                hooked = loop;
                loop.addShutdownHook(closedByLoop);
            }
            linkIfPossible(promise);
            registered();
        } catch (IOException | RuntimeException | Error e) {
            promise.tryFailure(e);
            return;
        }
        promise.trySuccess();
    }

    /** Registers the channel with its event loop if it can be. */
    final void linkIfPossible(ChannelPromise promise) throws IOException {
        if (registration == null && canRegister()) {
            registration = LoopRegistration.create(this, eventLoop(), promise::tryFailure);
        }
    }

    /** Returns the registration with the event loop; null if there is none. */
    final @Nullable LoopRegistration registration() {
        return registration;
    }

    /** The stream was written in the event loop. */
    final void used() {
        LoopRegistration mine = registration;
        if (mine != null) {
            mine.used();
        }
    }

    /**
     * Does what can be done now; returns whether there was anything. What is thrown ends this channel: it would end the
     * event loop, and with it all of its channels.
     */
    final boolean progress() {
        try {
            return doProgress();
        } catch (Throwable t) {
            fail(t);
            return true;
        }
    }

    /**
     * Prepares the file for a sleep, right after {@link #progress} found nothing to do; returns false if there may be
     * something by now.
     */
    final boolean arm() {
        try {
            return doArm();
        } catch (Throwable t) {
            fail(t);
            return true;
        }
    }

    @Override
    protected void doDeregister() throws Exception {
        // Also where it was not registered after all.
        SingleThreadEventExecutor loop = hooked;
        if (loop != null) {
            hooked = null;
            if (loop.inEventLoop()) {
                // Now: the channel may come back to this event loop before a task of it runs.
                loop.removeShutdownHook(closedByLoop);
            } else {
                LoopRegistration.executeOrIgnore(loop, () -> loop.removeShutdownHook(closedByLoop));
            }
        }
        @Nullable LoopRegistration former = registration;
        registration = null;
        if (former != null) {
            former.cancel();
        }
    }

    @Override
    protected void doBeginRead() throws Exception {
        readPending = true;
        LoopRegistration mine = registration;
        if (mine != null) {
            mine.progressSoon();
        }
    }

    /** Returns whether the program wants to read. */
    final boolean isReadPending() {
        return readPending;
    }

    /** What the program wanted to read has been read. */
    final void endRead() {
        readPending = false;
    }

    /** Autoread was switched off. May be called from any thread. */
    final void clearReadPending() {
        if (!isRegistered()) {
            readPending = false;
        } else if (eventLoop().inEventLoop()) {
            readPending = false;
        } else {
            eventLoop().execute(() -> readPending &= config().isAutoRead());
        }
    }

    /** Closes the channel; nobody waits for it. Never throws, because other channels count on the event loop. */
    final void closeForLoop() {
        try {
            unsafe().close(voidPromise());
        } catch (Throwable t) {
            LOG.warn("{} could not be closed", this, t);
        }
    }

    @Override
    protected final void doDisconnect() throws Exception {
        doClose();
    }

    @Override
    protected void doClose() throws Exception {
        if (!open) {
            return;
        }
        open = false;
        readPending = false;
        // Before the file is closed.
        doDeregister();
        free();
    }

    /** Reports a failure that is nobody's in particular, and closes the channel. Never throws. */
    final void fail(Throwable cause) {
        try {
            pipeline().fireExceptionCaught(cause);
        } finally {
            closeForLoop();
        }
    }

    /** An option has changed, and may be one that is not fixed when there is a stream. Called by any thread. */
    void optionsChanged() {
    }

    /** Returns an address that a stream can be bound or connected to. */
    static InetSocketAddress require(SocketAddress address) {
        if (!(address instanceof InetSocketAddress inet)) {
            throw new UnsupportedAddressTypeException();
        }
        if (inet.isUnresolved()) {
            throw new UnresolvedAddressException();
        }
        return inet;
    }
}
