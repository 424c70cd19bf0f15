// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.core.EventChannel;
import io.rdmacm.core.PortSpace;
import io.rdmacm.verbs.RdmaClosedException;
import io.rdmacm.verbs.RdmaException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that takes the connection-manager events of a manager. It never waits for anything else. Ids are
 * closed by it alone, because an id cannot be closed while an event of it is in somebody's hands.
 */
final class EventLoop {
    private static final Logger LOG = LoggerFactory.getLogger(EventLoop.class);
    private static final Duration FOR_EVER = Duration.ofSeconds(Long.MAX_VALUE);

    private final EventChannel channel;
    private final Map<CmId, Handler> handlers = new ConcurrentHashMap<>();
    private final Thread thread;
    // guarded by itself, with ended
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private boolean ended;

    private EventLoop(EventChannel channel) {
        this.channel = channel;
        this.thread = Thread.ofPlatform().daemon().name("rdmacm-events-" + channel.fd()).unstarted(this::run);
    }

    /** What is told of the events of an id, by the thread of the loop. */
    interface Handler {
        /** Something happened; the event is closed afterwards. */
        void handle(CmEvent event) throws RdmaException;

        /** There will be no more events. */
        void fail(RdmaException reason);
    }

    /** Something that only the thread of the loop may do. */
    @FunctionalInterface
    interface Task {
        void run() throws RdmaException;
    }

    static EventLoop start() throws RdmaException {
        EventLoop loop = new EventLoop(EventChannel.open());
        loop.thread.start();
        return loop;
    }

    /** A new id, to be closed by {@link #close(CmId)}. */
    CmId open(Handler handler) throws RdmaException {
        CmId id = CmId.open(channel, PortSpace.TCP);
        handlers.put(id, handler);
        return id;
    }

    /** Has the events of an id told to a handler; for ids of connect requests, by the thread of the loop. */
    void register(CmId id, Handler handler) {
        handlers.put(id, handler);
    }

    /** Closes an id; returns when that is done. */
    void close(CmId id) throws RdmaException {
        run(() -> {
            id.close();
            handlers.remove(id);
        });
    }

    /** Tells all ids that there will be no more events. */
    void failAll(RdmaException reason) {
        List.copyOf(handlers.values()).forEach(handler -> handler.fail(reason));
    }

    /** Closes the ids that nobody has closed, those of unanswered requests, and ends the loop. */
    void closeAll() throws RdmaException {
        for (CmId id : List.copyOf(handlers.keySet())) {
            close(id);
        }
        channel.close();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                // it was told to end, and waits for nothing
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Has the thread of the loop do something and waits for that, which is short. */
    private void run(Task task) throws RdmaException {
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

    /** False when the caller may do it: it is the thread of the loop, or that has ended. */
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
        try {
            channel.wakeup();
        } catch (IllegalStateException e) {
            // the channel was closed meanwhile: the thread ends, and runs all tasks before
        }
        return true;
    }

    private void run() {
        RdmaException reason = null;
        try {
            while (reason == null) {
                reason = step();
            }
        } finally {
            // also when an error of the JVM has ended it: whoever waits for a task would wait for ever
            synchronized (tasks) {
                ended = true;
            }
            runTasks();
            failAll(reason != null ? reason : new RdmaClosedException("rdma_get_cm_event", "its thread"));
        }
    }

    /** One event, or the tasks that came instead; the result is why there will be no more events. */
    private RdmaException step() {
        runTasks();
        try (CmEvent event = channel.pollEvent(FOR_EVER).orElse(null)) {
            if (event != null) {
                dispatch(event);
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
            LOG.error("no more connection-manager events", e);
            return e;
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
            task.run();
        }
    }
}
