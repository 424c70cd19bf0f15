// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.nio;

import java.io.IOException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelectionKey;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.EventFile;
import io.rdmacm.verbs.internal.wait.Poller;
import io.rdmacm.verbs.internal.wait.Spin;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A selector of channels over RDMA, and of others: an epoll instance over the files of its channels and a counter that
 * wakes it.
 *
 * <p>Of sockets, epoll says what can be done. Of channels over RDMA, a selection polls those whose keys are
 * <em>listed</em>: those that were ready the last time, those whose file epoll reports, and those in the queue, which
 * other threads put there (new keys, new interest sets, channels that were read or written). A listed key that is not
 * ready is armed and leaves the list before the selector sleeps. So the cost does not depend on how many channels are
 * idle.
 *
 * <p>Other threads only touch what the lock guards, and are never kept waiting by a thread that selects.
 */
public final class RdmaSelector extends AbstractSelector {
    private static final Logger LOG = LoggerFactory.getLogger(RdmaSelector.class);
    private static final int SLOT_BITS = 32;
    // A channel that is busy enough to change between two polls so many times in a row may have another turn.
    private static final int MOST_POLLS = 8;
    // To poll more keys than that takes longer than it is worth to wait without sleeping.
    private static final int MOST_SPINNING = 16;
    // While the thread polls, idle channels are asked for less often, because that is a system call.
    private static final int ROUNDS_PER_EVENTS = 16;

    private final Function<SelectableChannel, @Nullable Selectable> foreign;
    private final long spinNanos;
    private final EventFile file;
    private final Poller poller;

    private final Set<SelectionKey> keys = ConcurrentHashMap.newKeySet();
    private final Set<SelectionKey> keysForPrograms = Collections.unmodifiableSet(keys);
    private final Set<SelectionKey> selected = new HashSet<>();
    private final Set<SelectionKey> selectedForPrograms = new SelectedKeys(selected);

    // Of the thread that selects.
    private final List<RdmaSelectionKey> list = new ArrayList<>();
    private final List<RdmaSelectionKey> reported = new ArrayList<>();
    private boolean selecting;
    private int updated;
    private @Nullable Consumer<SelectionKey> action;
    private final Set<SelectionKey> toConsume = new LinkedHashSet<>();
    private boolean ready;

    private final Object lock = new Object();
    // Written with the lock held: the keys that epoll has, by the lower half of their token; the queue; and who sleeps.
    private final ArrayList<@Nullable RdmaSelectionKey> slots = new ArrayList<>();
    private final ArrayList<Integer> freeSlots = new ArrayList<>();
    private int generation;
    private volatile @Nullable RdmaSelectionKey queue;
    private volatile boolean woken;
    private volatile boolean sleeping;
    private boolean closed;

    /**
     * Opens a selector.
     *
     * @param spin how long it polls channels over RDMA before it sleeps
     * @param foreign what channels that are not {@link Selectable} are to it; null for those that it refuses
     */
    public RdmaSelector(SelectorProvider provider, Duration spin,
            Function<SelectableChannel, @Nullable Selectable> foreign) throws IOException {
        super(provider);
        this.foreign = foreign;
        spinNanos = TimeUnit.NANOSECONDS.convert(spin);
        file = EventFile.open();
        poller = new Poller(file.fd());
        // so that no token is that of the wakeup
        slots.add(null);
    }

    @Override
    public Set<SelectionKey> keys() {
        requireOpen();
        return keysForPrograms;
    }

    @Override
    public Set<SelectionKey> selectedKeys() {
        requireOpen();
        return selectedForPrograms;
    }

    @Override
    public int selectNow() throws IOException {
        return perform(null, 0);
    }

    @Override
    public int select() throws IOException {
        return perform(null, -1);
    }

    @Override
    public int select(long timeout) throws IOException {
        return perform(null, milliseconds(timeout));
    }

    @Override
    public int selectNow(Consumer<SelectionKey> action) throws IOException {
        return perform(Objects.requireNonNull(action, "action"), 0);
    }

    @Override
    public int select(Consumer<SelectionKey> action) throws IOException {
        return perform(Objects.requireNonNull(action, "action"), -1);
    }

    @Override
    public int select(Consumer<SelectionKey> action, long timeout) throws IOException {
        return perform(Objects.requireNonNull(action, "action"), milliseconds(timeout));
    }

