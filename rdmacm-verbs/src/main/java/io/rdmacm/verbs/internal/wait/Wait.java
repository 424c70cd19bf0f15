// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;

/**
 * How threads wait for what arrives from one source: the completions of some queues, or the events of a channel.
 *
 * <p>There is no dispatcher thread: a waiting thread polls the source itself, for as long as it may spin. Then one of
 * the threads, the leader, arms the source, polls it once more and sleeps until a file of it is readable. The others,
 * the followers, park until somebody has taken something for their subject, or until they have to take the place of
 * the leader. Everything that a thread takes from the source while it waits is for whoever needs it.
 *
 * <p>A program that has an event loop of its own can wait for the source too: see {@link Loop}.
 *
 * <h2>Invariants</h2>
 * <ul>
 * <li>Nobody sleeps on a source that is not armed. Whoever takes an event of the source arms it again, or tells
 * somebody who will ({@link #handOver}). When the source grows, those that sleep on it are told ({@link #rearm}).
 * <li>A wait ends for four reasons: its goal is reached, its deadline has passed, its thread was interrupted, or its
 * subject has ended, which its goal reports by an exception. Whoever ends a subject calls {@link #wake}.
 * <li>A platform thread never depends on a virtual one, which may find no carrier: it does not follow a virtual leader.
 * There is room for a sleeper of each kind.
 * <li>A thread that is not asleep is nobody's leader, so what it does meanwhile holds up nobody else.
 * <li>A close never waits for a virtual thread. It takes the thread off the files, and refuses what it does later.
 * <li>Deadlines are looked at after so many polls that found something, not only when there is nothing.
 * </ul>
 *
 * <p>Everything is guarded by one lock, which belongs to the owner of the source. All methods but
 * {@link #wakeSleepers} are called with the lock held. It is never held while a thread sleeps. No wait allocates
 * anything before it has to sleep.
 */
public final class Wait {
    private static final int POLLS_PER_CLOCK = 64;

    private final ReentrantLock lock;
    private final Condition awake;
    private final Source source;
    private final Threads platform;
    private final Threads virtual;
    // the source will raise an event that nobody has taken yet
    private boolean armed;
    private boolean closed;
    // null unless a program drives the source
    private Loop loop;
    // the thread that has armed the loop, and is asleep there as far as is known here; null if it is awake
    private Thread looper;
    // something has happened that the loop has not been told of
    private boolean changed;

    /**
     * Creates a way to wait.
     *
     * @param lock guards the source
     * @param source what is waited for
     * @param platform where a platform thread sleeps on the files of the source
     * @param virtual where a virtual thread does
     */
    public Wait(ReentrantLock lock, Source source, Sleeper platform, Sleeper virtual) {
        this.lock = lock;
        this.awake = lock.newCondition();
        this.source = source;
        this.platform = new Threads(platform);
        this.virtual = new Threads(virtual);
    }

    /** What is waited for. Called with the lock held. */
    public interface Source {
        /**
         * Takes what is there, without waiting, and calls {@link #wake} for the subjects that it concerns. May release
         * the lock before it returns, to run code of the program.
         *
         * @return whether there was anything
         */
        boolean poll() throws RdmaException;

        /**
         * Makes a file of the source readable as soon as something arrives.
         *
         * @return whether something may have arrived before, so that the source has to be polled once more
         */
        boolean arm() throws RdmaException;

        /**
         * Takes the events that have made a file of the source readable.
         *
         * @return whether there was one, so that the source has to be armed again
         */
        boolean takeEvents() throws RdmaException;
    }

    /** What a thread waits for: a connection for example. Its waits end when their goals are reached. */
    public static class Subject {
        private Follower followers;

        /**
         * Called with the lock held before a thread sleeps for this subject.
         *
         * @return passed to {@link #sleepEnds}
         */
        protected Object sleepBegins() {
            return null;
        }

        /** Called with the lock held after a thread has slept for this subject, as the leader or as a follower. */
        protected void sleepEnds(Object begun, long nanos, boolean leading) {
            // for those who count or record sleeps
        }
    }

    /**
     * The end of a wait. Implementations capture nothing, so that a wait allocates nothing.
     *
     * @param <S> the type of the subject
     */
    @FunctionalInterface
    public interface Goal<S> {
        /** Returns whether it is reached, or throws an exception if it never will be. Called with the lock held. */
        boolean isReached(S subject, long argument) throws RdmaException;
    }

