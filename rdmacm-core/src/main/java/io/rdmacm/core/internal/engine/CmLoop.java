// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.Parts;
import io.rdmacm.verbs.internal.wait.Deadline;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A platform thread that takes the connection-manager events of many ids, and never waits for anything else. Only this
 * thread closes ids, because an id cannot be closed while one of its events is open. Whatever a handler or a task
 * throws concerns that one id or task.
 */
public final class CmLoop {
    /** How many events are handled at most after the time of an alarm has come and before the alarm is run. */
    static final int EVENTS_BEFORE_ALARMS = 256;
    /** How many events are handled at most between two tasks that wait for a free moment. */
    static final int EVENTS_BETWEEN_TASKS = 8;
    /** How many of these tasks are run at most before those that wait until no event is at hand. */
    static final int TASKS_BEFORE_IDLE = 8;
    /** How many events are handled at most before those that wait until no event is at hand. */
    static final int EVENTS_BEFORE_IDLE = 32;

    private static final Logger LOG = LoggerFactory.getLogger(CmLoop.class);
    private static final long SHORT_OF_MEMORY_NANOS = 10_000_000;
    private static final Object SHARING = new Object();

    // guarded by SHARING
    private static @Nullable CmLoop shared;
    private static int users;

    private final EventChannel channel;
    private final Map<CmId, Handler> handlers = new ConcurrentHashMap<>();
    private final Thread thread;
    // guarded by itself, and so is the field ended
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private boolean ended;
    // set when the thread shall end, and close the channel
    private volatile boolean ending;
    // why there are no more events for anybody, null while there are
    private volatile @Nullable RdmaException failure;
    // used by the thread only
    private final TreeSet<Alarm> alarms = new TreeSet<>();
    private long alarmsSet;
    private int eventsWhileDue;
    private final ArrayDeque<Runnable> whenIdle = new ArrayDeque<>();
    private final ArrayDeque<Runnable> whenFree = new ArrayDeque<>();
    private int eventsWhileNotFree;
    private int tasksBeforeIdle;
    private int eventsBeforeIdle;
    // what is left to do for the last event: see finishEvent()
    private @Nullable CmEvent current;
    private boolean handled;
    private @Nullable Handler failing;
    private @Nullable Throwable thrown;
    private @Nullable CmId orphan;

    private CmLoop(EventChannel channel) {
        this.channel = channel;
        this.thread = Thread.ofPlatform().daemon().inheritInheritableThreadLocals(false)
                .name("rdmacm-events-" + channel.fd()).unstarted(this::run);
        // The thread of all streams must not keep the class loader of the program that happens to be the first.
        thread.setContextClassLoader(null);
    }

    /** Handles the events of an id, in the thread of the loop. */
    public interface Handler {
        /**
         * Handles an event, which is closed afterwards. If it throws, {@link #fail} is called, but for a request the
         * new id is closed.
         */
        void handle(CmEvent event) throws RdmaException;

        /** Called when an event could not be handled, and when there will be no more events. */
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
    public interface Task {
        /** Runs the task. */
        void run() throws RdmaException;
    }

    /** Starts a loop, to be ended with {@link #closeAll}. */
    public static CmLoop start() throws RdmaException {
        try (Parts parts = new Parts()) {
            CmLoop loop = new CmLoop(parts.add(EventChannel.open(), EventChannel::close));
            loop.thread.start();
            return parts.complete(loop);
        }
    }

    /** Returns the loop that all streams share, to be released. It is started for the first user. */
    public static CmLoop acquire() throws RdmaException {
        synchronized (SHARING) {
            CmLoop loop = shared;
            if (loop == null) {
                loop = start();
                shared = loop;
            }
            users++;
            return loop;
        }
    }

    /** Releases a loop from {@link #acquire}. It ends with the last user, whose ids are closed. */
    public void release() {
        synchronized (SHARING) {
            users--;
            if (users > 0) {
                return;
            }
            shared = null;
        }
        ending = true;
        wakeup();
        if (Thread.currentThread() != thread) {
            join(thread);
        }
    }

    /** Opens an id, to be closed with {@link #close(CmId)}. */
    public CmId open(Handler handler) throws RdmaException {
        CmId id = CmId.open(channel, PortSpace.TCP);
        register(id, handler);
        return id;
    }

    /** Sets the handler of an id. It fails at once if all others have failed. */
    public void register(CmId id, Handler handler) {
        handlers.put(id, handler);
        RdmaException reason = failure;
        if (reason != null) {
            handler.fail(reason);
        }
    }

