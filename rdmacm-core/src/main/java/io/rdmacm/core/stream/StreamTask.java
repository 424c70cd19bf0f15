// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.stream;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.internal.engine.BackgroundTask;
import io.rdmacm.core.internal.engine.GuardedFuture;
import io.rdmacm.verbs.error.RdmaException;

/**
 * What goes on for a stream without a thread of the program. While it is open: now and then it is checked that the peer
 * can be reached. When it is closed: its threads leave, the peer is told, which takes until its device has received
 * that, or as long as the stream may linger, and everything is freed. No step waits for a lock: its owner may be a
 * virtual thread that is not running.
 */
final class StreamTask extends BackgroundTask {
    /** How many streams may linger, which keep memory and queue pairs: the oldest make way. */
    static final int MOST_LINGERING = 256;

    // In the order in which they began to; used by the thread of the tasks.
    private static final Set<StreamTask> LINGERING = new LinkedHashSet<>();
    private static final long LONGEST_INTERVAL = TimeUnit.DAYS.toNanos(36_500);
    // A step is tried again after a part of the time that it has taken so far.
    private static final int PART = 4;
    private static final long SHORTEST_PAUSE = TimeUnit.MICROSECONDS.toNanos(20);
    private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(20);
    // For want of memory, for instance, which may be temporary.
    private static final int MOST_ERRORS = 100;

    private enum Step { OPEN, LEAVING, LINGERING, FREEING }

    private final StreamCore core;
    private final StreamReader reader;
    private final StreamWriter writer;
    // 0 if the stream is not to be checked
    private volatile long interval;
    private final long linger;
    private final CompletableFuture<Void> closed = new GuardedFuture<>(BackgroundTask::requireOtherThread);
    private volatile boolean checking;
    private volatile boolean hurried;
    // The rest is used by the thread of the tasks.
    private Step step = Step.OPEN;
    private long begun;
    private long checkedInterval;
    private long nextCheck;
    private int errors;

    StreamTask(StreamSettings settings, StreamCore core, StreamReader reader, StreamWriter writer) {
        this.core = core;
        this.reader = reader;
        this.writer = writer;
        this.interval = nanos(settings.keepAlive());
        this.linger = nanos(settings.linger());
    }

    private static long nanos(Duration duration) {
        return Math.min(TimeUnit.NANOSECONDS.convert(duration), LONGEST_INTERVAL);
    }

    /** Begins to check that the peer can be reached, if the program wants it. Has no effect when called again. */
    void keepAlive() {
        if (interval > 0 && !checking && core.isConnected()) {
            checking = true;
            submit();
        }
    }

    /** Sets how often it is checked that the peer can be reached; zero for never. */
    void keepAlive(Duration every) {
        long nanos = nanos(every);
        if (nanos != interval) {
            interval = nanos;
            if (core.isConnected()) {
                checking = true;
                submit();
            }
        }
    }

    /** The link knows more than before. Does not wait for the lock of the stream. */
    void linkChanged() {
        core.linkChanged();
        if (!core.wakeAll()) {
            submit();
        }
    }

    /** Closes the stream. If that fails for want of stack, the next call carries on with it. */
    CompletableFuture<Void> close() {
        if (!closed.isDone()) {
            core.beginClose();
            submit();
        }
        return closed;
    }

    /** Does not wait any more for what is in flight. */
    void hurry() {
        hurried = true;
        submit();
    }

    @Override
    protected boolean finishes() {
        return core.isClosing();
    }

    @Override
    protected long run() {
        if (closed.isDone()) {
            return DONE;
        }
        if (!core.isClosing()) {
            return core.isLinkChanged() && !core.wakeAll() ? SHORTEST_PAUSE : check();
        }
        try {
            return closeFurther();
        } catch (Error e) {
            errors++;
            if (errors < MOST_ERRORS) {
                return LONGEST_PAUSE;
            }
            throw e;
        }
    }

    private long check() {
        long every = interval;
        if (!checking || every == 0) {
            checkedInterval = 0;
            return DONE;
        }
        long now = System.nanoTime();
        if (every != checkedInterval) {
            checkedInterval = every;
            nextCheck = now + every;
        } else if (now - nextCheck >= 0) {
            core.keepAlive();
            nextCheck = now + every;
        }
        return nextCheck - now;
    }

    private long closeFurther() {
        if (step == Step.OPEN) {
            begin(Step.LEAVING);
        }
        if (step == Step.LEAVING) {
            if (!core.wakeAll() || !reader.isIdle() || !writer.isIdle() || !core.sendDisconnect()) {
                return pause();
            }
            begin(Step.LINGERING);
            LINGERING.add(this);
            if (LINGERING.size() > MOST_LINGERING) {
                LINGERING.iterator().next().hurry();
            }
        }
        if (step == Step.LINGERING) {
            if (!hurried && System.nanoTime() - begun < linger && !core.isDelivered()) {
                return pause();
            }
            LINGERING.remove(this);
            begin(Step.FREEING);
        }
        try {
            if (!core.endWaits()) {
                return pause();
            }
            core.free();
            closed.complete(null);
        } catch (RdmaException | RuntimeException e) {
            closed.completeExceptionally(e);
        }
        return DONE;
    }

    private void begin(Step next) {
        step = next;
        begun = System.nanoTime();
    }

    private long pause() {
        return Math.clamp((System.nanoTime() - begun) / PART, SHORTEST_PAUSE, LONGEST_PAUSE);
    }

    @Override
    protected void failed(Throwable reason) {
        LINGERING.remove(this);
        closed.completeExceptionally(reason);
    }

    @Override
    public String toString() {
        return core.toString();
    }
}
