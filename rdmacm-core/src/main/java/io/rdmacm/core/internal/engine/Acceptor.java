// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Condition;
import java.util.function.Consumer;
import java.util.function.Function;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.life.Stack;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.internal.wait.EventFile;
import io.rdmacm.verbs.internal.wait.MixedThreadsLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A listening id, and what becomes of the requests to connect. The backlog bounds the sum of the handshakes in progress
 * and of the established connections that nobody has taken. Requests beyond it wait, unanswered and without memory of
 * their own; peers are patient, and send again. What a peer does, or does not do in time, ends its own handshake only.
 *
 * @param <L> the links
 */
public final class Acceptor<L extends Link> implements CmLoop.Handler {
    private static final Logger LOG = LoggerFactory.getLogger(Acceptor.class);
    // the most requests that wait; each has an id, in the kernel and here
    private static final int MAX_REQUESTS = 8192;
    // what the kernel keeps until the thread of the loop takes it; it lowers this to its own limit
    private static final int KERNEL_BACKLOG = 65_535;
    private static final String FUNCTION = "rdma_get_request";

    private final CmLoop loop;
    private final Settings<L> settings;
    private final CmId id;
    private final InetSocketAddress address;
    // tests hold it
    final MixedThreadsLock lock = new MixedThreadsLock();
    // for accept() and for nextRequest()
    private final Condition acceptable = lock.newCondition();
    private final Condition requested = lock.newCondition();
    // guarded by the lock, and so is everything below
    private final ArrayDeque<L> requests = new ArrayDeque<>();
    private final Set<L> handshakes = new LinkedHashSet<>();
    private final ArrayDeque<L> established = new ArrayDeque<>();
    // who waits for a connection without a thread
    private final ArrayDeque<Waiter<L, ?>> waiters = new ArrayDeque<>();
    // requests that were handed out before they were begun
    private final Set<L> inspected = new HashSet<>();
    // how many requests have become connections, and how many have not
    private long accepted;
    private long failed;
    // why requests could not be accepted, although their peers were willing
    private final ArrayDeque<RdmaException> problems = new ArrayDeque<>();
    // the threads in accept() and in nextRequest()
    private int acceptors;
    private int inspectors;
    // whether handshakes begin although no thread is in accept()
    private boolean eager;
    // whether requests are handed out before they are accepted, in place of established connections
    private boolean offering;
    // who takes all established connections, null for threads in accept()
    private @Nullable Consumer<L> taker;
    private boolean beginning;
    private @Nullable EventFile file;
    private @Nullable RdmaException failure;
    private boolean closed;
    // set with it: closes what nobody has taken
    private @Nullable Closer<L> closer;
    // nothing is left to be closed
    private boolean gone;
    // what is rejected by a close; then used by the thread of the loop
    private final ArrayDeque<L> unanswered = new ArrayDeque<>();

    private Acceptor(CmLoop loop, CmId id, InetSocketAddress address, Settings<L> settings) {
        this.loop = loop;
        this.id = id;
        this.address = address;
        this.settings = settings;
    }

    /** Creates the link of a request. */
    @FunctionalInterface
    public interface Requests<L> {
        /** Creates the link, without queues, in the thread of the loop. */
        L link(CmEvent request) throws RdmaException;
    }

    /** Closes an established connection. */
    @FunctionalInterface
    public interface Closer<L> {
        /** Closes it; frees everything even if this throws RdmaException. */
        void close(L link) throws RdmaException;
    }

    /**
     * How to accept.
     *
     * @param <L> the links
     * @param name who listens, for messages
     * @param reuseAddress whether the address may be in use by connections of a former listener
     * @param backlog how many handshakes and established connections there may be at most
     * @param handshakeTimeout how long a handshake may take
     * @param requests creates the links
     */
    public record Settings<L>(String name, boolean reuseAddress, int backlog, Duration handshakeTimeout,
            Requests<L> requests) {
    }

