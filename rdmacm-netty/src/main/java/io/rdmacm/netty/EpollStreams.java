// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.netty.channel.EventLoop;
import io.netty.channel.IoEvent;
import io.netty.channel.IoEventLoop;
import io.netty.channel.IoRegistration;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.channel.epoll.EpollIoHandle;
import io.netty.channel.epoll.EpollIoOps;
import io.netty.channel.unix.FileDescriptor;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import io.rdmacm.core.internal.access.StreamAccess;
import io.rdmacm.core.internal.access.StreamAccess.SharedQueues;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.Spin;
import org.jspecify.annotations.Nullable;

/**
 * The queues that the stream channels of an event loop with Netty's EpollIoHandler share, and the file of these queues
 * there. That handler knows nothing of arming, so they are armed whenever channels have been dealt with: after an
 * event, and after an iteration of the loop in which a task used one. Used in the thread of the event loop.
 */
final class EpollStreams implements EpollIoHandle {
    // Channels that still have something to do then let the other files of the event loop go first.
    private static final long MOST_NANOS = 1_000_000;
    // never reported for the file of a stream; no events at all would remove the file for good
    private static final EpollIoOps NOTHING = EpollIoOps.EPOLLRDHUP;
    // those of an event loop: its own, and those of channels that came from other event loops
    private static final Map<EventLoop, List<EpollStreams>> ALL = new ConcurrentHashMap<>();

    private final IoEventLoop loop;
    private final SharedQueues queues;
    private final boolean own;
    // never closed here: it belongs to the queues
    private final FileDescriptor file;
    private final Runnable progressTask = this::progressNow;
    private final Runnable nextTask = this::progressInNextIteration;
    private final Runnable usedTask = this::afterUse;
    private final Set<EpollRegistration> registrations = new HashSet<>();
    private final ArrayDeque<EpollRegistration> active = new ArrayDeque<>();
    @SuppressWarnings("NullAway.Init") // set before anything else happens
    private IoRegistration registration;
    private long spinNanos;
    private boolean progressPending;
    private boolean usePending;
    private boolean busy;

    private EpollStreams(IoEventLoop loop, SharedQueues queues, boolean own) {
        this.loop = loop;
        this.queues = queues;
        this.own = own;
        this.file = new FileDescriptor(queues.fd());
    }

    /**
     * Returns the queues of an event loop.
     *
     * @param queues those that a stream has already, null if it has none
     */
    static EpollStreams of(IoEventLoop loop, @Nullable SharedQueues queues) throws RdmaException {
        for (EpollStreams streams : ALL.getOrDefault(loop, List.of())) {
            if (queues == null ? streams.own : streams.queues == queues) {
                return streams;
            }
        }
        EpollStreams created = new EpollStreams(loop, queues == null ? StreamAccess.get().openQueues() : queues,
                queues == null);
        boolean registered = false;
        try {
            created.register();
            ALL.computeIfAbsent(loop, none -> new ArrayList<>(1)).add(created);
            registered = true;
            return created;
        } finally {
            if (!registered) {
                created.end();
            }
        }
    }

    private void register() {
        Future<IoRegistration> future = loop.register(this);
        if (!future.isSuccess()) {
            throw new IllegalStateException("the event loop takes no files", future.cause());
        }
        registration = future.getNow();
        registration.submit(EpollIoOps.EPOLLIN);
    }

    /** The file has or has no longer to be watched. */
    void watch(boolean wanted) {
        if (registration.isValid()) {
            registration.submit(wanted ? EpollIoOps.EPOLLIN : NOTHING);
        }
    }

    private void end() {
        ALL.computeIfPresent(loop, (same, mine) -> mine.remove(this) && mine.isEmpty() ? null : mine);
        if (registration != null) {
            registration.cancel();
        }
        if (own) {
            queues.close();
        } else {
            // The event loop that they belong to may rely on what this one has done.
            boolean ignored = queues.arm();
        }
    }

    SharedQueues queues() {
        return queues;
    }

    EventLoop loop() {
        return loop;
    }

    void add(EpollRegistration registration) {
        registrations.add(registration);
    }

    void remove(EpollRegistration registration) {
        if (registrations.remove(registration) && registrations.isEmpty()) {
            end();
        }
    }

    void activate(EpollRegistration registration) {
        active.add(registration);
        progressSoon();
    }

    private void progressSoon() {
        if (!progressPending && !busy) {
            progressPending = true;
            loop.execute(progressTask);
        }
    }

    /** A channel was used, and an answer may come soon. */
    void used(EpollRegistration registration) {
        spinNanos = Math.max(spinNanos, registration.channel.spinNanos());
        if (usePending || busy || progressPending || spinNanos == 0) {
            return;
        }
        usePending = true;
        if (loop instanceof SingleThreadEventLoop single) {
            single.executeAfterEventLoopIteration(usedTask);
        } else {
            loop.execute(usedTask);
        }
    }

    @Override
    public FileDescriptor fd() {
        return file;
    }

    @Override
    public void handle(IoRegistration source, IoEvent event) {
        progressAndArm();
    }

    private void progressInNextIteration() {
        LoopRegistration.executeOrIgnore(loop, progressTask);
    }

    private void progressNow() {
        progressPending = false;
        progressAndArm();
    }

    private void afterUse() {
        usePending = false;
        progressAndArm();
    }

    private void progressAndArm() {
        if (loop.isShuttingDown()) {
            // Tasks that come all the time would keep Netty from the hooks of the channels.
            close();
        }
        if (registrations.isEmpty()) {
            return;
        }
        boolean armed = false;
        busy = true;
        try {
            long begin = System.nanoTime();
            do {
                armed = !progress() && !spin() && arm();
            } while (!armed && System.nanoTime() - begin < MOST_NANOS);
        } finally {
            busy = false;
        }
        if (armed) {
            spinNanos = 0;
        } else if (!registrations.isEmpty() && !progressPending) {
            progressPending = true;
            LoopRegistration.executeAfterIteration(loop, nextTask);
        }
    }

    /** Takes what has arrived; returns whether a channel had anything to do. A completion alone is nothing. */
    private boolean progress() {
        boolean ignored = queues.poll();
        boolean any = false;
        long longest = -1;
        for (int left = active.size(); left > 0; left--) {
            EpollRegistration registration = active.remove();
            if (registration.progress()) {
                any = true;
                longest = Math.max(longest, registration.channel.spinNanos());
            }
        }
        if (any) {
            // The option may have been changed.
            spinNanos = longest;
        }
        return any;
    }

    private boolean arm() {
        return registrations.isEmpty() || queues.arm() && active.isEmpty();
    }

    /** Polls for a while, unless there are tasks for the event loop; returns whether a channel had anything to do. */
    private boolean spin() {
        if (spinNanos == 0) {
            return false;
        }
        long begin = System.nanoTime();
        boolean any = false;
        boolean goesOn = true;
        while (goesOn && !any && !registrations.isEmpty() && !hasTasks()) {
            Spin.pause();
            any = progress();
            goesOn = !Spin.hasLetAllRun() && System.nanoTime() - begin < spinNanos;
        }
        return any;
    }

    private boolean hasTasks() {
        return loop instanceof SingleThreadEventExecutor single && single.pendingTasks() > 0;
    }

    /** The event loop is ending. */
    @Override
    public void close() {
        for (EpollRegistration registration : List.copyOf(registrations)) {
            registration.close();
        }
    }
}