    /**
     * An event loop outside of this class, which watches the files of the source. It calls {@link #armLoop} before it
     * sleeps and {@link #loopAwake} afterwards. Threads may wait beside it.
     */
    public interface Loop {
        /** Ends its sleep; has no effect while it is awake. */
        void wake();

        /** Takes back what {@link #wake} has done. */
        void reset() throws RdmaException;
    }

    /** A thread that is parked. */
    private static final class Follower {
        private final Thread thread = Thread.currentThread();
        private Follower next;
        private Follower previous;
        private Follower nextOfSubject;
    }

    /** The threads of one kind: the leader, which sleeps on the files of the source for all, and its followers. */
    private static final class Threads {
        private final Sleeper sleeper;
        // null if nobody sleeps
        private Thread leader;
        private Subject subject;
        // in the order in which they came
        private Follower first;
        private Follower last;

        Threads(Sleeper sleeper) {
            this.sleeper = sleeper;
        }

        boolean isAsleep() {
            return leader != null;
        }

        void add(Follower follower) {
            follower.previous = last;
            if (last == null) {
                first = follower;
            } else {
                last.next = follower;
            }
            last = follower;
        }

        void remove(Follower follower) {
            if (follower.previous == null) {
                first = follower.next;
            } else {
                follower.previous.next = follower.next;
            }
            if (follower.next == null) {
                last = follower.previous;
            } else {
                follower.next.previous = follower.previous;
            }
        }

        void wakeAll() {
            for (Follower follower = first; follower != null; follower = follower.next) {
                LockSupport.unpark(follower.thread);
            }
            if (isAsleep()) {
                sleeper.wake();
            }
        }
    }

    /**
     * Waits until a goal is reached.
     *
     * @param <S> the type of the subject
     * @param subject what is waited for
     * @param goal when the wait ends
     * @param argument for the goal
     * @param timeout the longest time to wait; zero polls once
     * @param spinNanos how long a platform thread polls before it sleeps, whatever it finds
     * @return false if the time has run out
     * @throws RdmaException that of the goal or of the source
     * @throws InterruptedException if this thread was interrupted
     */
    public <S extends Subject> boolean await(S subject, Goal<? super S> goal, long argument, Duration timeout,
            long spinNanos) throws RdmaException, InterruptedException {
        return goal.isReached(subject, argument) || run(subject, goal, argument, timeout, null, spinNanos, false);
    }

    /**
     * Waits until a goal is reached, like {@link #await(Subject, Goal, long, Duration, long)}.
     *
     * @param <S> the type of the subject
     * @param subject what is waited for
     * @param goal when the wait ends
     * @param argument for the goal
     * @param deadline until when to wait
     * @param spinNanos how long a platform thread polls before it sleeps, since the beginning of the deadline
     * @return false if the deadline has passed
     * @throws RdmaException that of the goal or of the source
     * @throws InterruptedException if this thread was interrupted
     */
    public <S extends Subject> boolean await(S subject, Goal<? super S> goal, long argument, Deadline deadline,
            long spinNanos) throws RdmaException, InterruptedException {
        return goal.isReached(subject, argument) || run(subject, goal, argument, null, deadline, spinNanos, false);
    }

    /**
     * Waits like {@link #await(Subject, Goal, long, Duration, long)}, for callers that have just polled the source and
     * not reached their goal.
     *
     * @param <S> the type of the subject
     * @param subject what is waited for
     * @param goal when the wait ends
     * @param timeout the longest time to wait
     * @return false if the time has run out
     * @throws RdmaException that of the goal or of the source
     * @throws InterruptedException if this thread was interrupted
     */
    public <S extends Subject> boolean awaitNext(S subject, Goal<? super S> goal, Duration timeout)
            throws RdmaException, InterruptedException {
        return run(subject, goal, 0, timeout, null, 0, true);
    }

