// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.life.Parts;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.internal.wait.EventFile;
import io.rdmacm.verbs.internal.wait.MixedThreadsLock;
import io.rdmacm.verbs.internal.wait.Poller;
import io.rdmacm.verbs.internal.wait.Wait;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Some completion queues of one device, and those whose completions arrive in them: one connection, or all that share
 * the loop. It is driven by the threads that wait for its members, by a thread of its own, or by the program
 * ({@link #drive}, {@link #prepareSleep}, {@link #fd}); waiting threads are welcome in any case.
 *
 * <p>One lock guards the queues and the state of the members. It is never held while a thread waits or code of the
 * program runs. Handlers are called by one thread at a time: any thread that polls, unless a thread drives the loop.
 *
 * <p>Whatever goes wrong with one member, an Error included, ends that member and no other.
 */
public final class Loop implements Wait.Source {
    private static final Logger LOG = LoggerFactory.getLogger(Loop.class);
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final int BATCH = 16;
    private static final long SHORT_OF_MEMORY_NANOS = 10_000_000;

    /** Guards everything here and in the members. */
    public final MixedThreadsLock lock;

    private final VerbsContext context;
    private final int maxCompletions;
    private final CompletionChannel channel;
    private final Wait wait;
    private final List<Share> queues = new ArrayList<>();
    private final WorkCompletions completions = WorkCompletions.allocate(BATCH);
    private final QueuePairTable<Member> members = new QueuePairTable<>();
    // members with handlers to call
    private final ArrayDeque<Member> ready = new ArrayDeque<>();
    // what the thread of this loop waits for
    private final Wait.Subject work = new Wait.Subject();
    // Whether any thread that polls may call handlers; otherwise only the thread of the loop, or that of the program.
    private boolean handlersInAnyThread;
    private @Nullable Thread thread;
    // the thread that calls handlers; others may ask whether they are it
    private volatile @Nullable Thread dispatcher;
    // for a loop that the program drives; null until it is asked for
    private @Nullable EventFile file;
    private boolean stopped;
    private boolean closed;
    // an Error has kept this from taking the events of the queues
    private boolean eventsLeft;
    // receives of a shared queue, each of which may complete in any completion queue
    private int promised;

    /**
     * Creates the channel of the queues. Queues are created when members need them.
     *
     * @param context the device
     * @param maxCompletions how many completions a queue of the device can hold
     * @param handlersInAnyThread whether waiting threads call handlers; otherwise {@link #run} and {@link #drive} do
     */
    public Loop(VerbsContext context, int maxCompletions, boolean handlersInAnyThread) throws RdmaException {
        this(context, maxCompletions, handlersInAnyThread, new MixedThreadsLock());
    }

    /** Creates a loop that the program drives, whose members share a lock with others. */
    public Loop(VerbsContext context, int maxCompletions, MixedThreadsLock lock) throws RdmaException {
        this(context, maxCompletions, false, lock);
    }

    private Loop(VerbsContext context, int maxCompletions, boolean handlersInAnyThread, MixedThreadsLock lock)
            throws RdmaException {
        this.context = context;
        this.lock = lock;
        this.maxCompletions = maxCompletions;
        this.handlersInAnyThread = handlersInAnyThread;
        try (Parts parts = new Parts()) {
            this.channel = parts.add(context.createCompletionChannel(), CompletionChannel::close);
            this.wait = new Wait(lock, this, new Poller(channel.fd()), new Poller(channel.fd()));
            parts.complete(this);
        }
    }

    /** Somebody whose completions arrive in the queues of a loop. All methods are called with the lock held. */
    public abstract static class Member extends Wait.Subject {
        private boolean queued;

        /** Takes a completion. */
        protected abstract void completed(WorkCompletions completion);

        /** Calls some of the handlers that are due, with the lock released during each call. */
        protected abstract void callHandlers();

        /** Ends this member, because of a failure or an Error in the loop or in one of the methods above. */
        protected abstract void failed(Throwable reason);

        /** Ends this member; never throws. */
        public final void end(Throwable reason) {
            try {
                failed(reason);
            } catch (RuntimeException | Error e) {
                reportQuietly(this, e);
            }
        }
    }

    /** A completion queue, and how many completions were promised to members. */
    private static final class Share {
        private final CompletionQueue queue;
        private int used;
        private boolean armed;

        Share(CompletionQueue queue, int used) {
            this.queue = queue;
            this.used = used;
        }
    }

    // completions since the beginning
    private long completionsTaken;
    // For the thread of the loop: a wait ends with what it finds, so that the next one polls anew before it sleeps.
    private final Wait.Goal<Wait.Subject> worked = (all, before) -> stopped || completionsTaken != before;

    /** Reserves room in every queue for the receives of a shared queue. Called before there are queues. */
    public void promise(int receives) {
        promised = receives;
    }

    /**
     * Returns a queue with room for some completions, which belong to the caller until {@link #release}.
     *
     * @param count how many completions there can be at a time
     * @param expected how many all members together are expected to need
     */
    public CompletionQueue reserve(int count, int expected) throws RdmaException {
        try (var _ = lock.hold()) {
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
            int capacity = Math.max(least, Math.min(Math.max(expected, 2 * last), maxCompletions));
            try (Parts parts = new Parts()) {
                CompletionQueue queue = parts.add(context.createCompletionQueue(capacity, channel),
                        CompletionQueue::close);
                queues.add(new Share(queue, least));
                wait.rearm();
                return parts.complete(queue);
            }
        }
    }

    /** Gives back room that was reserved. */
    public void release(CompletionQueue queue, int count) {
        try (var _ = lock.hold()) {
            for (Share share : queues) {
                if (share.queue == queue) {
                    share.used -= count;
                }
            }
        }
    }

    /**
     * Adds a member, to whom its completions are handed from now on. A device may give it the number of a queue pair
     * that was destroyed, but whose member was not removed yet: what is left of that one goes there first.
     */
    public void add(int queuePairNumber, Member member) throws RdmaException {
        try (var _ = lock.hold()) {
            requireOpen();
            if (members.get(queuePairNumber) != null) {
                boolean ignored = takeAll();
            }
            members.put(queuePairNumber, member);
        }
    }

    /** Takes what is left of the completions of a destroyed queue pair, and forgets the member. */
    public void remove(int queuePairNumber, Member member) throws RdmaException {
        lock.lock();
        try {
            boolean ignored = takeAll();
        } finally {
            members.remove(queuePairNumber, member);
            lock.unlock();
        }
    }

    /** Returns the members that have not been removed. */
    public List<Member> members() {
        try (var _ = lock.hold()) {
            return members.all();
        }
    }

    /** Returns whether there is room that was reserved and not released, as for a member that is about to be added. */
    public boolean isReserved() {
        try (var _ = lock.hold()) {
            return queues.stream().anyMatch(share -> share.used > promised);
        }
    }

    /** Checks that the loop was not stopped. */
    public void requireOpen() {
        if (stopped) {
            throw new IllegalStateException("the loop is closed");
        }
    }

    /** Ends the thread of the loop. */
    public void stop() {
        try (var _ = lock.hold()) {
            stopped = true;
            wait.wake(work);
        }
    }

    /**
     * Destroys the queues, after all members. What is still to be reported, such as the end of members that were closed
     * just now, is reported by this thread, and later by those that cause it. Has no effect when called again.
     */
    public void close() throws RdmaException {
        try (var _ = lock.hold()) {
            stopped = true;
            wait.close();
        }
        for (Share share : queues) {
            share.queue.close();
        }
        channel.close();
        try (var _ = lock.hold()) {
            if (!closed && file != null) {
                file.close();
            }
            closed = true;
            handlersInAnyThread = true;
            callHandlers();
        }
    }

    /** Drives the loop until it is stopped: the life of its thread. */
    public void run(long spinNanos) {
        lock.lock();
        thread = Thread.currentThread();
        try {
            while (!stopped) {
                waitForWork(spinNanos);
            }
        } catch (RdmaException | RuntimeException | Error e) {
            LOG.error("a loop ends: its connections can no longer be driven", e);
            members.all().forEach(member -> member.end(e));
            handlersInAnyThread = true;
            wait.wakeAll();
            callHandlers();
        } finally {
            thread = null;
            lock.unlock();
        }
    }

    private void waitForWork(long spinNanos) throws RdmaException {
        try {
            boolean ignored = wait.await(work, worked, completionsTaken, Deadline.FOREVER, spinNanos);
        } catch (InterruptedException e) {
            // nothing in this library interrupts the thread, and the program has no reason to
            LOG.debug("ignored an interrupt", e);
        } catch (VirtualMachineError e) {
            // All members still need this thread, when there is memory again.
            lock.unlock();
            try {
                LockSupport.parkNanos(SHORT_OF_MEMORY_NANOS);
            } finally {
                lock.lock();
            }
        }
    }

    /** Does one round of a loop that the program drives; returns 0 if there was nothing to do. */
    public int drive() throws RdmaException {
        lock.lock();
        try {
            requireNoHandler();
            wait.loopAwake();
            wait.loopTold();
            int taken = takeBatch();
            return Math.max(taken, callHandlers());
        } finally {
            lock.unlock();
            // A program that polls without a pause takes the lock again before a thread that waits for it wakes up.
            if (lock.hasQueuedThreads()) {
                Thread.yield();
            }
        }
    }

    /** Arms the queues and the file of a loop that the program drives. Returns false if there is something to do. */
    public boolean prepareSleep() throws RdmaException {
        try (var _ = lock.hold()) {
            int ignored = fd();
            return ready.isEmpty() && wait.armLoop();
        }
    }

    /** Returns the file that is readable when a loop that the program drives has something to do. */
    public int fd() throws RdmaException {
        try (var _ = lock.hold()) {
            requireOpen();
            if (file == null) {
                file = EventFile.open(channel.fd());
                wait.attach(file);
            }
            return file.fd();
        }
    }

    /**
     * Waits until a goal is reached. Called with the lock held, which is released while the thread waits.
     *
     * @param <M> the type of the member
     * @param member the member that the goal is about
     * @param goal what to wait for
     * @param argument for the goal
     * @param timeout the longest time to wait
     * @param spinNanos how long to poll before sleeping
     * @return false if the time has run out
     */
    public <M extends Member> boolean await(M member, Wait.Goal<? super M> goal, long argument, Duration timeout,
            long spinNanos) throws RdmaException, InterruptedException {
        return wait.await(member, goal, argument, timeout, spinNanos);
    }

    /** Takes the completions that are there, at most a batch, and calls handlers if this thread may. */
    @Override
    public boolean poll() throws RdmaException {
        boolean any = takeBatch() > 0;
        if (!ready.isEmpty() && dispatcher == null && (handlersInAnyThread || thread == Thread.currentThread())) {
            callHandlers();
            any = true;
        }
        return any;
    }

    /** Takes all completions that are there, without calling handlers; returns whether there were any. */
    public boolean takeAll() throws RdmaException {
        boolean any = false;
        while (takeBatch() > 0) {
            any = true;
        }
        return any;
    }

    @Override
    public boolean arm() throws RdmaException {
        boolean any = eventsLeft && takeEvents();
        for (int i = 0; i < queues.size(); i++) {
            Share share = queues.get(i);
            if (!share.armed) {
                share.queue.requestNotification(false);
                share.armed = true;
                any = true;
            }
        }
        return any;
    }

    @Override
    public boolean takeEvents() throws RdmaException {
        boolean any = false;
        eventsLeft = true;
        // Each queue was armed once, so there is one event for each at most: none is looked for in vain.
        for (int i = 0; i < queues.size(); i++) {
            CompletionQueue queue = VERBS.takeEvent(channel);
            if (queue == null) {
                break;
            }
            any = true;
            disarmed(queue);
        }
        eventsLeft = false;
        return any;
    }

    private void disarmed(CompletionQueue queue) {
        for (int i = 0; i < queues.size(); i++) {
            Share share = queues.get(i);
            if (share.queue == queue) {
                share.armed = false;
            }
        }
    }

    /** Tells the threads that wait for something of a member. Called with the lock held. */
    public void wake(Member member) {
        wait.wake(member);
    }

    /** Notes that handlers of a member are to be called. Called with the lock held. */
    public void ready(Member member) {
        if (!member.queued) {
            ready.add(member);
            member.queued = true;
            if (file != null) {
                wait.tellLoop();
            }
            if (thread != Thread.currentThread()) {
                wait.wake(work);
            }
        }
    }

    /** Returns whether this thread is inside a handler. May be called without the lock. */
    public boolean isInHandler() {
        return dispatcher == Thread.currentThread();
    }

    /** Checks that this thread may wait. May be called without the lock. */
    public void requireNoHandler() {
        if (isInHandler()) {
            throw new IllegalStateException("a handler must not wait: nothing would happen until it returns");
        }
    }

    /** Takes one batch of completions of each queue, and returns how many. */
    private int takeBatch() throws RdmaException {
        int total = 0;
        // what an Error has left of the last batch
        while (completions.next()) {
            take();
        }
        for (int i = 0; i < queues.size(); i++) {
            total += queues.get(i).queue.poll(completions);
            while (completions.next()) {
                take();
            }
        }
        completionsTaken += total;
        return total;
    }

    /** Returns how many completions were taken since the beginning. */
    public long completions() {
        try (var _ = lock.hold()) {
            return completionsTaken;
        }
    }

    private void take() {
        Member member = members.get(completions.queuePairNumber());
        // otherwise a program has posted to the queue with a queue pair of its own
        if (member != null) {
            try {
                member.completed(completions);
            } catch (RuntimeException | Error e) {
                member.end(e);
            }
            wait.wake(member);
        }
    }

    private static void reportQuietly(Member member, Throwable reason) {
        try {
            LOG.error("{} could not be ended", member, reason);
        } catch (RuntimeException | Error e) {
            // There may be no memory to say so.
        }
    }

    /** Calls handlers, if this thread may. Called with the lock held. */
    public void dispatch() {
        if (handlersInAnyThread) {
            callHandlers();
        }
    }

    /** Returns how many members had handlers to call. */
    private int callHandlers() {
        if (dispatcher != null) {
            return 0;
        }
        int called = 0;
        dispatcher = Thread.currentThread();
        try {
            // In a loop with a thread, those that become ready meanwhile wait for the next poll, which is sure to come.
            int most = handlersInAnyThread ? Integer.MAX_VALUE : ready.size();
            for (; called < most && !ready.isEmpty(); called++) {
                Member next = ready.remove();
                next.queued = false;
                try {
                    next.callHandlers();
                } catch (RuntimeException | Error e) {
                    next.end(e);
                }
            }
        } finally {
            dispatcher = null;
        }
        return called;
    }
}