    private static long milliseconds(long timeout) {
        if (timeout < 0) {
            throw new IllegalArgumentException("timeout is negative: " + timeout);
        }
        return timeout == 0 ? -1 : timeout;
    }

    @Override
    public Selector wakeup() {
        synchronized (lock) {
            woken = true;
            wakeSleeper();
        }
        return this;
    }

    @Override
    protected SelectionKey register(AbstractSelectableChannel channel, int ops, Object attachment) {
        requireOpen();
        Selectable source = channel instanceof Selectable ours ? ours : foreign.apply(channel);
        if (source == null) {
            throw new ForeignChannelException(channel);
        }
        RdmaSelectionKey key = new RdmaSelectionKey(this, channel, source, ops, attachment);
        keys.add(key);
        source.keys().add(key);
        queue(key, false);
        if (!isOpen()) {
            // It was closed in the meantime, perhaps too early to find the key.
            keys.remove(key);
            source.keys().remove(key);
            key.cancel();
            throw new ClosedSelectorException();
        }
        return key;
    }

    @Override
    protected void implCloseSelector() throws IOException {
        wakeup();
        synchronized (this) {
            synchronized (selectedForPrograms) {
                for (SelectionKey key : keys) {
                    forget((RdmaSelectionKey) key);
                }
                selected.clear();
                list.clear();
                synchronized (lock) {
                    closed = true;
                    queue = null;
                    file.close();
                }
                poller.close();
            }
        }
    }

    private void requireOpen() {
        if (!isOpen()) {
            throw new ClosedSelectorException();
        }
    }

    /** Has the next selection poll a key, or the current one, if it sleeps and is to be woken. */
    void queue(RdmaSelectionKey key, boolean wake) {
        synchronized (lock) {
            if (!key.queued && !closed) {
                key.queued = true;
                key.next = queue;
                queue = key;
            }
            if (wake) {
                wakeSleeper();
            }
        }
    }

    /** Has the next selection poll a key; returns false if there is one that sleeps. */
    boolean queueUnlessAsleep(RdmaSelectionKey key) {
        synchronized (lock) {
            if (sleeping && !closed) {
                return false;
            }
            queue(key, false);
            return true;
        }
    }

    /** Removes the file of a key, which will not get one again if this is the end of it. */
    void detach(RdmaSelectionKey key, boolean end) {
        synchronized (lock) {
            key.detached |= end;
            if (key.token != 0) {
                int slot = (int) key.token;
                key.token = 0;
                slots.set(slot, null);
                freeSlots.add(slot);
                if (!closed && key.watched != 0) {
                    key.watched = 0;
                    try {
                        file.forget(key.file);
                    } catch (RdmaException e) {
                        throw new IllegalStateException(e);
                    }
                }
            }
        }
    }

    /** Ends the sleep of the thread that selects, if there is one. The lock is held. */
    private void wakeSleeper() {
        if (sleeping) {
            file.wake();
        }
    }

    /** Selects: the time is in milliseconds, 0 to poll once, -1 to wait without a limit. */
    private int perform(@Nullable Consumer<SelectionKey> consumer, long timeout) throws IOException {
        synchronized (this) {
            requireOpen();
            if (selecting) {
                throw new IllegalStateException("a selection calls a selection");
            }
            selecting = true;
            try {
                synchronized (selectedForPrograms) {
                    updated = 0;
                    action = consumer;
                    removeCancelled();
                    run(timeout);
                    removeCancelled();
                    consume();
                    return updated;
                }
            } finally {
                selecting = false;
                action = null;
                toConsume.clear();
            }
        }
    }

    private void run(long timeout) throws IOException {
        long limit = timeout < 0 ? Long.MAX_VALUE : TimeUnit.MILLISECONDS.toNanos(timeout);
        // To look at the clock takes longer than all else here but the system call.
        boolean timed = timeout > 0;
        long start = timed ? System.nanoTime() : 0;
        ready = false;
        takeQueue();
        pollList();
        if (!ready && limit > 0 && !list.isEmpty()) {
            spin(limit);
        }
        while (true) {
            if (!ready && limit > 0) {
                armList();
            }
            long left = timed ? limit - (System.nanoTime() - start) : limit;
            boolean last = ready || left <= 0 || isToReturn();
            // Even if something is ready already, or the idle ones would never have their turn.
            takeEvents(last || !list.isEmpty() ? file.await(0) : sleep(left));
            if (last || ready || isToReturn()) {
                break;
            }
            takeQueue();
        }
        if (woken) {
            synchronized (lock) {
                woken = false;
            }
        }
    }