    private <S extends Subject> boolean run(S subject, Goal<? super S> goal, long argument, Duration timeout,
            Deadline given, long spinNanos, boolean polled) throws RdmaException, InterruptedException {
        boolean isVirtual = Thread.currentThread().isVirtual();
        // A virtual thread that spins would keep its carrier from the others, and cannot give up the CPU.
        boolean spinning = spinNanos > 0 && !isVirtual;
        // Not a deadline: it would have to be allocated.
        long start = -1;
        long limit = -1;
        long elapsed = 0;
        int busy = 0;
        int idle = 0;
        boolean first = polled;
        try {
            while (true) {
                requireOpen();
                boolean any = !first && source.poll();
                if (!first && goal.isReached(subject, argument)) {
                    return true;
                }
                first = false;
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                // To look at the clock costs more than to poll.
                boolean timeless = any ? ++busy % POLLS_PER_CLOCK != 0
                        : spinning && spinNanos == Long.MAX_VALUE && idle++ % POLLS_PER_CLOCK != 0;
                if (!timeless) {
                    long now = System.nanoTime();
                    if (limit < 0) {
                        limit = given == null ? Deadline.toNanos(timeout) : given.nanos();
                        start = given == null ? now : given.start();
                    }
                    elapsed = now - start;
                    if (elapsed >= limit) {
                        return false;
                    }
                    spinning &= elapsed < spinNanos;
                }
                if (any) {
                    continue;
                }
                if (timeless) {
                    pause(idle);
                } else if (spinning) {
                    pause(++idle);
                } else if (platform.isAsleep() || isVirtual && virtual.isAsleep()) {
                    follow(subject, limit - elapsed, isVirtual ? virtual : platform);
                } else if (armed || !arm()) {
                    lead(subject, limit - elapsed, isVirtual ? virtual : platform);
                }
            }
        } finally {
            handOver();
        }
    }

    /** Throws an exception if this was closed. */
    void requireOpen() throws RdmaClosedException {
        if (closed) {
            throw new RdmaClosedException("poll", "what this thread waits for");
        }
    }

    /** Lets others work between two polls that found nothing. */
    private void pause(int polls) {
        lock.unlock();
        try {
            Spin.pause(polls);
        } finally {
            lock.lock();
        }
    }

    /** Arms the source; returns whether it has to be polled again. */
    private boolean arm() throws RdmaException {
        boolean again = source.arm();
        armed = true;
        return again;
    }

    private void lead(Subject subject, long nanos, Threads kind) throws RdmaException, InterruptedException {
        Object begun = subject.sleepBegins();
        long start = System.nanoTime();
        kind.leader = Thread.currentThread();
        kind.subject = subject;
        lock.unlock();
        try {
            kind.sleeper.await(nanos);
        } finally {
            lock.lock();
            kind.leader = null;
            kind.subject = null;
            awake.signalAll();
            subject.sleepEnds(begun, System.nanoTime() - start, true);
        }
        // A platform thread that sleeps beside this one takes the events itself: taken here, they could escape it.
        if (!closed && !platform.isAsleep()) {
            takeEvents();
        }
    }

    private void follow(Subject subject, long nanos, Threads kind) {
        Follower me = new Follower();
        Object begun = subject.sleepBegins();
        long start = System.nanoTime();
        me.nextOfSubject = subject.followers;
        subject.followers = me;
        kind.add(me);
        lock.unlock();
        try {
            LockSupport.parkNanos(this, nanos);
        } finally {
            lock.lock();
            kind.remove(me);
            leave(subject, me);
            subject.sleepEnds(begun, System.nanoTime() - start, false);
        }
    }

    private static void leave(Subject subject, Follower me) {
        if (subject.followers == me) {
            subject.followers = me.nextOfSubject;
            return;
        }
        Follower before = subject.followers;
        while (before.nextOfSubject != me) {
            before = before.nextOfSubject;
        }
        before.nextOfSubject = me.nextOfSubject;
    }

    private void takeEvents() throws RdmaException {
        boolean stays = armed;
        // as far as is known if this fails
        armed = false;
        armed = !source.takeEvents() && stays;
    }

    /**
     * Makes sure that somebody goes on waiting for what this thread does not wait for any more: a leader that sleeps on
     * an armed source, or a thread that is about to become one.
     */
    private void handOver() {
        if (closed) {
            return;
        }
        if (!platform.isAsleep() && platform.first != null) {
            LockSupport.unpark(platform.first.thread);
        } else if (!platform.isAsleep() && !virtual.isAsleep() && virtual.first != null) {
            LockSupport.unpark(virtual.first.thread);
        } else if (!armed) {
            wakeLeader();
        }
        if (!armed && looper != null) {
            // Also if a virtual thread was woken, which may find no carrier.
            loop.wake();
        }
    }

