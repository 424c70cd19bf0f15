// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import io.rdmacm.core.internal.jfr.ConnectionEvents;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.internal.wait.EventFile;
import io.rdmacm.verbs.internal.wait.Spin;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The completion queues of one connection, or of the connections of a loop, and the threads that wait for them.
 *
 * <p>No thread stands between the device and who waits. A waiting thread polls the queues itself; then it sleeps, as
 * the leader, on the completion channel. While there is a leader, other threads are followers: they park until somebody
 * has taken a completion of their connection, or until the leader leaves and one of them has to take its place. The
 * thread of a loop stays the leader.
 *
 * <p>One lock guards the queues and the state of their connections. It is never held while a thread waits or a handler
 * runs. Handlers are called by one thread at a time.
 */
final class Progress {
    private static final Logger LOG = LoggerFactory.getLogger(Progress.class);
    private static final Deadline FOREVER = Deadline.after(Deadline.FOREVER);
    private static final int BATCH = 16;
    private static final int SPINS_PER_CLOCK = 64;

    /** Guards everything here and in the connections. */
    final ReentrantLock lock = new ReentrantLock();

    private final DeviceResources device;
    private final CompletionChannel channel;
    // Whether any thread may call handlers, which is not so in a loop until it has ended.
    private boolean dispatching;
    private final List<Share> queues = new ArrayList<>();
    private final WorkCompletions completions = WorkCompletions.allocate(BATCH);
    private final ConnectionTable<Connection> connections = new ConnectionTable<>();
    // connections with handlers to call
    private final ArrayDeque<Connection> ready = new ArrayDeque<>();
    private final Set<Waiter> followers = new LinkedHashSet<>();
    // the thread that calls handlers
    private @Nullable Thread dispatcher;
    // the thread that polls or sleeps for the others, and the connection it waits for, null in a loop
    private @Nullable Thread leader;
    private @Nullable Connection leading;
    private boolean asleep;
    // For a loop that the program drives: null until it is asked for, and whether its thread may wait for it.
    private @Nullable EventFile file;
    private boolean armed;
    private boolean stopped;
    private boolean closed;
    // receives of a shared queue, each of which may complete in any completion queue
    private int promised;

    /**
     * Creates the queues' channel. Queues are created when connections need them.
     *
     * @param device the device
     * @param dispatching whether waiting threads call handlers; otherwise only {@link #step} does
     */
    Progress(DeviceResources device, boolean dispatching) throws RdmaException {
        this.device = device;
        this.dispatching = dispatching;
        this.channel = device.context().createCompletionChannel();
    }

    /** What a thread waits for. Implementations capture nothing, so that a wait allocates nothing. */
    @FunctionalInterface
    interface Goal {
        /** Returns whether it has happened, or throws an exception to end the wait. Called with the lock held. */
        boolean isReached(Connection connection, long argument) throws RdmaException;
    }

    /** A completion queue, and how many completions were promised to connections. */
    private static final class Share {
        private final CompletionQueue queue;
        private int used;

        Share(CompletionQueue queue) {
            this.queue = queue;
        }
    }

    /** A thread that waits while another one leads. */
    private record Waiter(Thread thread, Connection connection) {
    }

    CompletionChannel channel() {
        return channel;
    }

    /** Reserves room in every queue for the receives of a shared queue. Called before there are queues. */
    void promise(int receives) {
        promised = receives;
    }

    /**
     * Returns a queue with room for some completions, which belong to the caller until {@link #release}.
     *
     * @param count how many completions there can be at a time
     * @param expected how many all connections together are expected to need
     */
    CompletionQueue reserve(int count, int expected) throws RdmaException {
        lock.lock();
        try {
            requireOpen();
            for (Share share : queues) {
                if (share.queue.capacity() - share.used >= count) {
                    share.used += count;
                    return share.queue;
                }
            }
            // Each queue is larger than the one before: few queues are polled faster than many.
            int last = queues.isEmpty() ? 0 : queues.getLast().queue.capacity();
            int least = Math.addExact(count, promised);
            int capacity = Math.max(least, Math.min(Math.max(expected, 2 * last), device.maxCompletions()));
            Share share = new Share(device.context().createCompletionQueue(capacity, channel));
            share.used = least;
            queues.add(share);
            return share.queue;
        } finally {
            lock.unlock();
        }
    }

