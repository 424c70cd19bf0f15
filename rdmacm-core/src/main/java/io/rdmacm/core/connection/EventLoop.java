// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeSet;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.Deadline;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that takes the connection-manager events of a manager, and never waits for anything else. Only this thread
 * closes ids, because an id cannot be closed while one of its events is open.
 */
final class EventLoop {
    private static final Logger LOG = LoggerFactory.getLogger(EventLoop.class);
    // how many tasks wait at most until there is no event at hand
    private static final int MAX_WHEN_IDLE = 64;

    private final EventChannel channel;
    private final Map<CmId, Handler> handlers = new ConcurrentHashMap<>();
    private final Thread thread;
    // guarded by itself, and so is the field ended
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private boolean ended;
    // why there are no more events for anybody, null while there are
    private volatile @Nullable RdmaException failure;
    // used by the thread only
    private final TreeSet<Alarm> alarms = new TreeSet<>();
    private long alarmsSet;
    private final ArrayDeque<Runnable> whenIdle = new ArrayDeque<>();

    private EventLoop(EventChannel channel) {
        this.channel = channel;
        this.thread = Thread.ofPlatform().daemon().name("rdmacm-events-" + channel.fd()).unstarted(this::run);
    }

    /** Handles the events of an id, in the thread of the loop. */
    interface Handler {
        /** Handles an event, which is closed afterwards. */
        void handle(CmEvent event) throws RdmaException;

        /** Called when there will be no more events. */
        void fail(RdmaException reason);
    }

    /** A task for a time to come. */
    private record Alarm(long nanoTime, long number, Runnable task) implements Comparable<Alarm> {
        @Override
        public int compareTo(Alarm other) {
            int order = Long.signum(nanoTime - other.nanoTime);
            return order == 0 ? Long.compare(number, other.number) : order;
        }
    }

    /** A task for the thread of the loop. */
    @FunctionalInterface
    interface Task {
        void run() throws RdmaException;
    }

    static EventLoop start() throws RdmaException {
        EventLoop loop = new EventLoop(EventChannel.open());
        loop.thread.start();
        return loop;
    }

    /** Opens an id, to be closed with {@link #close(CmId)}. */
    CmId open(Handler handler) throws RdmaException {
        CmId id = CmId.open(channel, PortSpace.TCP);
        register(id, handler);
        return id;
    }

    /** Sets the handler of an id. It fails at once if all others have failed. */
    void register(CmId id, Handler handler) {
        handlers.put(id, handler);
        RdmaException reason = failure;
        if (reason != null) {
            handler.fail(reason);
        }
    }

    /** Closes an id, and returns when that is done. */
    void close(CmId id) throws RdmaException {
        run(() -> {
            id.close();
            handlers.remove(id);
        });
    }

    /** Closes an id soon, without waiting for it. */
    void closeLater(CmId id) {
        later(() -> {
            try {
                close(id);
            } catch (RdmaException | IllegalStateException e) {
                LOG.warn("{} could not be closed", id, e);
            }
        });
    }

    /** Tells the handlers of all ids that there will be no more events, and those of later ones. */
    void failAll(RdmaException reason) {
        failure = reason;
        List.copyOf(handlers.values()).forEach(handler -> handler.fail(reason));
    }

    /** Closes the ids that are still open, those of unanswered requests, and ends the loop. */
    void closeAll() throws RdmaException {
        for (CmId id : List.copyOf(handlers.keySet())) {
            close(id);
        }
        channel.close();
        // the thread ends, because it waits for nothing but the channel
        join(thread);
    }