    private void wakeLeader() {
        if (platform.isAsleep()) {
            platform.sleeper.wake();
        } else if (virtual.isAsleep()) {
            virtual.sleeper.wake();
        }
    }

    /** Tells the threads that wait for a subject that something has happened to it. */
    public void wake(Subject subject) {
        for (Follower follower = subject.followers; follower != null; follower = follower.nextOfSubject) {
            LockSupport.unpark(follower.thread);
        }
        if (platform.subject == subject) {
            platform.sleeper.wake();
        }
        if (virtual.subject == subject) {
            virtual.sleeper.wake();
        }
    }

    /** Tells all threads that wait, whatever they wait for. */
    public void wakeAll() {
        platform.wakeAll();
        virtual.wakeAll();
    }

    /**
     * Tells the threads that sleep on the files, of which each tells the next one when its wait ends. Is called without
     * the lock. A thread that is about to sleep polls again first.
     */
    void wakeSleepers() {
        platform.sleeper.wake();
        virtual.sleeper.wake();
    }

    /** The source has grown: what is new has to be armed, too, by whoever sleeps on the source. */
    public void rearm() {
        armed = false;
        wakeLeader();
        if (looper != null) {
            loop.wake();
        }
    }

    /** Returns whether a thread sleeps on the files of the source. */
    public boolean isSleptOn() {
        return platform.isAsleep() || virtual.isAsleep();
    }

    /** Somebody else may have taken the event that the source was armed for while nobody slept on it. */
    public void doubtArming() {
        armed &= isSleptOn() || looper != null;
    }

    /** Lets an event loop wait for the source. There can be one. */
    public void attach(Loop foreign) {
        loop = foreign;
    }

    /** Returns whether this thread has armed the loop, and has not called {@link #loopAwake} since. */
    public boolean isLooper() {
        return looper == Thread.currentThread();
    }

    /**
     * Prepares a sleep of the loop, by its thread.
     *
     * @return false if something has happened that the loop should look at first
     */
    public boolean armLoop() throws RdmaException {
        requireOpen();
        loopAwake();
        if (armed) {
            // The event of something that was polled may have come late, and would end the sleep in vain.
            takeEvents();
        }
        if (!armed) {
            arm();
        }
        boolean quiet = !source.poll() && !changed;
        changed = false;
        looper = quiet ? Thread.currentThread() : null;
        return quiet;
    }

    /** The loop is awake. Takes the events that have woken it. */
    public void loopAwake() throws RdmaException {
        if (looper == null || closed) {
            return;
        }
        looper = null;
        loop.reset();
        takeEvents();
        if (!armed) {
            // A thread that sleeps on the same file may have missed the event.
            wakeLeader();
        }
    }

    /**
     * The loop has polled the source and found something, perhaps without having slept: takes the event of that, which
     * would end the next sleep in vain, or each one while the loop has no use for the source.
     */
    public void loopPolled() throws RdmaException {
        if (loop != null && armed && looper == null && !closed && !isSleptOn()) {
            takeEvents();
        }
    }

    /** Something has happened that the loop has to know of: it does not sleep now. */
    public void tellLoop() {
        changed = true;
        if (looper != null) {
            loop.wake();
        }
    }

    /** The loop has been told of everything that has happened so far. */
    public void loopTold() {
        changed = false;
    }

    /**
     * Ends all sleeps. When this returns, no thread uses the files of the source, nor will a virtual one that gets up
     * later. Others may sleep there again when the lock is released, unless their goals throw exceptions.
     */
    public void endSleeps() throws RdmaException {
        wakeAll();
        while (platform.isAsleep()) {
            awake.awaitUninterruptibly();
        }
        virtual.sleeper.leaveFiles();
    }

    /**
     * Ends all waits, and frees what threads have slept with. What they wait for has ended, so that their goals throw
     * exceptions. When this returns, no thread uses the files of the source any more. Has no effect when called again.
     */
    public void close() throws RdmaException {
        if (closed) {
            return;
        }
        closed = true;
        looper = null;
        endSleeps();
        platform.sleeper.close();
        virtual.sleeper.close();
    }
}
