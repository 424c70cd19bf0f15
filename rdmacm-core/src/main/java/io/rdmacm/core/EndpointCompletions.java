// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.internal.life.Parts;
import io.rdmacm.verbs.internal.wait.CompletionWait;
import io.rdmacm.verbs.internal.wait.Poller;
import io.rdmacm.verbs.internal.wait.Wait;
import io.rdmacm.verbs.work.WorkCompletion;

/**
 * The completions of one direction of an endpoint, with a completion queue and a channel of their own. A thread that
 * waits for them also watches the events of the connection: only these show that the peer has disconnected.
 */
final class EndpointCompletions implements Wait.Source {
    private final String function;
    private final Lifetime owner;
    private final CmId id;
    private final EventChannel events;
    private final CompletionChannel channel;
    private final CompletionQueue queue;
    private final CompletionWait waiting;
    private final boolean losesLateRequests;
    // How many requests were posted that will produce a completion, minus the completions taken.
    private final AtomicLong outstanding = new AtomicLong();
    // The rest is guarded by the lock of the wait.
    private final WorkCompletions single = WorkCompletions.allocate(1);
    private boolean ended;
    // the connection has been looked at in this call, and no event has arrived since
    private volatile boolean checked;

    private EndpointCompletions(String function, Lifetime owner, CmId id, CompletionChannel channel,
            CompletionQueue queue) {
        this.function = function;
        this.owner = owner;
        this.id = id;
        this.events = id.channel();
        this.channel = channel;
        this.queue = queue;
        this.losesLateRequests = VerbsAccess.get().losesLateRequests(id.context());
        this.waiting = new CompletionWait(id, this, new Poller(channel.fd(), events.fd()),
                new Poller(channel.fd(), events.fd()));
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
        try (Parts parts = new Parts()) {
            CompletionChannel channel = parts.add(context.createCompletionChannel(), CompletionChannel::close);
            CompletionQueue queue = parts.add(context.createCompletionQueue(Math.max(1, capacity), channel),
                    CompletionQueue::close);
            return parts.complete(new EndpointCompletions(function, owner, id, channel, queue));
        }
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
        take(EndpointCompletions::pollOne, copy, timeout);
        return copy[0];
    }

    /** Takes all completions that are there and fit, at least one. */
    int take(WorkCompletions completions, Duration timeout) throws RdmaException, InterruptedException {
        return take(EndpointCompletions::poll, completions, timeout);
    }

    private <B> int take(CompletionWait.Poll<EndpointCompletions, B> poll, B buffer, Duration timeout)
            throws RdmaException, InterruptedException {
        owner.rest();
        try {
            checked = false;
            return waiting.take(function, poll, this, buffer, timeout);
        } catch (IllegalStateException | RdmaClosedException e) {
            requireOpen();
            throw e;
        } finally {
            owner.resume();
        }
    }

    /** Wakes waiting threads, which check again whether their wait must end. */
    void wake() {
        waiting.wake();
    }

    /** Closes queue and channel; after the queue pair is closed, and when no platform thread waits. */
    void close() throws RdmaException {
        waiting.endSleeps();
        queue.close();
        channel.close();
        waiting.close();
    }

    @Override
    public boolean poll() {
        return false;
    }

    @Override
    public boolean arm() throws RdmaException {
        queue.requestNotification(false);
        return true;
    }

    @Override
    public boolean takeEvents() throws RdmaException {
        checked = false;
        // Events only say that it is time to poll. All are taken: those of a program that always passes a timeout of
        // zero would pile up in the kernel.
        while (channel.pollEvent().isPresent()) {
            continue;
        }
        return true;
    }

    private int poll(WorkCompletions completions) throws RdmaException {
        int taken = queue.poll(completions);
        if (taken == 0 && isOver()) {
            // Everything that arrived before the end is in the queue by now.
            taken = queue.poll(completions);
            if (taken == 0) {
                throw id.disconnected(function + " on " + id + ", with no work left that could complete");
            }
        }
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

    private void requireOpen() throws RdmaClosedException {
        if (!owner.isOpen()) {
            throw new RdmaClosedException(function, "the " + owner);
        }
    }

    /** Returns whether nothing will arrive any more. */
    private boolean isOver() throws RdmaException {
        requireOpen();
        if (!ended && !checked) {
            checked = true;
            events.readAll();
            ended = id.state().isOver();
        }
        return ended && (losesLateRequests || outstanding.get() <= 0);
    }
}