    /**
     * Listens at an address.
     *
     * @throws RdmaException EADDRINUSE when the port is in use; ENODEV when the address belongs to no RDMA device
     */
    public static <L extends Link> Acceptor<L> listen(CmLoop loop, InetSocketAddress local, Settings<L> settings)
            throws RdmaException {
        if (settings.backlog < 1) {
            throw new IllegalArgumentException("backlog must be at least 1, not " + settings.backlog);
        }
        // Its requests come after it is known.
        Forwarding<L> forwarding = new Forwarding<>();
        CmId id = loop.open(forwarding);
        boolean listening = false;
        try {
            if (settings.reuseAddress) {
                id.options().reuseAddress(true);
            }
            Link.bind(id, local);
            // C learns the port of the wildcard when it binds.
            forwarding.acceptor = new Acceptor<>(loop, id, id.localAddress(), settings);
            id.listen(KERNEL_BACKLOG);
            listening = true;
            LOG.info("{} listens on {}", settings.name, id.localAddress());
            return forwarding.acceptor;
        } finally {
            if (!listening) {
                loop.close(id);
            }
        }
    }

    /** Hands the events of the listening id on. */
    private static final class Forwarding<L extends Link> implements CmLoop.Handler {
        private volatile @Nullable Acceptor<L> acceptor;

        @Override
        public void handle(CmEvent event) throws RdmaException {
            Acceptor<L> target = acceptor;
            if (target != null) {
                target.handle(event);
            }
        }

        @Override
        public void fail(RdmaException reason) {
            Acceptor<L> target = acceptor;
            if (target != null) {
                target.fail(reason);
            }
        }
    }

    /** Returns the address, with the actual port. */
    public InetSocketAddress address() {
        return address;
    }

    /** Begins the handshakes of requests from now on, also while no thread is in {@link #accept}. */
    public void beginAll() {
        try (var _ = lock.hold()) {
            eager = true;
            beginLater();
        }
    }

    /**
     * Has {@link #poll} and {@link #accept} return requests from now on, which the caller accepts or discards. They
     * count as handshakes until then, and end when their time has passed.
     */
    public void offerRequests() {
        try (var _ = lock.hold()) {
            offering = true;
            eager = true;
            beginLater();
        }
    }

    /** Hands all connections over as soon as they are established, in the thread of the loop. */
    public void acceptAll(Consumer<L> all) throws RdmaException {
        try (var _ = lock.hold()) {
            requireOpen();
            taker = all;
            eager = true;
            if (!established.isEmpty()) {
                loop.later(this::handAll);
            }
            beginLater();
            // Those who wait would wait for ever.
            acceptable.signalAll();
            requested.signalAll();
            for (Waiter<L, ?> waiter : waiters) {
                work(() -> waiter.result.completeExceptionally(taken()));
            }
            waiters.clear();
        }
    }

    /** Runs what may take long in a worker, or in the thread of the loop where no thread can be started. */
    private void work(Runnable task) {
        try {
            Workers.execute(task);
        } catch (OutOfMemoryError e) {
            LOG.warn("no thread can be started for {}", this, e);
            loop.later(task);
        }
    }

    /** Checks that connections do not go to somebody else. With the lock held. */
    private void requireNoTaker() {
        if (taker != null) {
            throw taken();
        }
    }

    private IllegalStateException taken() {
        return new IllegalStateException("the connections of " + this + " go to their handlers");
    }

    /**
     * Waits for an established connection, and takes it, without a thread: the future is completed by a worker. If it
     * was completed otherwise before, the next one who waits gets the connection.
     *
     * @param wrap makes of a link what the future is completed with
     */
    public <T> CompletableFuture<T> acceptAsync(Function<L, T> wrap) {
        CompletableFuture<T> result = new CompletableFuture<>();
        Waiter<L, T> waiter = new Waiter<>(wrap, result);
        try (var _ = lock.hold()) {
            requireNoTaker();
            waiters.add(waiter);
            beginLater();
            serveLater();
        }
        var unused = result.whenComplete((_, _) -> forget(waiter));
        return result;
    }

    private void forget(Waiter<L, ?> waiter) {
        try (var _ = lock.hold()) {
            waiters.remove(waiter);
        }
    }

    /** Has a worker serve those who wait without a thread, if it can. With the lock held. */
    private void serveLater() {
        if (!waiters.isEmpty() && hasSomething()) {
            try {
                Workers.execute(this::serve);
            } catch (OutOfMemoryError e) {
                LOG.warn("no thread can be started to hand out what {} has accepted: it is tried at the next one", this,
                        e);
                if (closed || failure != null) {
                    // There is no next one.
                    loop.later(this::serve);
                }
            }
        }
    }