    /** Gives back room that was reserved. */
    void release(CompletionQueue queue, int count) {
        lock.lock();
        try {
            for (Share share : queues) {
                if (share.queue == queue) {
                    share.used -= count;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Adds a connection, whose completions are handed to it from now on. */
    void add(int queuePairNumber, Connection connection) {
        lock.lock();
        try {
            connections.put(queuePairNumber, connection);
        } finally {
            lock.unlock();
        }
    }

    /** Takes what is left of the completions of a destroyed queue pair, and forgets the connection. */
    void remove(int queuePairNumber, Connection connection) throws RdmaException {
        lock.lock();
        try {
            takeAll();
        } finally {
            connections.remove(queuePairNumber, connection);
            lock.unlock();
        }
    }

    /** Returns the connections that have not been closed. */
    List<Connection> connections() {
        lock.lock();
        try {
            return connections.all();
        } finally {
            lock.unlock();
        }
    }

    void requireOpen() {
        if (stopped) {
            throw new IllegalStateException("the loop is closed");
        }
    }

    /** Refuses to go on while there are connections, for messages named by their owner. */
    void requireUnused(Object owner) {
        List<Connection> open = connections();
        if (!open.isEmpty()) {
            throw new IllegalStateException(owner + " still drives " + open.size() + " connections, such as "
                    + open.getFirst());
        }
    }

    /** Ends the thread of the loop. */
    void stop() {
        lock.lock();
        try {
            requireNoHandler();
            stopped = true;
            if (asleep) {
                wakeLeader();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Destroys the queues, after all connections. What is still to be reported, such as the end of connections that
     * were closed just now, is reported by this thread, and later by those that cause it. Has no effect when called
     * again.
     */
    void close() throws RdmaException {
        for (Share share : queues) {
            share.queue.close();
        }
        channel.close();
        lock.lock();
        try {
            armed = false;
            if (!closed && file != null) {
                file.close();
            }
            closed = true;
            dispatching = true;
            callHandlers();
        } finally {
            lock.unlock();
        }
    }

    /** Drives a loop until it is stopped: the life of its thread. */
    void run(WaitPolicy policy) {
        lock.lock();
        leader = Thread.currentThread();
        try {
            int idle = 0;
            long idleSince = 0;
            while (!stopped) {
                if (drivenOne()) {
                    idle = 0;
                } else if (!policy.spin().isZero() && mayGoOnIdle(idle, idleSince, policy.spinNanos())) {
                    idleSince = idle == 0 ? System.nanoTime() : idleSince;
                    pause(++idle);
                } else {
                    idle = 0;
                    sleepAsLoop();
                }
            }
        } catch (RdmaException | IllegalStateException e) {
            LOG.error("a loop ends: its connections can no longer be driven", e);
            connections.all().forEach(connection -> connection.failed(e));
            dispatching = true;
            callHandlers();
        } finally {
            leader = null;
            promote();
            lock.unlock();
        }
    }

    private boolean drivenOne() throws RdmaException {
        boolean any = poll() > 0 || !ready.isEmpty();
        callHandlers();
        return any;
    }

    private static boolean mayGoOnIdle(int idle, long since, long spinNanos) {
        return idle == 0 || spinNanos == Long.MAX_VALUE || System.nanoTime() - since < spinNanos;
    }

    private void sleepAsLoop() throws RdmaException {
        arm();
        if (poll() > 0) {
            callHandlers();
            return;
        }
        try {
            sleep(FOREVER);
        } catch (InterruptedException e) {
            // nothing in this library interrupts the thread, and the program has no reason to
            LOG.debug("ignored an interrupt", e);
        }
    }

    /** Does one round of a loop that the program drives. */
    @SuppressWarnings("NullAway") // armed means that the file is open
    int drive() throws RdmaException {
        lock.lock();
        try {
            requireNoHandler();
            if (armed) {
                armed = false;
                file.reset();
                while (channel.pollEvent().isPresent()) {
                    // The next sleep is for an event that does not exist yet.
                    continue;
                }
            }
            int taken = poll();
            callHandlers();
            return taken;
        } finally {
            lock.unlock();
            // A program that polls without a pause takes the lock again before a thread that waits for it wakes up.
            if (lock.hasQueuedThreads()) {
                Thread.yield();
            }
        }
    }

    /** Arms the queues and the file of a loop that the program drives. Returns false if there is something to do. */
    @SuppressWarnings("NullAway") // fd() opens the file
    boolean prepareSleep() throws RdmaException {
        lock.lock();
        try {
            fd();
            arm();
            if (poll() > 0 || !ready.isEmpty()) {
                return false;
            }
            file.arm(channel.fd());
            armed = true;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the file that is readable when a loop that the program drives has something to do. */
    int fd() throws RdmaException {
        lock.lock();
        try {
            requireOpen();
            if (file == null) {
                file = EventFile.open();
            }
            return file.fd();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until a goal is reached. Called with the lock held, which is released while the thread waits.
     *
     * @param connection the connection that the goal is about
     * @param goal what to wait for
     * @param argument for the goal
     * @param timeout the longest time to wait
     * @param function the C function, for messages
     */
    void await(Connection connection, Goal goal, long argument, Duration timeout, String function)
            throws RdmaException, InterruptedException {
        if (goal.isReached(connection, argument)) {
            return;
        }
        requireNoHandler();
        if (!connection.calls().isDriver()) {
            connection.post();
        }
        WaitPolicy policy = connection.settings().waiting();
        boolean spinning = !timeout.isZero() && maySpin(policy);
        long spinNanos = policy.spinNanos();
        Deadline deadline = null;
        int spins = 0;
        try {
            while (true) {
                if (poll() > 0 || isDue()) {
                    dispatch();
                } else {
                    deadline = deadline == null ? Deadline.after(timeout) : deadline;
                    if (spinning) {
                        pause(++spins);
                        spinning = mayGoOn(spins, spinNanos, deadline);
                    } else if (deadline.hasPassed()) {
                        throw new RdmaTimeoutException(function, function + ": nothing happened in time on "
                                + connection);
                    } else if (leader == null) {
                        lead(connection, deadline);
                    } else {
                        follow(connection, deadline);
                    }
                }
                if (goal.isReached(connection, argument)) {
                    return;
                }
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
            }
        } finally {
            promote();
        }
    }

    /** Takes the completions that are there, without waiting, and calls handlers. Called with the lock held. */
    int progress() throws RdmaException {
        int taken = poll();
        dispatch();
        return taken;
    }

    /** Takes all completions that are there, without calling handlers; returns whether there were any. */
    boolean takeAll() throws RdmaException {
        boolean any = false;
        while (poll() > 0) {
            any = true;
        }
        return any;
    }

    /** Wakes the threads that wait for something of a connection. Called with the lock held. */
    void wake(Connection connection) {
        if (!followers.isEmpty()) {
            for (Waiter waiter : followers) {
                if (waiter.connection == connection) {
                    LockSupport.unpark(waiter.thread);
                }
            }
        }
        if (asleep && leading == connection) {
            wakeLeader();
        }
    }

    /** Notes that handlers of a connection are to be called. Called with the lock held. */
    @SuppressWarnings("NullAway") // armed means that the file is open
    void ready(Connection connection) {
        ready.add(connection);
        if (armed) {
            file.wake();
        } else if (asleep && leading == null) {
            wakeLeader();
        }
    }

    private void wakeLeader() {
        try {
            channel.wakeup();
        } catch (IllegalStateException e) {
            // The channel was closed, which has woken the leader: it only waits for the lock.
            LOG.trace("nobody to wake", e);
        }
    }

    /** Returns whether this thread is inside a handler. Called with the lock held. */
    boolean isInHandler() {
        return dispatcher == Thread.currentThread();
    }

    /** Checks that this thread may wait. Called with the lock held. */
    void requireNoHandler() {
        if (isInHandler()) {
            throw new IllegalStateException("a handler must not wait: nothing would happen until it returns");
        }
    }

    private void lead(Connection connection, Deadline deadline) throws RdmaException, InterruptedException {
        leader = Thread.currentThread();
        leading = connection;
        try {
            arm();
            if (poll() > 0) {
                dispatch();
            } else {
                Object event = ConnectionEvents.sleepBegins();
                long start = System.nanoTime();
                sleep(deadline);
                connection.slept(System.nanoTime() - start);
                ConnectionEvents.sleepEnds(event, connection.localAddress(), connection.peerAddress(), true);
            }
        } finally {
            leader = null;
            leading = null;
        }
    }

    private void sleep(Deadline deadline) throws RdmaException, InterruptedException {
        asleep = true;
        lock.unlock();
        try {
            VerbsAccess.get().awaitEventOrWakeup(channel, deadline);
        } catch (IllegalStateException e) {
            // Another thread closed the connection, and with it the channel, before the wait began: the connection
            // says so to whoever waits for it.
            LOG.trace("nothing to wait on", e);
        } finally {
            lock.lock();
            asleep = false;
        }
    }

    private void follow(Connection connection, Deadline deadline) {
        Waiter waiter = new Waiter(Thread.currentThread(), connection);
        followers.add(waiter);
        Object event = ConnectionEvents.sleepBegins();
        long start = System.nanoTime();
        lock.unlock();
        try {
            LockSupport.parkNanos(this, deadline.remainingNanos());
        } finally {
            lock.lock();
            followers.remove(waiter);
            connection.slept(System.nanoTime() - start);
            ConnectionEvents.sleepEnds(event, connection.localAddress(), connection.peerAddress(), false);
        }
    }

    /** Lets a follower take the place of a leader who has left. */
    private void promote() {
        if (leader == null && !followers.isEmpty()) {
            LockSupport.unpark(followers.iterator().next().thread);
        }
    }

    /** Takes one batch of completions of each queue, and returns how many. */
    private int poll() throws RdmaException {
        int total = 0;
        for (int i = 0; i < queues.size(); i++) {
            total += queues.get(i).queue.poll(completions);
            while (completions.next()) {
                take();
            }
        }
        return total;
    }

    private void take() {
        Connection connection = connections.get(completions.queuePairNumber());
        // otherwise a program has posted to the queue with a queue pair of its own
        if (connection != null) {
            connection.completed(completions);
            wake(connection);
        }
    }

    private void arm() throws RdmaException {
        for (int i = 0; i < queues.size(); i++) {
            queues.get(i).queue.requestNotification(false);
        }
    }

    /** Calls handlers, if this thread may. Called with the lock held. */
    void dispatch() {
        if (dispatching) {
            callHandlers();
        }
    }

    /** Returns whether there are handlers that this thread can call. */
    private boolean isDue() {
        return dispatching && dispatcher == null && !ready.isEmpty();
    }

    private void callHandlers() {
        if (dispatcher != null || ready.isEmpty()) {
            return;
        }
        dispatcher = Thread.currentThread();
        try {
            for (Connection next = ready.poll(); next != null; next = ready.poll()) {
                next.calls().call();
            }
        } finally {
            dispatcher = null;
        }
    }

    private static boolean maySpin(WaitPolicy policy) {
        // A virtual thread that spins would keep its carrier from the others, and cannot give up the CPU.
        return !policy.spin().isZero() && !Thread.currentThread().isVirtual();
    }

    /** Lets others work between two polls. */
    private void pause(int spins) {
        lock.unlock();
        try {
            Spin.pause(spins);
        } finally {
            lock.lock();
        }
    }

    /** Returns whether a thread may go on spinning. Reads the clock only now and then if there is time. */
    private static boolean mayGoOn(int spins, long spinNanos, Deadline deadline) {
        if (spinNanos == Long.MAX_VALUE && spins % SPINS_PER_CLOCK != 0) {
            return true;
        }
        return deadline.elapsedNanos() < spinNanos && !deadline.hasPassed();
    }
}