    /** Waits for the end of a thread that is about to end. An interrupt is preserved for the caller. */
    static void join(Thread ending) {
        boolean interrupted = false;
        while (ending.isAlive()) {
            try {
                ending.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Runs a short task in the thread of the loop, and returns when it is done. */
    void run(Task task) throws RdmaException {
        CompletableFuture<Void> done = new CompletableFuture<>();
        Runnable work = () -> {
            try {
                task.run();
                done.complete(null);
            } catch (RdmaException | RuntimeException e) {
                done.completeExceptionally(e);
            }
        };
        if (!handOver(work)) {
            work.run();
        }
        try {
            done.join();
        } catch (CompletionException | CancellationException e) {
            if (e.getCause() instanceof RdmaException failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause() == null ? e.getMessage() : e.getCause().getMessage(), e);
        }
    }

    /** Runs a task in the thread of the loop soon, but not inside the handling of an event. Does not wait for it. */
    void later(Runnable task) {
        boolean over;
        boolean awake;
        synchronized (tasks) {
            over = ended;
            // The thread looks for tasks before it waits, and an earlier task has woken it.
            awake = Thread.currentThread() == thread || !tasks.isEmpty();
            if (!over) {
                tasks.add(task);
            }
        }
        if (over) {
            task.run();
        } else if (!awake) {
            wakeup();
        }
    }

    /**
     * Runs a task when a deadline has passed. Called by the thread of the loop.
     *
     * @return undoes this if it is called by the thread of the loop; has no effect otherwise
     */
    Runnable at(Deadline deadline, Runnable task) {
        long nanos = Math.min(deadline.remainingNanos(), Long.MAX_VALUE / 4);
        Alarm alarm = new Alarm(System.nanoTime() + nanos, alarmsSet++, task);
        alarms.add(alarm);
        return () -> {
            if (Thread.currentThread() == thread) {
                alarms.remove(alarm);
            }
        };
    }

    /** Runs a task as soon as no event is at hand. Called by the thread of the loop. */
    void whenIdle(Runnable task) {
        whenIdle.add(task);
    }

    /** Returns the time until the next alarm. */
    private Duration untilAlarm() {
        return alarms.isEmpty() ? Deadline.FOREVER
                : Duration.ofNanos(Math.max(0, alarms.first().nanoTime() - System.nanoTime()));
    }

    /** Returns false when the caller must run it: it is the thread of the loop, or that thread has ended. */
    private boolean handOver(Runnable work) {
        if (Thread.currentThread() == thread) {
            return false;
        }
        synchronized (tasks) {
            if (ended) {
                return false;
            }
            tasks.add(work);
        }
        wakeup();
        return true;
    }

    private void wakeup() {
        try {
            channel.wakeup();
        } catch (IllegalStateException e) {
            // the channel was closed meanwhile: the thread runs all tasks before it ends
        }
    }

    private void run() {
        RdmaException reason = null;
        try {
            while (reason == null) {
                reason = step();
            }
        } finally {
            // Even after an Error, or those who wait for a task would wait forever.
            synchronized (tasks) {
                ended = true;
            }
            runTasks();
            failAll(reason != null ? reason : new RdmaClosedException("rdma_get_cm_event", "the event loop"));
        }
    }

    /** Runs the tasks, and handles one event or what is put off. Returns why no events will come, null if they may. */
    private @Nullable RdmaException step() {
        runTasks();
        try (CmEvent event = next()) {
            if (event != null) {
                dispatch(event);
            } else if (whenIdle.isEmpty()) {
                runAlarms();
            } else {
                runWhenIdle();
            }
            return null;
        } catch (InterruptedException e) {
            // nothing in this library interrupts the thread, and the program has no reason to
            return null;
        } catch (RdmaClosedException e) {
            return e;
        } catch (IllegalStateException e) {
            return new RdmaClosedException("rdma_get_cm_event", channel.toString());
        } catch (RdmaException e) {
            LOG.error("connection-manager events can no longer be read", e);
            return e;
        }
    }

    /** Returns the next event, null if there is none in time or it has to wait. */
    private @Nullable CmEvent next() throws RdmaException, InterruptedException {
        return whenIdle.size() < MAX_WHEN_IDLE
                ? channel.pollEvent(whenIdle.isEmpty() ? untilAlarm() : Duration.ZERO).orElse(null) : null;
    }

    private void runWhenIdle() {
        while (!whenIdle.isEmpty()) {
            runSafely(whenIdle.remove());
        }
    }

    /** When no event is at hand: with one of them may have come what an alarm gives up. */
    private void runAlarms() {
        while (untilAlarm().isZero()) {
            runSafely(alarms.removeFirst().task());
        }
    }

    private void dispatch(CmEvent event) {
        boolean request = event.type() == CmEventType.CONNECT_REQUEST;
        Handler handler = handlers.get(request ? event.listener().orElseThrow() : event.id());
        if (handler == null) {
            return;
        }
        try {
            handler.handle(event);
        } catch (RdmaException | RuntimeException e) {
            LOG.warn("{} could not be handled", event, e);
        }
    }

    private void runTasks() {
        while (true) {
            Runnable task;
            synchronized (tasks) {
                task = tasks.poll();
            }
            if (task == null) {
                return;
            }
            runSafely(task);
        }
    }

    /** Runs a task whose failure must not end the loop. */
    private static void runSafely(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException e) {
            LOG.error("a task of the event loop failed", e);
        }
    }
}
