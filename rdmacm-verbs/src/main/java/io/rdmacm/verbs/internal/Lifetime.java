// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.rdmacm.verbs.RdmaException;

/**
 * From creation to close of one native object: whether it is open, which of its children are, and who is inside one of
 * its methods. It does not refer to the object whose life it is, so that an object that is lost can be found.
 *
 * <p>A parent refuses to close while a child is open. A close waits until no other thread is inside a method of the
 * object: each of these is short, or is woken by the closer.
 */
public final class Lifetime {
    // in a message: there may be thousands
    private static final int MOST_NAMED = 20;
    private static final AtomicLong OPEN = new AtomicLong();

    private final Class<?> type;
    // replaced as a whole, under this
    private volatile List<Lifetime> parents;
    private final Throwable created = LeakDetector.place();
    // null but for what belongs to a C library
    private final Keeper keeper;

    // All below is guarded by this.
    private final Set<Lifetime> children = new LinkedHashSet<>();
    private Supplier<String> description = () -> "being created";
    private Runnable whenEnded = () -> { };
    private int users;
    private boolean closing;
    private boolean closed;
    // null when nobody is closing it
    private Thread closer;
    // read without the lock on fast paths
    private volatile boolean open = true;

    private Lifetime(Class<?> type, List<Lifetime> parents, Keeper keeper) {
        this.type = type;
        this.parents = parents;
        this.keeper = keeper;
    }

    /** Makes the native object of a new Lifetime and tells its address. */
    @FunctionalInterface
    public interface Creator {
        /** Calls C; the result is the address of the new object. */
        long create() throws RdmaException;
    }

    /** The native part of a close. */
    @FunctionalInterface
    public interface Destroyer {
        /** Calls C; when it throws, the object stays open. */
        void destroy() throws RdmaException;
    }

    /**
     * A new life under the given parents, which cannot close from here on.
     *
     * @param type the class of the object; messages name it
     * @throws IllegalStateException when one of the parents is closed
     */
    public static Lifetime begin(Class<?> type, Lifetime... parents) {
        Lifetime life = new Lifetime(type, List.of(parents), null);
        int adopted = 0;
        try {
            for (Lifetime parent : parents) {
                parent.adopt(life);
                adopted++;
            }
        } finally {
            if (adopted < parents.length) {
                life.leaveParents();
            }
        }
        OPEN.incrementAndGet();
        return life;
    }

    /**
     * The life of an object that belongs to a C library: it is not counted among the open ones, and ends when the
     * library has freed it.
     *
     * @param type the class of the object; messages name it
     * @param keeper keeps the library from doing so while it is used
     */
    public static Lifetime kept(Class<?> type, Keeper keeper) {
        return new Lifetime(type, List.of(), keeper);
    }

    /**
     * Makes the native object: when that fails, this life has never been.
     *
     * @param creator makes it
     */
    public long create(Creator creator) throws RdmaException {
        boolean made = false;
        try {
            long address = creator.create();
            made = true;
            return address;
        } finally {
            if (!made) {
                abandon();
            }
        }
    }

