// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.Completions;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.RdmaClosedException;
import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.RdmaTimeoutException;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.WorkCompletion;
import io.rdmacm.verbs.internal.Deadline;
import io.rdmacm.verbs.internal.Lifetime;
import io.rdmacm.verbs.internal.Poller;

/**
 * The completions of one direction of an endpoint, with a queue and a channel of their own. Whoever waits for them
 * watches the events of the connection too, because only these tell that the peer has left.
 */
final class EndpointCompletions {
    private final Lifetime owner;
    private final CmId id;
    private final EventChannel events;
    private final CompletionChannel channel;
    private final CompletionQueue queue;
    private final Poller poller;
    // held by the one who waits, and by the one who uses the buffer
    private final ReentrantLock waiting = new ReentrantLock();
    private final Completions single = Completions.allocate(1);
    // What was posted and will give a completion, less what was taken.
    private final AtomicLong outstanding = new AtomicLong();

    private EndpointCompletions(Lifetime owner, CmId id, EventChannel events, CompletionChannel channel,
            CompletionQueue queue, Poller poller) {
        this.owner = owner;
        this.id = id;
        this.events = events;
        this.channel = channel;
        this.queue = queue;
        this.poller = poller;
    }

    static EndpointCompletions create(Lifetime owner, CmId id, int capacity) throws RdmaException {
        VerbsContext context = id.context();
        CompletionChannel channel = context.createCompletionChannel();
        CompletionQueue queue = null;
        Poller poller = null;
        try {
            queue = context.createCompletionQueue(Math.max(1, capacity), channel);
            poller = new Poller(channel.fd(), id.channel().fd());
        } finally {
            if (poller == null) {
                if (queue != null) {
                    queue.close();
                }
                channel.close();
            }
        }
        return new EndpointCompletions(owner, id, id.channel(), channel, queue, poller);
    }

    CompletionQueue queue() {
        return queue;
    }

    /** What ends with it. */
    Stream<NativeObject> parts() {
        return Stream.of(queue, channel);
    }

    /** Something was posted that will give a completion. */
    void posted() {
        outstanding.getAndIncrement();
    }

    /** One completion, copied. */
    WorkCompletion take(String function, Duration timeout) throws RdmaException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        lock(function, deadline);
        try {
            waitFor(single, function, deadline);
            return single.at(0).copy();
        } finally {
            waiting.unlock();
        }
    }

    /** As many completions as there are and fit, at least one. Allocates nothing when it needs not wait. */
    int take(Completions completions, String function, Duration timeout) throws RdmaException, InterruptedException {
        if (waiting.tryLock()) {
            try {
                int taken = poll(completions);
                if (taken > 0) {
                    return taken;
                }
            } finally {
                waiting.unlock();
            }
        }
        Deadline deadline = Deadline.after(timeout);
        lock(function, deadline);
        try {
            return waitFor(completions, function, deadline);
        } finally {
            waiting.unlock();
        }
    }

    /** Whoever waits looks again. */
    void wake() {
        poller.wake();
    }

    /** After the queue pair is closed, and when nobody is inside. */
    void close() throws RdmaException {
        queue.close();
        channel.close();
        poller.close();
    }

    private void lock(String function, Deadline deadline) throws RdmaException, InterruptedException {
        if (!waiting.tryLock(deadline.remainingNanos(), TimeUnit.NANOSECONDS)) {
            throw new RdmaTimeoutException(function, function + ": another thread waited for the completions");
        }
    }

    private int waitFor(Completions completions, String function, Deadline deadline)
            throws RdmaException, InterruptedException {
        while (true) {
            if (!owner.isOpen()) {
                throw new RdmaClosedException(function, "the " + owner);
            }
            int taken = poll(completions);
            if (taken == 0) {
                // A completion that comes between a poll and the arming raises no event: so poll again.
                queue.requestNotification(false);
                taken = poll(completions);
            }
            if (taken == 0 && hasEnded()) {
                taken = poll(completions);
                if (taken == 0 && outstanding.get() <= 0) {
                    throw new DisconnectedException(function + ", with no work left that could complete, of " + id);
                }
            }
            if (taken > 0) {
                return taken;
            }
            if (deadline.hasPassed()) {
                throw new RdmaTimeoutException(function, function + ": nothing completed in time on " + id);
            }
            poller.await(deadline);
            while (channel.pollEvent().isPresent()) {
                // it only said that it is time to poll
                continue;
            }
        }
    }

    private int poll(Completions completions) throws RdmaException {
        int taken = queue.poll(completions);
        if (taken > 0) {
            outstanding.addAndGet(-taken);
        }
        return taken;
    }

    private boolean hasEnded() throws RdmaException {
        events.readAll();
        CmIdState state = id.state();
        return state == CmIdState.DISCONNECTED || state == CmIdState.FAILED;
    }
}