    /** Hands what is there to one who waits without a thread. */
    private void serve() {
        Waiter<L, ?> waiter;
        L link = null;
        Throwable reason = null;
        try (var _ = lock.hold()) {
            if (waiters.isEmpty() || !hasSomething()) {
                return;
            }
            waiter = waiters.remove();
            try {
                link = take();
            } catch (RdmaException | RuntimeException | Error e) {
                reason = e;
            }
            serveLater();
        }
        if (reason != null) {
            waiter.result.completeExceptionally(reason);
        } else if (link != null && !waiter.complete(link)) {
            giveBack(link);
        }
    }

    /** Takes back a connection that nobody wanted when it came. */
    private void giveBack(L link) {
        Closer<L> late;
        try (var _ = lock.hold()) {
            late = closer;
            if (late == null) {
                established.addFirst(link);
                if (taker == null) {
                    announce();
                } else {
                    loop.later(this::handAll);
                }
                return;
            }
        }
        try {
            late.close(link);
        } catch (RdmaException | IllegalStateException e) {
            LOG.warn("what was left of {} could not be closed", link, e);
        }
    }

    /** Who waits for a connection without a thread. */
    private record Waiter<L, T>(Function<L, T> wrap, CompletableFuture<T> result) {
        boolean complete(L link) {
            T value;
            try {
                value = wrap.apply(link);
            } catch (RuntimeException | Error e) {
                result.completeExceptionally(e);
                return false;
            }
            return result.complete(value);
        }
    }

    /** Returns what operators see. */
    public Map<String, Long> metrics() {
        try (var _ = lock.hold()) {
            Map<String, Long> metrics = new LinkedHashMap<>();
            metrics.put("requestsWaiting", (long) requests.size());
            metrics.put("handshakes", (long) handshakes.size());
            metrics.put("connectionsWaiting", (long) established.size());
            metrics.put("accepted", accepted);
            metrics.put("failedHandshakes", failed);
            return metrics;
        }
    }

    /** Takes an established connection, null if there is none. */
    public @Nullable L poll() throws RdmaException {
        try (var _ = lock.hold()) {
            return take();
        }
    }