    /** Ends a life whose native object could not be made. */
    public void abandon() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            open = false;
        }
        leaveParents();
        OPEN.decrementAndGet();
    }

    /** How many native objects are open in this JVM. */
    public static long openObjects() {
        return OPEN.get();
    }

    /** What identifies the object among its kind, for messages. */
    public synchronized void describe(Supplier<String> text) {
        description = text;
    }

    /** What is to be done when an object that a C library had kept is found to be freed. */
    public synchronized void whenEnded(Runnable end) {
        whenEnded = end;
    }

    /** Whether the object is open. */
    public boolean isOpen() {
        return open;
    }

    /**
     * Refuses use after close.
     *
     * @throws IllegalStateException when closed
     */
    public void ensureOpen() {
        if (!open) {
            throw new IllegalStateException(type.getSimpleName() + " is closed");
        }
    }

    /**
     * Goes into a method that uses the native object: it cannot be destroyed until {@link #leave()}.
     *
     * @throws IllegalStateException when closed
     */
    public synchronized void enter() {
        use();
        users++;
    }

    /** Ends what {@link #enter()} began. */
    public synchronized void leave() {
        users--;
        if (users == 0) {
            notifyAll();
        }
        if (keeper != null) {
            keeper.unuse();
        }
    }

    /** Makes sure that the object is there, and stays there. */
    private void use() {
        ensureOpen();
        if (keeper != null && !keeper.use()) {
            end();
            ensureOpen();
        }
    }

    /** For an object that a C library has freed, and where another one is by now. */
    public void replaced() {
        keeper.replaced();
        end();
    }

    private synchronized void end() {
        if (open) {
            open = false;
            closed = true;
            whenEnded.run();
        }
    }

    /**
     * Closes: refuses while a child is open, keeps new callers out, wakes the waiting ones, waits until all have left,
     * and destroys. Does nothing when closed already.
     *
     * @param wake wakes threads that wait inside a method of this object; called without a lock
     * @param destroyer frees the native object; when it fails the object is open again
     * @throws IllegalStateException when a child is open; then nothing was changed. Also when this thread is at it
     *         already, in memory of the program's that C gives back meanwhile: it would wait for itself.
     */
    public void close(Runnable wake, Destroyer destroyer) throws RdmaException {
        synchronized (this) {
            if (closer == Thread.currentThread()) {
                throw new IllegalStateException(this + " is being closed by this very thread");
            }
            // Whoever closes finds the object closed afterwards, also when another thread was first.
            awaitUntil(() -> !closing);
            if (closed) {
                return;
            }
            refuseWhileParent();
            closing = true;
            closer = Thread.currentThread();
            open = false;
        }
        boolean destroyed = false;
        try {
            wake.run();
            awaitUntil(() -> users == 0);
            destroyer.destroy();
            destroyed = true;
        } finally {
            if (destroyed) {
                leaveParents();
                OPEN.decrementAndGet();
            }
            finishClose(destroyed);
        }
    }

    /** The open children, oldest first. */
    public synchronized List<Lifetime> children() {
        return List.copyOf(children);
    }

    /** Whether this is the life of an object of the given class. */
    public boolean isOf(Class<?> objectType) {
        return objectType.isAssignableFrom(type);
    }

    /** Lives for a message, which names some of them if they are many. */
    public static String named(List<Lifetime> lives) {
        int more = lives.size() - MOST_NAMED;
        String list = lives.stream().limit(MOST_NAMED).map(Lifetime::toString).collect(Collectors.joining(", "));
        return list + (more > 0 ? " and " + more + " more" : "");
    }

    /** Where the object was made; null unless leak detection is on. */
    Throwable placeOfCreation() {
        return created;
    }

    @Override
    public String toString() {
        Supplier<String> text;
        synchronized (this) {
            text = description;
        }
        return type.getSimpleName() + "[" + text.get() + "]";
    }

    private void refuseWhileParent() {
        if (!children.isEmpty()) {
            throw new IllegalStateException(this + " cannot be closed while it has open children, close them first: "
                    + named(List.copyOf(children)));
        }
    }

    private synchronized void finishClose(boolean destroyed) {
        closing = false;
        closer = null;
        closed = destroyed;
        open = !destroyed;
        notifyAll();
    }

    private synchronized void awaitUntil(BooleanSupplier condition) {
        boolean interrupted = false;
        while (!condition.getAsBoolean()) {
            try {
                wait();
            } catch (InterruptedException e) {
                // what is waited for ends soon: users are woken, and a close is short; the caller sees the interrupt
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void adopt(Lifetime child) {
        ensureOpen();
        if (!children.contains(child)) {
            use();
            children.add(child);
        }
    }

    private synchronized void disown(Lifetime child) {
        if (children.remove(child) && keeper != null) {
            keeper.unuse();
        }
    }

    /**
     * Puts this life under one more parent, which cannot close from here on. Not while this one is being closed.
     *
     * @throws IllegalStateException when the parent is closed; then nothing was changed
     */
    public void addParent(Lifetime parent) {
        parent.adopt(this);
        synchronized (this) {
            List<Lifetime> more = new ArrayList<>(parents);
            more.add(parent);
            parents = List.copyOf(more);
        }
    }

    /** Undoes one {@link #addParent}; a parent that was added twice stays one. */
    public void removeParent(Lifetime parent) {
        boolean gone;
        synchronized (this) {
            List<Lifetime> less = new ArrayList<>(parents);
            less.remove(parent);
            parents = List.copyOf(less);
            gone = !less.contains(parent);
        }
        if (gone) {
            parent.disown(this);
        }
    }

    private void leaveParents() {
        for (Lifetime parent : parents) {
            parent.disown(this);
        }
    }
}
