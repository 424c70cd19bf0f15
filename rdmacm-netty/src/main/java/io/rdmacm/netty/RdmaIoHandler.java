// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

import io.netty.channel.IoHandle;
import io.netty.channel.IoHandler;
import io.netty.channel.IoHandlerContext;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.IoOps;
import io.netty.channel.IoRegistration;
import io.netty.util.concurrent.ThreadAwareExecutor;
import io.rdmacm.core.connection.WaitPolicy;
import io.rdmacm.core.internal.access.StreamAccess;
import io.rdmacm.core.internal.access.StreamAccess.SharedQueues;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.EventFile;
import io.rdmacm.verbs.internal.wait.Spin;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drives the {@link RdmaStreamChannel}s and {@link RdmaServerStreamChannel}s of an event loop. It polls those that were
 * in use lately, and when none of them has had anything to do for a while, sleeps until one has. Polling answers sooner
 * but occupies a CPU. TCP channels need another event loop; the channels of this package also work with Netty's
 * EpollIoHandler, beside TCP channels.
 *
 * <pre>{@code
 * EventLoopGroup group = new MultiThreadIoEventLoopGroup(RdmaIoHandler.newFactory());
 * }</pre>
 *
 * <p>Used by the event loop alone, except for {@link #wakeup()}: in other threads, and after {@link #destroy()}, the
 * other methods throw IllegalStateException.
 */
public final class RdmaIoHandler implements IoHandler {
    private static final Logger LOG = LoggerFactory.getLogger(RdmaIoHandler.class);
    // While the thread polls, idle channels are asked for less often, because that is a system call.
    private static final int ROUNDS_PER_EVENTS = 16;

    private final ThreadAwareExecutor executor;
    private final long spinNanos;
    private final EventFile file;
    private final Map<Long, Registration> registrations = new HashMap<>();
    // those that may have something to do
    private final ArrayDeque<Registration> active = new ArrayDeque<>();
    // the queues of the channels: those of this handler, and those of channels that came from others
    private final List<Shared> shared = new ArrayList<>(1);
    private @Nullable SharedQueues own;
    private long lastToken = EventFile.WAKEUP;
    private long lastUse = System.nanoTime();
    private int rounds;
    // guards the wakeup, so that no thread writes to the file after it was closed
    private final Object wakeupLock = new Object();
    // written by the event loop, with the lock held
    private boolean destroyed;
    // These two are for the threads that wake this one.
    private volatile boolean woken;
    private volatile boolean sleeping;

    private RdmaIoHandler(ThreadAwareExecutor executor, long spinNanos) throws RdmaException {
        this.executor = executor;
        this.spinNanos = spinNanos;
        file = EventFile.open();
    }

    /**
     * Returns a factory of handlers that poll as long as {@link WaitPolicy#defaults()} says before they sleep.
     *
     * @return the factory
     */
    public static IoHandlerFactory newFactory() {
        return newFactory(WaitPolicy.defaults());
    }

    /**
     * Returns a factory of handlers.
     *
     * @param waiting how long a handler polls before it sleeps
     * @return the factory. Its handlers cannot be created when the limit of open files is reached
     */
    public static IoHandlerFactory newFactory(WaitPolicy waiting) {
        Duration spin = Objects.requireNonNull(waiting, "waiting").spin();
        long nanos = TimeUnit.NANOSECONDS.convert(spin);
        return new IoHandlerFactory() {
            @Override
            public IoHandler newHandler(ThreadAwareExecutor ioExecutor) {
                try {
                    return new RdmaIoHandler(ioExecutor, nanos);
                } catch (RdmaException e) {
                    throw new UncheckedIOException(e);
                }
            }

            @Override
            public boolean isChangingThreadSupported() {
                return true;
            }
        };
    }

    @Override
    public boolean isCompatible(Class<? extends IoHandle> handleType) {
        return RdmaIoHandle.class.isAssignableFrom(handleType);
    }

    private void requireLoop() {
        if (!executor.isExecutorThread(Thread.currentThread())) {
            throw new IllegalStateException("an RdmaIoHandler can be used only in the thread of its event loop, not in "
                    + Thread.currentThread());
        }
    }

    private void requireAlive() {
        requireLoop();
        if (destroyed) {
            throw new IllegalStateException("the RdmaIoHandler has been destroyed");
        }
    }

    @Override
    public IoRegistration register(IoHandle handle) throws Exception {
        requireAlive();
        if (!(handle instanceof RdmaIoHandle ioHandle)) {
            throw new IllegalArgumentException("RdmaIoHandler drives channels over RDMA only, not "
                    + handle.getClass().getName());
        }
        int fileOfChannel = ioHandle.channel.file();
        Shared queues = fileOfChannel < 0 ? share(ioHandle.channel.queues()) : null;
        Registration registration = new Registration(ioHandle, ++lastToken, queues, fileOfChannel);
        if (queues == null) {
            registration.watchFile();
        } else {
            queues.channels++;
        }
        registrations.put(registration.token, registration);
        handle.registered();
        return registration;
    }

    @Override
    public int run(IoHandlerContext context) {
        requireAlive();
        // Before the context is asked whether there are tasks: those that come later set it again.
        woken = false;
        try {
            return runOnce(context);
        } catch (RdmaException e) {
            // Nothing that a channel can be blamed for.
            LOG.warn("an event loop over RDMA cannot wait for its channels", e);
            Thread.yield();
            return 0;
        }
    }

    private int runOnce(IoHandlerContext context) throws RdmaException {
        while (true) {
            if (++rounds % ROUNDS_PER_EVENTS == 0) {
                takeEvents(file.await(0));
            }
            int handled = poll(context);
            if (handled > 0 || !context.canBlock() || woken) {
                return handled;
            }
            long now = System.nanoTime();
            long left = context.deadlineNanos() == -1 ? Long.MAX_VALUE : context.delayNanos(now);
            if (left <= 0) {
                return 0;
            }
            if (registrations.isEmpty() || now - lastUse >= spinNanos) {
                if (armAll()) {
                    takeEvents(sleep(left));
                    return poll(context);
                }
            } else {
                Spin.pause();
            }
        }
    }

    /** Takes completions for all channels, and has the active ones do what they can; returns how many did anything. */
    private int poll(IoHandlerContext context) {
        long begin = context.shouldReportActiveIoTime() ? System.nanoTime() : 0;
        int handled = 0;
        for (int i = 0; i < shared.size(); i++) {
            boolean ignored = shared.get(i).queues.poll();
        }
        // Those that become active meanwhile have their turn in the next round.
        for (int left = active.size(); left > 0; left--) {
            Registration registration = active.remove();
            registration.active = false;
            if (registration.valid && registration.ioHandle.channel.progress()) {
                handled++;
                registration.activate();
            } else if (registration.valid && !registration.ioHandle.channel.arm()) {
                registration.activate();
            }
        }
        if (handled > 0) {
            lastUse = System.nanoTime();
        }
        if (context.shouldReportActiveIoTime()) {
            context.reportActiveIoTime(handled > 0 ? System.nanoTime() - begin : 0);
        }
        return handled;
    }

    /** Arms the queues; returns false if there is something to do. */
    private boolean armAll() {
        boolean quiet = true;
        for (int i = 0; i < shared.size(); i++) {
            quiet &= shared.get(i).queues.arm();
        }
        return quiet && active.isEmpty();
    }

    /** Returns the queues that a stream has, or those of this handler. */
    private Shared share(@Nullable SharedQueues present) throws RdmaException {
        SharedQueues wanted = present;
        if (wanted == null) {
            wanted = own == null ? StreamAccess.get().openQueues() : own;
            own = wanted;
        }
        for (Shared each : shared) {
            if (each.queues == wanted) {
                return each;
            }
        }
        file.watch(wanted.fd(), ++lastToken);
        Shared created = new Shared(wanted);
        shared.add(created);
        return created;
    }

    /** A channel has left its queues. Those of other handlers, from where channels have come, are watched no more. */
    private void unshare(Shared left) throws RdmaException {
        left.channels--;
        if (left.channels == 0 && left.queues != own && !destroyed) {
            shared.remove(left);
            file.forget(left.queues.fd());
            // The handler that they belong to may rely on what this one has done.
            boolean ignored = left.queues.arm();
        }
    }

    private int sleep(long nanos) throws RdmaException {
        sleeping = true;
        try {
            return file.await(woken ? 0 : nanos);
        } finally {
            sleeping = false;
        }
    }

    private void takeEvents(int events) throws RdmaException {
        for (int i = 0; i < events; i++) {
            long token = file.token(i);
            if (token == EventFile.WAKEUP) {
                synchronized (wakeupLock) {
                    file.reset();
                }
            } else {
                Registration registration = registrations.get(token);
                if (registration != null) {
                    registration.activate();
                }
            }
        }
    }

    @Override
    public void wakeup() {
        if (executor.isExecutorThread(Thread.currentThread())) {
            return;
        }
        woken = true;
        if (sleeping) {
            synchronized (wakeupLock) {
                if (!destroyed) {
                    file.wake();
                }
            }
        }
    }

    @Override
    public void prepareToDestroy() {
        requireLoop();
        for (Registration registration : List.copyOf(registrations.values())) {
            registration.cancel();
            registration.ioHandle.close();
        }
    }

    @Override
    public void destroy() {
        requireLoop();
        if (destroyed) {
            return;
        }
        // Netty skips this if the loop was awake when it was told to end, without a quiet period.
        prepareToDestroy();
        synchronized (wakeupLock) {
            destroyed = true;
        }
        try {
            file.close();
            if (own != null) {
                own.close();
            }
        } catch (RdmaException e) {
            LOG.warn("the files of an event loop over RDMA could not be closed", e);
        }
    }

    /** Queues that are polled, and how many channels of this event loop use them. */
    private static final class Shared {
        private final SharedQueues queues;
        private int channels;

        Shared(SharedQueues queues) {
            this.queues = queues;
        }
    }

    /** A channel of this event loop. */
    final class Registration implements IoRegistration {
        private final RdmaIoHandle ioHandle;
        private final long token;
        // null if the channel has a file
        private final @Nullable Shared queues;
        private final int fileOfChannel;
        private final Runnable activation = this::activateOrEnd;
        private boolean active;
        private boolean watched;
        private volatile boolean valid = true;

        Registration(RdmaIoHandle ioHandle, long token, @Nullable Shared queues, int fileOfChannel) {
            this.ioHandle = ioHandle;
            this.fileOfChannel = fileOfChannel;
            this.token = token;
            this.queues = queues;
        }

        SharedQueues queues() {
            return Objects.requireNonNull(queues).queues;
        }

        private void watchFile() throws RdmaException {
            if (!watched && !destroyed) {
                file.watch(fileOfChannel, token);
                watched = true;
            }
        }

        private void forgetFile() throws RdmaException {
            if (watched && !destroyed) {
                watched = false;
                file.forget(fileOfChannel);
            }
        }

        private void activate() {
            if (!active && valid) {
                active = true;
                RdmaIoHandler.this.active.add(this);
            }
        }

        /** The task of other threads. Such tasks may keep Netty from the hook of the channel. */
        private void activateOrEnd() {
            if (ioHandle.channel.eventLoop().isShuttingDown()) {
                ioHandle.close();
            } else {
                activate();
            }
        }

        /** Has the channel polled, until it has nothing to do any more. */
        void poll() {
            if (valid) {
                lastUse = System.nanoTime();
                activate();
            }
        }

        /** The stream may have become ready for something. Called by any thread. */
        void changed() {
            if (executor.isExecutorThread(Thread.currentThread())) {
                activate();
            } else {
                LoopRegistration.executeOrIgnore(executor, activation);
            }
        }

        /** The channel was used, and an answer may come soon. */
        void used() {
            lastUse = System.nanoTime();
        }

        void watch(boolean wanted) {
            if (!valid || queues != null) {
                return;
            }
            try {
                if (wanted) {
                    watchFile();
                } else {
                    forgetFile();
                }
            } catch (RdmaException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** {@return this, for {@link RdmaIoHandle}} */
        @Override
        @SuppressWarnings("unchecked")
        public <T> T attachment() {
            return (T) this;
        }

        @Override
        public long submit(IoOps ops) {
            throw new IllegalArgumentException("RdmaIoHandler has no operations: " + ops);
        }

        @Override
        public boolean isValid() {
            return valid;
        }

        @Override
        public boolean cancel() {
            if (!valid) {
                return false;
            }
            valid = false;
            if (executor.isExecutorThread(Thread.currentThread())) {
                end();
            } else {
                executor.execute(this::end);
            }
            return true;
        }

        private void end() {
            if (registrations.remove(token) == null) {
                return;
            }
            try {
                forgetFile();
                if (queues != null) {
                    unshare(queues);
                }
            } catch (RdmaException e) {
                LOG.debug("{} could not be removed from its event loop", ioHandle.channel, e);
            }
            ioHandle.unregistered();
        }
    }
}