    /** Waits for an established connection, and takes it. */
    public L accept(Duration timeout) throws RdmaException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        lock.lockInterruptibly();
        acceptors++;
        try {
            while (true) {
                requireNoTaker();
                beginLater();
                L link = take();
                if (link != null) {
                    return link;
                }
                if (deadline.hasPassed()) {
                    throw nobody();
                }
                long ignored = acceptable.awaitNanos(deadline.remainingNanos());
            }
        } finally {
            acceptors--;
            lock.unlock();
        }
    }

    /** Waits for a request, and takes it, unanswered. */
    public L nextRequest(Duration timeout) throws RdmaException, InterruptedException {
        Deadline deadline = Deadline.after(timeout);
        lock.lockInterruptibly();
        inspectors++;
        try {
            while (true) {
                requireOpen();
                requireNoTaker();
                L link = requests.peek();
                if (link != null) {
                    link.onHandshakeEnd(() -> inspectedEnded(link));
                    inspected.add(link);
                    // Last: for want of memory the above may fail, and the next one who asks gets it.
                    requests.remove();
                    return link;
                }
                if (deadline.hasPassed()) {
                    throw nobody();
                }
                long ignored = requested.awaitNanos(deadline.remainingNanos());
            }
        } finally {
            inspectors--;
            try {
                // What this thread leaves behind is for those in accept().
                beginLater();
            } finally {
                lock.unlock();
            }
        }
    }

    private RdmaTimeoutException nobody() {
        return new RdmaTimeoutException(FUNCTION, "nobody connected to " + this + " in time");
    }

    /** Returns whether {@link #poll} would return a connection or throw an exception. */
    public boolean isReady() {
        try (var _ = lock.hold()) {
            return hasSomething();
        }
    }

    /** Returns a file that is readable as long as {@link #isReady} is true. */
    public int fd() throws RdmaException {
        try (var _ = lock.hold()) {
            if (closed) {
                throw new IllegalStateException(this + " is closed");
            }
            EventFile open = file;
            if (open == null) {
                open = EventFile.open();
                file = open;
                updateFile();
            }
            return open.fd();
        }
    }

    /** Returns whether it was not closed, and its device not removed. */
    public boolean isOpen() {
        try (var _ = lock.hold()) {
            return !closed && failure == null;
        }
    }

    /**
     * Stops listening. Requests are rejected and handshakes end; threads that wait throw RdmaClosedException. If this
     * fails, the next call carries on with it.
     *
     * @param unclaimed closes an established connection that nobody has taken
     * @return whether this call has come to the end, as only one does
     */
    public boolean close(Closer<L> unclaimed) throws RdmaException {
        Stack.require();
        try (var _ = lock.hold()) {
            if (!closed) {
                unanswered.addAll(requests);
                // Those that were handed out before they were accepted belong to others.
                unanswered.addAll(offering ? established : handshakes);
                if (offering) {
                    established.clear();
                }
                requests.clear();
                handshakes.clear();
                closed = true;
                closer = unclaimed;
                serveLater();
                acceptable.signalAll();
                requested.signalAll();
            } else if (gone) {
                return false;
            }
        }
        try {
            loop.run(() -> {
                while (!unanswered.isEmpty()) {
                    discard(unanswered.element());
                    unanswered.remove();
                }
                loop.close(id);
            });
        } finally {
            closeFile();
        }
        closeAll(unclaimed);
        try (var _ = lock.hold()) {
            boolean first = !gone;
            gone = true;
            return first;
        }
    }

    /** Closes the connections that nobody has taken, all even if one cannot be closed. */
    private void closeAll(Closer<L> each) throws RdmaException {
        RdmaException first = null;
        for (L link = unclaimed(); link != null; link = unclaimed()) {
            try {
                each.close(link);
            } catch (RdmaException e) {
                first = first == null ? e : first;
            } catch (RuntimeException | Error e) {
                try (var _ = lock.hold()) {
                    established.addFirst(link);
                }
                throw e;
            }
        }
        if (first != null) {
            throw first;
        }
    }

    private @Nullable L unclaimed() {
        try (var _ = lock.hold()) {
            return established.poll();
        }
    }

    private void closeFile() throws RdmaException {
        try (var _ = lock.hold()) {
            if (file != null) {
                file.close();
                file = null;
            }
        }
    }

    private boolean hasSomething() {
        return closed || !established.isEmpty() || !problems.isEmpty() || failure != null;
    }

    private void requireOpen() throws RdmaException {
        if (closed) {
            throw new RdmaClosedException(FUNCTION, "the " + this);
        }
        if (failure != null) {
            throw failure;
        }
    }

    private @Nullable L take() throws RdmaException {
        requireOpen();
        L link = established.poll();
        RdmaException problem = link == null ? problems.poll() : null;
        try {
            if (link != null && offering) {
                handshakes.add(link);
            } else if (link != null) {
                // There is room for the next one.
                beginLater();
            }
            updateFile();
        } catch (RdmaException | RuntimeException | Error e) {
            if (link != null) {
                handshakes.remove(link);
                established.addFirst(link);
            }
            if (problem != null) {
                problems.addFirst(problem);
            }
            throw e;
        }
        if (problem != null) {
            throw problem;
        }
        return link;
    }

    /** Makes the file readable, or not. With the lock held. */
    private void updateFile() throws RdmaException {
        EventFile open = file;
        if (open != null) {
            if (hasSomething()) {
                open.wake();
            } else {
                open.reset();
            }
        }
    }

    private void announce() {
        serveLater();
        acceptable.signal();
        if (file != null) {
            file.wake();
        }
    }

    /** Begins handshakes, not now, because an event of their ids may be open. With the lock held. */
    private void beginLater() {
        if (!beginning && mayBegin()) {
            loop.later(this::begin);
            beginning = true;
        }
    }

    private boolean mayBegin() {
        return !closed && failure == null && !requests.isEmpty() && (eager || acceptors > 0 || !waiters.isEmpty())
                && handshakes.size() + established.size() < settings.backlog;
    }

    /** Is called again if there is no memory: then a request stays where it is until something else has it. */
    private void begin() {
        try (var _ = lock.hold()) {
            beginning = false;
            while (mayBegin()) {
                L link = requests.element();
                if (offering) {
                    offer(link);
                    continue;
                }
                link.onChange(() -> changed(link));
                link.limit(Deadline.after(settings.handshakeTimeout), "rdma_accept");
                handshakes.add(link);
                requests.remove();
                lock.unlock();
                try {
                    begin(link);
                } finally {
                    lock.lock();
                }
            }
        }
    }

    /** Hands the first request out before it is accepted. With the lock held. */
    private void offer(L link) {
        link.onHandshakeEnd(() -> handshakeEnded(link));
        link.limit(Deadline.after(settings.handshakeTimeout), "rdma_accept");
        established.add(link);
        requests.remove();
        announce();
    }

    /** A request that is or was offered has become a connection, or never will. */
    private void handshakeEnded(L link) {
        lock.lock();
        try {
            if (established.contains(link)) {
                loop.later(() -> discard(link));
                established.remove(link);
                failed++;
                updateFile();
            } else if (handshakes.contains(link)) {
                if (!link.isAccepting()) {
                    // Whoever has taken it may have forgotten it.
                    loop.later(() -> discard(link));
                }
                handshakes.remove(link);
                count(link);
            }
            beginLater();
        } catch (RdmaException e) {
            LOG.debug("{} is asked in vain for what is not there", this, e);
        } finally {
            lock.unlock();
        }
    }

    private void inspectedEnded(L link) {
        try (var _ = lock.hold()) {
            if (inspected.remove(link)) {
                count(link);
            }
        }
    }

    private void count(L link) {
        if (link.isEstablished()) {
            accepted++;
        } else {
            failed++;
        }
    }

    private void begin(L link) {
        try {
            link.accept();
        } catch (RdmaException | RuntimeException | Error e) {
            RdmaException reason = Reasons.of("rdma_accept", e);
            if (link.isPeers(reason)) {
                LOG.debug("{} did not become a connection", link, e);
            } else {
                report(link, reason);
            }
            end(link);
        }
    }

    /** Hands a problem of this side to a thread in accept(). */
    private void report(L link, RdmaException problem) {
        try (var _ = lock.hold()) {
            LOG.debug("{} could not be accepted", link, problem);
            if (taker != null) {
                LOG.warn("{} could not be accepted: {}", link, problem.getMessage());
            } else if (!closed && problems.size() < settings.backlog) {
                problems.add(problem);
                announce();
            }
        }
    }

    /** Called by the thread of the loop when the state of a link in a handshake has changed. */
    private void changed(L link) {
        if (!link.isEstablished()) {
            if (link.failure() != null || link.isDisconnected()) {
                end(link);
            }
            return;
        }
        Consumer<L> all;
        try (var _ = lock.hold()) {
            if (!handshakes.contains(link)) {
                return;
            }
            all = taker;
            if (all == null) {
                established.add(link);
            }
            handshakes.remove(link);
            accepted++;
            if (all == null) {
                announce();
            } else {
                beginLater();
            }
        }
        if (all != null) {
            hand(link, all);
        }
    }

    /** Hands over what was established when nobody took all connections yet. */
    private void handAll() {
        for (L link = unclaimed(); link != null; link = unclaimed()) {
            hand(link, Objects.requireNonNull(taker));
        }
    }

    private static <L extends Link> void hand(L link, Consumer<L> taker) {
        try {
            taker.accept(link);
        } catch (RuntimeException | Error e) {
            LOG.error("{} ends, because nobody could take it", link, e);
            link.fail(Reasons.of("rdma_accept", e));
            link.loop().later(() -> discard(link));
        }
    }

    /** Drops a peer that has given up or takes too long, and begins the next handshake. */
    private void end(L link) {
        try (var _ = lock.hold()) {
            if (handshakes.contains(link)) {
                // After its event, if one is being handled.
                loop.later(() -> discard(link));
                handshakes.remove(link);
                failed++;
                link.stop();
                beginLater();
            }
        }
    }

    private static void discard(Link link) {
        try {
            link.discard();
        } catch (RdmaException | IllegalStateException e) {
            LOG.warn("what was left of {} could not be closed", link, e);
        }
    }

    @Override
    public void handle(CmEvent event) throws RdmaException {
        if (event.type() == CmEventType.CONNECT_REQUEST) {
            add(event);
        } else if (event.type() == CmEventType.DEVICE_REMOVAL) {
            fail(event.failure("listening on " + address));
        }
    }

    /** Queues a request. If there are far too many, closing its event rejects it, because its id was not taken. */
    private void add(CmEvent event) throws RdmaException {
        try (var _ = lock.hold()) {
            if (closed || requests.size() >= MAX_REQUESTS) {
                return;
            }
        }
        L link = settings.requests.link(event);
        link.register();
        try (var _ = lock.hold()) {
            if (closed) {
                loop.later(() -> discard(link));
                return;
            }
            requests.add(link);
            requested.signal();
            if (inspectors == 0 || eager) {
                beginLater();
            }
        }
    }

    @Override
    public void fail(RdmaException reason) {
        try (var _ = lock.hold()) {
            failure = reason;
            acceptable.signalAll();
            requested.signalAll();
            announce();
        }
    }

    @Override
    public String toString() {
        return settings.name + "[" + address + "]";
    }
}
