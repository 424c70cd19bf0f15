// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.internal.wait.CompletionWait;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.internal.wait.Poller;
import io.rdmacm.verbs.work.WorkCompletion;

/**
 * The completions of one direction of an endpoint, with a completion queue and a channel of their own. A thread that
 * waits for them also watches the events of the connection: only these show that the peer has disconnected.
 */
final class EndpointCompletions implements CompletionWait.Source {
    private final String function;
    private final Lifetime owner;
    private final CmId id;
    private final EventChannel events;
    private final CompletionChannel channel;
    private final CompletionQueue queue;
    private final Poller poller;
    private final CompletionWait waiting;
    // How many requests were posted that will produce a completion, minus the completions taken.
    private final AtomicLong outstanding = new AtomicLong();
    // Both guarded by the lock of the wait.
    private final WorkCompletions single = WorkCompletions.allocate(1);
    private boolean polledAfterEnd;

    private EndpointCompletions(String function, Lifetime owner, CmId id, CompletionChannel channel,
            CompletionQueue queue, Poller poller) {
        this.function = function;
        this.owner = owner;
        this.id = id;
        this.events = id.channel();
        this.channel = channel;
        this.queue = queue;
        this.poller = poller;
        this.waiting = new CompletionWait(id, new ReentrantLock(), this);
    }

    /**
     * Creates the queue and the channel.
     *
     * @param function the C function that waits for these completions, for messages
     * @param owner the lifetime of the endpoint, whose close ends all waits
     * @param id the id of the endpoint
     * @param capacity how many completions the queue holds at least
     */
    static EndpointCompletions create(String function, Lifetime owner, CmId id, int capacity) throws RdmaException {
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
        return new EndpointCompletions(function, owner, id, channel, queue, poller);
    }

    CompletionQueue queue() {
        return queue;
    }

    /** The native objects that are closed with it. */
    Stream<NativeObject> parts() {
        return Stream.of(queue, channel);
    }

    /** Counts a request that was posted and will produce a completion. */
    void posted() {
        outstanding.getAndIncrement();
    }

    /** Takes one completion and returns a copy of it. */
    WorkCompletion take(Duration timeout) throws RdmaException, InterruptedException {
        WorkCompletion[] copy = new WorkCompletion[1];
        waiting.take(function, EndpointCompletions::pollOne, this, copy, timeout);
        return copy[0];
    }

    /** Takes all completions that are there and fit, at least one. */
    int take(WorkCompletions completions, Duration timeout) throws RdmaException, InterruptedException {
        return waiting.take(function, EndpointCompletions::poll, this, completions, timeout);
    }

    /** Wakes waiting threads, which check again whether their wait must end. */
    void wake() {
        poller.wake();
    }

    /** Closes queue and channel; after the queue pair is closed, and when nobody waits. */
    void close() throws RdmaException {
        queue.close();
        channel.close();
        poller.close();
    }

    @Override
    public void arm() throws RdmaException {
        queue.requestNotification(false);
    }

    @Override
    public boolean sleep(Deadline deadline) throws RdmaException, InterruptedException {
        if (!owner.isOpen()) {
            throw new RdmaClosedException(function, "the " + owner);
        }
        if (hasEnded() && outstanding.get() <= 0) {
            if (polledAfterEnd) {
                throw new DisconnectedException(function + " on " + id + ", with no work left that could complete");
            }
            // Everything that arrived before the end is in the queue by now, so poll once more before giving up.
            polledAfterEnd = true;
            return true;
        }
        boolean inTime = !deadline.hasPassed();
        if (inTime) {
            poller.await(deadline);
        }
        // Events only say that it is time to poll. They are consumed even without a wait: each arming can raise one,
        // and those of a program that always passes a timeout of zero would pile up in the kernel.
        while (channel.pollEvent().isPresent()) {
            continue;
        }
        return inTime;
    }

    private int poll(WorkCompletions completions) throws RdmaException {
        int taken = queue.poll(completions);
        if (taken > 0) {
            outstanding.addAndGet(-taken);
        }
        return taken;
    }

    private int pollOne(WorkCompletion[] copy) throws RdmaException {
        int taken = poll(single);
        if (taken > 0) {
            copy[0] = single.at(0).copy();
        }
        return taken;
    }

    private boolean hasEnded() throws RdmaException {
        events.readAll();
        return id.state().isOver();
    }
}