    /** Whether a wakeup, or an interrupt of this thread, ends the selection. */
    private boolean isToReturn() {
        return woken || Thread.currentThread().isInterrupted();
    }

    /** Moves the keys of the queue to the list. */
    private void takeQueue() throws IOException {
        if (queue == null) {
            return;
        }
        synchronized (lock) {
            while (queue != null) {
                RdmaSelectionKey key = queue;
                queue = key.next;
                key.next = null;
                key.queued = false;
                if (!key.isListed() && !key.source().isReported()) {
                    key.listed(true);
                    list.add(key);
                }
                attach(key);
            }
        }
    }

    /** Tells epoll about the file of a key, when it has one. The lock is held, so the file cannot be closed. */
    private void attach(RdmaSelectionKey key) throws IOException {
        Selectable source = key.source();
        if (key.detached) {
            return;
        }
        if (key.token != 0) {
            watch(key, source);
            return;
        }
        int watched = source.file();
        if (watched < 0) {
            return;
        }
        int slot = freeSlots.isEmpty() ? slots.size() : freeSlots.getLast();
        generation++;
        long token = (long) generation << SLOT_BITS | slot;
        if (!source.isReported()) {
            if (!source.isArmedBySelector()) {
                file.watch(watched, token);
            }
            key.watched = EventFile.READABLE;
        }
        if (freeSlots.isEmpty()) {
            slots.add(key);
        } else {
            slots.set(freeSlots.removeLast(), key);
        }
        key.token = token;
        key.file = watched;
        watch(key, source);
    }

    /** Tells epoll what the key of a reported channel is interested in. The lock is held. */
    private void watch(RdmaSelectionKey key, Selectable source) throws IOException {
        if (!source.isReported() || !key.isValid()) {
            return;
        }
        int events = source.events(key.interest());
        if (events != key.watched) {
            if (events == 0) {
                // Otherwise, errors would still be reported.
                file.forget(key.file);
            } else {
                file.watch(key.file, key.token, events);
            }
            key.watched = events;
        }
    }

    /** Polls the keys of the list, without arming those that are not ready. */
    private void pollList() {
        int kept = 0;
        for (int i = 0; i < list.size(); i++) {
            RdmaSelectionKey key = list.get(i);
            int ops = key.isValid() ? key.pollReadyOps() : 0;
            if (ops != 0) {
                report(key, ops);
            }
            if (key.isValid() && (ops != 0 || !key.wantsNothing())) {
                list.set(kept, key);
                kept++;
            } else {
                leaveList(key);
            }
        }
        truncate(kept);
    }

    /**
     * A key without interest leaves the list. If the interest set is changed by another thread at the same time, it
     * either finds the mark cleared, and queues the key, or its change is seen here.
     */
    private void leaveList(RdmaSelectionKey key) {
        key.listed(false);
        if (key.isValid() && !key.wantsNothing()) {
            queue(key, false);
        }
    }

    /** Polls for some time before the keys of the list are armed. */
    private void spin(long limit) throws IOException {
        long start = System.nanoTime();
        long most = Math.min(spinNanos, limit);
        for (int rounds = 1; !ready && !list.isEmpty() && list.size() <= MOST_SPINNING
                && System.nanoTime() - start < most && !isToReturn(); rounds++) {
            Spin.pause();
            if (rounds % ROUNDS_PER_EVENTS == 0) {
                takeEvents(file.await(0));
                takeQueue();
            }
            pollList();
        }
    }

    /** Arms the keys of the list, which leave it unless they turn out to be ready. */
    private void armList() throws IOException {
        int kept = 0;
        for (int i = 0; i < list.size(); i++) {
            RdmaSelectionKey key = list.get(i);
            if (reportOrArm(key)) {
                list.set(kept, key);
                kept++;
            }
        }
        truncate(kept);
    }

    private void truncate(int kept) {
        while (list.size() > kept) {
            list.removeLast();
        }
    }

    /**
     * Reports a key that is ready, or arms it. Returns whether it is to be listed: because it is ready, or because it
     * changes so fast that it cannot be armed, and then the selector does not sleep.
     */
    private boolean reportOrArm(RdmaSelectionKey key) throws IOException {
        for (int polls = 0; polls < MOST_POLLS; polls++) {
            key.listed(false);
            int ops = key.isValid() ? key.pollReadyOps() : 0;
            if (ops != 0) {
                key.listed(true);
                report(key, ops);
                return true;
            }
            if (!key.isValid() || key.wantsNothing() || arm(key)) {
                return false;
            }
        }
        key.listed(true);
        return true;
    }