    /** Closes an id, and returns when that is done. */
    public void close(CmId id) throws RdmaException {
        run(() -> drop(id));
    }

    /** Closes an id of which there are no events, at once. */
    void drop(CmId id) throws RdmaException {
        id.close();
        handlers.remove(id);
    }

    /** Closes an id soon, without waiting for it. */
    public void closeLater(CmId id) {
        later(() -> {
            try {
                close(id);
            } catch (RdmaException | IllegalStateException e) {
                LOG.warn("{} could not be closed", id, e);
            }
        });
    }

    /** Tells the handlers of all ids that there will be no more events, and those of later ones. */
    public void failAll(RdmaException reason) {
        failure = reason;
        for (Handler handler : List.copyOf(handlers.values())) {
            runSafely(() -> handler.fail(reason));
        }
    }

    /** Closes the ids that are still open, those of unanswered requests, and ends the loop. */
    public void closeAll() throws RdmaException {
        for (CmId id : List.copyOf(handlers.keySet())) {
            close(id);
        }
        channel.close();
        // the thread ends, because it waits for nothing but the channel
        join(thread);
    }

    /** Waits for the end of a thread that is about to end. An interrupt is preserved for the caller. */
    public static void join(Thread ending) {
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

    /**
     * Runs a short task in the thread of the loop, and returns when it is done. Not to be called with a lock held that
     * a handler takes.
     */
    public void run(Task task) throws RdmaException {
        Call call = new Call(task);
        if (!handOver(call)) {
            call.run();
        }
        call.await();
    }

    /** A task that a thread waits for. To report how it has ended needs no memory. */
    private static final class Call implements Runnable {
        private final Task task;
        private final Thread caller = Thread.currentThread();
        private @Nullable Throwable thrown;
        private volatile boolean done;

        Call(Task task) {
            this.task = task;
        }

        @Override
        public void run() {
            try {
                task.run();
            } catch (RdmaException | RuntimeException | Error e) {
                thrown = e;
            }
            done = true;
            LockSupport.unpark(caller);
        }

        /** Waits for the end. An interrupt is preserved for the caller. */
        void await() throws RdmaException {
            boolean interrupted = false;
            while (!done) {
                LockSupport.park(this);
                interrupted |= Thread.interrupted();
            }
            if (interrupted) {
                caller.interrupt();
            }
            switch (thrown) {
                case null -> { }
                case RdmaException reason -> throw reason;
                case Error error -> throw error;
                case Throwable other -> throw new IllegalStateException(other.getMessage(), other);
            }
        }
    }

    /** Runs a task in the thread of the loop soon, but not inside the handling of an event. Does not wait for it. */
    public void later(Runnable task) {
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
     * Runs a task when a deadline has passed: as soon as no event is at hand, because with one of them may have come
     * what the task gives up, but after a bounded number of events. Called by the thread of the loop.
     *
     * @return undoes this if it is called by the thread of the loop; has no effect otherwise
     */
    public Runnable at(Deadline deadline, Runnable task) {
        long nanos = Math.min(deadline.remainingNanos(), Long.MAX_VALUE / 4);
        Alarm alarm = new Alarm(System.nanoTime() + nanos, alarmsSet++, task);
        alarms.add(alarm);
        return () -> {
            if (isCurrent()) {
                alarms.remove(alarm);
            }
        };
    }

    /**
     * Runs a task when no event is at hand and nothing waits for a free moment, or after a bounded number of events or
     * of those that wait. Called by the thread of the loop.
     */
    public void whenIdle(Runnable task) {
        whenIdle.add(task);
    }

    /**
     * Runs a task that takes long and begins something: one at a time, when no event is at hand, or after a bounded
     * number of events. So what one has begun is carried on with before the next one. Called by the thread of the loop.
     *
     * @param task is run again after an OutOfMemoryError
     */
    public void whenFree(Runnable task) {
        whenFree.add(task);
    }

    /** Returns whether the current thread is that of the loop. */
    public boolean isCurrent() {
        return Thread.currentThread() == thread;
    }

    /** Returns the time until the next alarm. */
    private Duration untilAlarm() {
        return alarms.isEmpty() ? Deadline.FOREVER
                : Duration.ofNanos(Math.max(0, alarms.first().nanoTime() - System.nanoTime()));
    }

    /** Returns false when the caller must run it: it is the thread of the loop, or that thread has ended. */
    private boolean handOver(Runnable work) {
        if (isCurrent()) {
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
            while (reason == null && !ending) {
                try {
                    finishEvent();
                    reason = step();
                } catch (VirtualMachineError e) {
                    // All others still need this thread, and what is left to do waits until there is memory.
                    LockSupport.parkNanos(SHORT_OF_MEMORY_NANOS);
                }
            }
        } finally {
            // Even after an Error, or those who wait for a task would wait forever.
            synchronized (tasks) {
                ended = true;
            }
            runLastTasks();
            failAll(reason != null ? reason : new RdmaClosedException("rdma_get_cm_event", "the event loop"));
            if (ending) {
                closeSafely(channel);
            }
        }
    }

    /** Runs the tasks, and handles one event or what is put off. Returns why no events will come, null if they may. */
    private @Nullable RdmaException step() {
        runTasks();
        Duration untilAlarm = untilAlarm();
        boolean any;
        try {
            current = next(untilAlarm);
            any = current != null;
            finishEvent();
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
        boolean idle = !whenIdle.isEmpty() && (any ? ++eventsBeforeIdle >= EVENTS_BEFORE_IDLE
                : whenFree.isEmpty() || tasksBeforeIdle >= TASKS_BEFORE_IDLE);
        if (idle) {
            runWhenIdle();
        }
        if (any && untilAlarm.isZero() && eventsWhileDue < EVENTS_BEFORE_ALARMS) {
            eventsWhileDue++;
        } else if (any ? untilAlarm.isZero() : !idle) {
            runAlarms();
        }
        if (!whenFree.isEmpty() && (!any || ++eventsWhileNotFree >= EVENTS_BETWEEN_TASKS)) {
            eventsWhileNotFree = 0;
            tasksBeforeIdle++;
            runSafely(whenFree.element());
            whenFree.remove();
        }
        return null;
    }

    /** Returns the next event, null if there is none in time. */
    private @Nullable CmEvent next(Duration untilAlarm) throws RdmaException, InterruptedException {
        return channel.pollEvent(whenIdle.isEmpty() && whenFree.isEmpty() ? untilAlarm : Duration.ZERO).orElse(null);
    }

    private void runWhenIdle() {
        tasksBeforeIdle = 0;
        eventsBeforeIdle = 0;
        while (!whenIdle.isEmpty()) {
            runSafely(whenIdle.element());
            whenIdle.remove();
        }
    }

    private void runAlarms() {
        eventsWhileDue = 0;
        while (untilAlarm().isZero()) {
            Alarm alarm = alarms.first();
            runSafely(alarm.task());
            alarms.remove(alarm);
        }
    }

    /** Handles the last event and acknowledges it. What an OutOfMemoryError has left is done by the next call. */
    private void finishEvent() {
        if (current == null) {
            return;
        }
        if (!handled) {
            dispatch(current);
        }
        Throwable reason = thrown;
        if (reason != null) {
            LOG.warn("{} could not be handled", current, reason);
            Handler handler = failing;
            if (handler != null) {
                runSafely(() -> handler.fail(Reasons.of("rdma_get_cm_event", reason)));
            }
            failing = null;
            thrown = null;
        }
        closeSafely(current);
        if (orphan != null) {
            closeSafely(orphan);
            handlers.remove(orphan);
            orphan = null;
        }
        handled = false;
        current = null;
    }

    private void dispatch(CmEvent event) {
        boolean request = event.type() == CmEventType.CONNECT_REQUEST;
        Handler handler = handlers.get(request ? event.listener().orElseThrow() : event.id());
        handled = true;
        if (handler == null) {
            return;
        }
        try {
            handler.handle(event);
        } catch (RdmaException | RuntimeException | Error e) {
            thrown = e;
            if (request) {
                orphan = event.id();
            } else {
                failing = handler;
            }
        }
    }

    private static void closeSafely(AutoCloseable object) {
        try {
            object.close();
        } catch (Exception e) {
            LOG.warn("{} could not be closed", object, e);
        }
    }

    private void runTasks() {
        while (true) {
            Runnable task;
            synchronized (tasks) {
                task = tasks.peek();
            }
            if (task == null) {
                return;
            }
            runSafely(task);
            synchronized (tasks) {
                tasks.remove();
            }
        }
    }

    private void runLastTasks() {
        boolean done = false;
        while (!done) {
            try {
                runTasks();
                done = true;
            } catch (VirtualMachineError e) {
                LockSupport.parkNanos(SHORT_OF_MEMORY_NANOS);
            }
        }
    }

    /** Runs a task whose failure must not end the loop, unless that is for want of memory: then it is run again. */
    private static void runSafely(Runnable task) {
        try {
            task.run();
        } catch (OutOfMemoryError e) {
            throw e;
        } catch (RuntimeException | Error e) {
            LOG.error("a task of the event loop failed", e);
        }
    }
}