    /** Returns false if the key has to be polled again. */
    private boolean arm(RdmaSelectionKey key) throws IOException {
        Selectable source = key.source();
        if (!source.isArmedBySelector()) {
            if (key.token == 0 || source.isReported()) {
                // The channel may have got its file while this thread looked at it.
                synchronized (lock) {
                    attach(key);
                }
            }
            return source.arm();
        }
        synchronized (lock) {
            if (key.token != 0) {
                file.arm(key.file, key.token);
            }
        }
        return true;
    }

    private void report(RdmaSelectionKey key, int ops) {
        ready = true;
        if (action != null) {
            key.ready(ops);
            if (toConsume.add(key)) {
                updated++;
            }
        } else if (selected.add(key)) {
            key.ready(ops);
            updated++;
        } else if ((key.ready() | ops) != key.ready()) {
            key.ready(key.ready() | ops);
            updated++;
        }
    }

    @SuppressWarnings("NullAway") // there is something to consume only for an action
    private void consume() {
        Consumer<SelectionKey> consumer = action;
        for (SelectionKey key : toConsume.isEmpty() ? List.<SelectionKey>of() : List.copyOf(toConsume)) {
            consumer.accept(key);
            requireOpen();
        }
    }

    /** Sleeps until epoll has events, and returns how many; 0 when the time is over or the selector was woken. */
    private int sleep(long nanos) throws IOException {
        synchronized (lock) {
            if (woken || queue != null) {
                return file.await(0);
            }
            sleeping = true;
        }
        try {
            return Thread.currentThread().isVirtual() ? park(nanos) : sleepInKernel(nanos);
        } finally {
            // Whoever has seen it before wakes this thread once too often.
            sleeping = false;
        }
    }

    private int sleepInKernel(long nanos) throws IOException {
        // An interrupt calls wakeup().
        begin();
        try {
            return file.await(nanos);
        } finally {
            end();
        }
    }

    private int park(long nanos) throws IOException {
        try {
            poller.await(nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return file.await(0);
    }

    /** Polls the keys that epoll has reported. */
    private void takeEvents(int events) throws IOException {
        if (events == 0) {
            return;
        }
        synchronized (lock) {
            for (int i = 0; i < events; i++) {
                long token = file.token(i);
                if (token == EventFile.WAKEUP) {
                    file.reset();
                } else {
                    RdmaSelectionKey key = slots.get((int) token);
                    // One that has been detached since then is not there any more, or another one is.
                    if (key != null && key.token == token) {
                        key.events = file.events(i);
                        reported.add(key);
                    }
                }
            }
        }
        for (int i = 0; i < reported.size(); i++) {
            RdmaSelectionKey key = reported.get(i);
            Selectable source = key.source();
            if (!key.isValid()) {
                detach(key, true);
            } else if (source.isReported()) {
                int ops = source.readyOps(key.events, key.interest());
                if (ops != 0) {
                    report(key, ops);
                }
            } else if (!key.isListed() && reportOrArm(key)) {
                list.add(key);
            }
        }
        reported.clear();
    }

    private void removeCancelled() {
        Set<SelectionKey> cancelled = cancelledKeys();
        synchronized (cancelled) {
            if (cancelled.isEmpty()) {
                return;
            }
            for (SelectionKey key : cancelled) {
                selected.remove(key);
                forget((RdmaSelectionKey) key);
            }
            cancelled.clear();
        }
    }

    private void forget(RdmaSelectionKey key) {
        keys.remove(key);
        detach(key, true);
        key.keys().remove(key);
        deregister((AbstractSelectionKey) key);
        try {
            key.deregistered();
        } catch (IOException e) {
            // It is closed all the same.
            LOG.debug("closing {}: {}", key.channel(), e.toString());
        }
    }

    /** A channel of another provider. */
    private static final class ForeignChannelException extends IllegalSelectorException {
        private static final long serialVersionUID = 1L;

        private final String message;

        ForeignChannelException(SelectableChannel channel) {
            message = "a selector of RdmaSelectorProvider takes the SocketChannels and ServerSocketChannels of that "
                    + "provider only, not a " + channel.getClass().getName() + "; register it with a selector of its "
                    + "own provider";
        }

        @Override
        public String getMessage() {
            return message;
        }
    }
}
