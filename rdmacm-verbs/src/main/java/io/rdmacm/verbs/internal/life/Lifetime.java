// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.life;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Memory;

/**
 * The lifetime of a native object, from creation to close: whether it is open, which children it has, and how many
 * threads are inside its methods. It has no reference to the object: a strong reference would hide leaks from the
 * detector.
 *
 * <p>{@link #make} makes an object in one step. Its lifetime knows how the native object is freed, and keeps what may
 * be released only after that, such as memory that a device writes: if the object is lost, that memory stays.
 *
 * <p>A parent cannot be closed while a child is open. A close waits until no other thread is inside a method of the
 * object; methods are short, or are woken by the close. It does not wait for a virtual thread that may be asleep there,
 * because that may find no carrier to leave: whatever such a thread does afterwards is refused.
 */
public final class Lifetime {
    // children named in a message; there may be thousands
    private static final int MOST_NAMED = 20;
    private static final AtomicLong OPEN = new AtomicLong();
    // those that keep something until their native object was freed, even if the object is lost
    private static final Set<Lifetime> KEEPING = ConcurrentHashMap.newKeySet();
    private static final Runnable NOTHING = () -> { };
    // runs at each step of the making of an object, and before a barrier; tests let it fail
    static volatile Runnable eachStep = NOTHING;

    private final Class<?> type;
    // replaced as a whole, guarded by this
    private volatile List<Lifetime> parents;
    private final Throwable created = LeakDetector.place();
    // null unless the object belongs to a C library
    private final ContextPin pin;

    // All fields below are guarded by this.
    private final Set<Lifetime> children = new LinkedHashSet<>();
    private Supplier<String> description = () -> "being created";
    private Runnable whenEnded = () -> { };
    private Runnable whenChildless = () -> { };
    private int users;
    private boolean closing;
    private boolean closed;
    // the thread that is closing the object; null if there is none
    private Thread closer;
    // of the native object
    private long address;
    // null if there is no native object to free
    private Freer freer;
    // releases what is kept; null if nothing is
    private Runnable release;
    // only the rest of a close is left
    private boolean freed;
    // the object could not be made, and may not be undone yet
    private volatile boolean failed;
    private final AtomicBoolean undoing = new AtomicBoolean();
    // undoes the object first; null unless it was a part of another one
    private Parts.Undo<?> undoFirst;
    private Object part;
    // read without the lock on fast paths
    private volatile boolean open = true;

    // of views of C memory; null until one is asked for
    private Arena views;

    private Lifetime(Class<?> type, List<Lifetime> parents, ContextPin pin) {
        this.type = type;
        this.parents = parents;
        this.pin = pin;
    }

    /** Creates the native object. */
    @FunctionalInterface
    public interface Creator {
        /**
         * Calls C, and does nothing after that which could fail.
         *
         * @param arena for what C reads
         * @return the address of the new object
         */
        long create(Arena arena) throws RdmaException;
    }

    /** Frees a native object. Has no reference to an object of this library, which would hide leaks. */
    @FunctionalInterface
    public interface Freer {
        /** Calls C. If it throws an exception, the native object is still there. */
        void free(long address) throws RdmaException;
    }

    /**
     * Constructs the Java object for a native object, and publishes it last.
     *
     * @param <T> the class of the object
     */
    @FunctionalInterface
    public interface Constructor<T> {
        /** Calls the constructor. */
        T construct(Lifetime life, long address) throws RdmaException;
    }

    /** The native part of a close. */
    @FunctionalInterface
    public interface Destroyer {
        /** Calls C. If it throws an exception, the object stays open. */
        void destroy() throws RdmaException;
    }

    /**
     * Begins a lifetime under the given parents, which cannot be closed from now on.
     *
     * @param type the class of the object, for messages
     * @throws IllegalStateException if one of the parents is closed
     */
    public static Lifetime begin(Class<?> type, Lifetime... parents) {
        return begin(type, List.of(parents));
    }

    /** Like {@link #begin(Class, Lifetime...)}. */
    public static Lifetime begin(Class<?> type, Collection<Lifetime> parents) {
        Lifetime life = new Lifetime(type, List.copyOf(parents), null);
        try {
            life.begin();
            return life;
        } catch (Throwable t) {
            life.abandon();
            throw t;
        }
    }

    private void begin() {
        OPEN.incrementAndGet();
        for (Lifetime parent : parents) {
            parent.adopt(this);
        }
    }

    /**
     * Begins the lifetime of an object that belongs to a C library. It is not counted as an open object, and ends when
     * the library has freed the object.
     *
     * @param type the class of the object, for messages
     * @param pin keeps the library from freeing the object while it is in use
     */
    public static Lifetime beginPinned(Class<?> type, ContextPin pin) {
        return new Lifetime(type, List.of(), pin);
    }

    /**
     * Makes an object in one step: begins its lifetime, creates the native object and constructs the Java object.
     * Whatever is thrown, by C or for want of memory or stack, nothing is left behind.
     *
     * @param <T> the class of the object
     * @param type the class of the object, for messages
     * @param parents cannot be closed from now on
     * @param creator creates the native object
     * @param freer frees the native object, see {@link #free}
     * @param constructor constructs the Java object
     * @throws IllegalStateException if one of the parents is closed
     */
    public static <T> T make(Class<?> type, Collection<Lifetime> parents, Creator creator, Freer freer,
            Constructor<T> constructor) throws RdmaException {
        return make(type, parents, creator, freer, constructor, NOTHING);
    }

    /** Like the other one, with what keeps something until the native object was freed, and then releases it. */
    public static <T> T make(Class<?> type, Collection<Lifetime> parents, Creator creator, Freer freer,
            Constructor<T> constructor, Runnable release) throws RdmaException {
        Lifetime life = new Lifetime(type, List.copyOf(parents), null);
        life.release = release;
        try {
            if (release != NOTHING) {
                KEEPING.add(life);
            }
            life.begin();
            life.create(creator, freer);
            eachStep.run();
            return constructor.construct(life, life.address);
        } catch (Throwable t) {
            // if undoing it fails too, the close of a parent tries again
            life.failed = true;
            undo(t, life::undo);
            throw t;
        }
    }

    /** Makes an object that has no native object to free. */
    public static <T> T make(Class<?> type, Collection<Lifetime> parents, Constructor<T> constructor)
            throws RdmaException {
        return make(type, parents, arena -> 0, address -> { }, constructor, NOTHING);
    }

    private void create(Creator creator, Freer nativeFreer) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            eachStep.run();
            address = creator.create(arena);
            freer = nativeFreer;
        }
    }

    /** Undoes a step before the one that failed. What that throws is added to the failure. */
    private static void undo(Throwable failure, Destroyer step) {
        try {
            step.destroy();
        } catch (Throwable t) {
            if (t != failure) {
                failure.addSuppressed(t);
            }
        }
    }

    /** Makes an object known to others, as the last step of its construction, and returns it; undone if it fails. */
    public static <T> T publish(T object, Consumer<? super T> add, Consumer<? super T> remove) {
        try {
            add.accept(object);
            eachStep.run();
            return object;
        } catch (Throwable t) {
            remove.accept(object);
            throw t;
        }
    }

    /** Lets the close of a parent undo a part that could not be undone. Allocates nothing. */
    void undoLater(Object itsPart, Parts.Undo<?> undo) {
        part = itsPart;
        undoFirst = undo;
        failed = true;
    }

    /**
     * Frees what C has made, and leaves the parents, unless another thread is doing that. This one does not wait for
     * it, because it may hold a lock that C's functions need.
     */
    private void undo() throws RdmaException {
        if (undoing.compareAndSet(false, true)) {
            try {
                if (undoFirst != null) {
                    Parts.undo(part, undoFirst);
                    undoFirst = null;
                }
                free();
                abandon();
            } finally {
                undoing.set(false);
            }
        }
    }

    /** Frees the native object, and releases what was kept for it. What has been done once is not done again. */
    public void free() throws RdmaException {
        if (freer != null) {
            eachStep.run();
            Stack.requireCall();
            freer.free(address);
            freer = null;
            freed = true;
        }
        if (release != null) {
            release.run();
            release = null;
            KEEPING.remove(this);
        }
    }

    /** Undoes the beginning of a lifetime. */
    private void abandon() {
        leaveParents();
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            open = false;
        }
        OPEN.decrementAndGet();
    }

    /** Returns the number of native objects that are open in this JVM. */
    public static long openObjects() {
        return OPEN.get();
    }

    /** Sets the text that distinguishes the object from others of its class in messages. */
    public synchronized void describe(Supplier<String> text) {
        eachStep.run();
        description = text;
    }

    /** Sets the action to run when the C library that owns the object is found to have freed it. */
    public synchronized void whenEnded(Runnable end) {
        whenEnded = end;
    }

    /** Sets the action to run whenever the last open child has been closed, in the thread that closed it. */
    public synchronized void whenChildless(Runnable action) {
        whenChildless = action;
    }

    /** Returns whether the object is open. */
    public boolean isOpen() {
        return open;
    }

    /** Returns whether the object has been closed, and is not merely being closed. */
    public synchronized boolean isClosed() {
        return closed;
    }

    /**
     * Checks that the object is open.
     *
     * @throws IllegalStateException if it is closed
     */
    public void ensureOpen() {
        if (!open) {
            throw new IllegalStateException(type.getSimpleName() + " is closed");
        }
    }

    /**
     * Enters a method that uses the native object, which is not destroyed before {@link #leave()}.
     *
     * @throws IllegalStateException if the object is closed
     */
    public synchronized void enter() {
        use();
        users++;
    }

    /** Leaves a method, after {@link #enter()}. */
    public synchronized void leave() {
        users--;
        if (users == 0) {
            notifyAll();
        }
        if (pin != null) {
            pin.endUse();
        }
    }

    /**
     * Enters a method in which the thread may sleep. A close does not wait for a virtual one.
     *
     * @throws IllegalStateException if the object is closed
     */
    public synchronized void enterToWait() {
        enter();
        rest();
    }

    /** Leaves a method, after {@link #enterToWait()}. */
    public synchronized void leaveAfterWait() {
        resume();
        leave();
    }

    /** This thread, which is inside a method, may sleep from now on. A close does not wait for a virtual one. */
    public synchronized void rest() {
        if (Thread.currentThread().isVirtual()) {
            users--;
            if (users == 0) {
                notifyAll();
            }
        }
    }

    /** This thread does not sleep any more, after {@link #rest()}. The object may have been closed meanwhile. */
    public synchronized void resume() {
        if (Thread.currentThread().isVirtual()) {
            users++;
        }
    }

    /** Makes sure that the object exists, and that the C library that owns it will not free it. */
    private void use() {
        ensureOpen();
        if (pin != null && !pin.beginUse()) {
            end();
            ensureOpen();
        }
    }

    /** Ends the lifetime of an object that a C library has freed, and at whose address there is another one by now. */
    public void replaced() {
        pin.replaced();
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
     * Closes the object: refuses new callers, wakes threads that wait inside its methods, waits until all have left,
     * and destroys the native object. Has no effect if the object is closed already.
     *
     * @param wake wakes threads that wait inside a method of this object; called without holding a lock
     * @param destroyer destroys the native object; if it fails, the object is open again, unless C has freed it
     * @throws IllegalStateException if a child is open; then nothing has changed. Also if this thread is already
     *        closing the object, and C has called back into the program meanwhile: the thread would wait for itself.
     */
    public void close(Runnable wake, Destroyer destroyer) throws RdmaException {
        undoFailed();
        synchronized (this) {
            if (closer == Thread.currentThread()) {
                throw new IllegalStateException(this + " is already being closed by this thread");
            }
            // If another thread is closing the object, wait for it: the object is closed when this method returns.
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
            endViews();
            destroyer.destroy();
            destroyed = true;
        } finally {
            try {
                if (destroyed) {
                    OPEN.decrementAndGet();
                    leaveParents();
                }
            } finally {
                finishClose(destroyed);
            }
        }
    }

    /** Undoes the children that failed to be made and could not be undone yet. */
    public void undoFailed() throws RdmaException {
        for (Lifetime child : allChildren()) {
            if (child.failed) {
                child.undo();
            } else if (child.isClosed()) {
                // it could not leave all of its parents
                disown(child);
            }
        }
    }

    private synchronized List<Lifetime> allChildren() {
        return List.copyOf(children);
    }

    /** Returns the open children, oldest first, without those that failed to be made: a close undoes them. */
    public List<Lifetime> children() {
        return allChildren().stream().filter(child -> !child.failed).toList();
    }

    /** Returns whether this is the lifetime of an object of the given class. */
    public boolean isOf(Class<?> objectType) {
        return objectType.isAssignableFrom(type);
    }

    /** Lists objects for a message: the first ones by name, and how many more there are. */
    public static String named(List<Lifetime> lives) {
        int more = lives.size() - MOST_NAMED;
        String list = lives.stream().limit(MOST_NAMED).map(Lifetime::toString).collect(Collectors.joining(", "));
        return list + (more > 0 ? " and " + more + " more" : "");
    }

    /** Returns the stack trace of the creation; null unless leak detection is enabled. */
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

    /**
     * Returns a segment over memory that C frees with the object. A close ends it: an access throws then, and a close
     * during an access is refused.
     *
     * @throws IllegalStateException if the object is closed
     */
    public synchronized MemorySegment view(long at, long bytes) {
        ensureOpen();
        if (views == null) {
            views = Arena.ofShared();
        }
        return Memory.view(at, bytes, views);
    }

    private synchronized void endViews() {
        if (views != null) {
            views.close();
            views = null;
        }
    }

    private synchronized void finishClose(boolean destroyed) {
        closing = false;
        closer = null;
        closed = destroyed;
        open = !destroyed && !freed;
        notifyAll();
    }

    private synchronized void awaitUntil(BooleanSupplier condition) {
        boolean interrupted = false;
        while (!condition.getAsBoolean()) {
            try {
                wait();
            } catch (InterruptedException e) {
                // The wait is short: users have been woken. The interrupt status is restored afterwards.
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized void adopt(Lifetime child) {
        ensureOpen();
        if (children.contains(child)) {
            return;
        }
        use();
        try {
            children.add(child);
            eachStep.run();
        } catch (Throwable t) {
            children.remove(child);
            if (pin != null) {
                pin.endUse();
            }
            throw t;
        }
    }

    private void disown(Lifetime child) {
        Runnable action;
        synchronized (this) {
            boolean removed = children.remove(child);
            if (removed && pin != null) {
                pin.endUse();
            }
            if (!removed || !children.isEmpty()) {
                return;
            }
            action = whenChildless;
        }
        action.run();
    }

    /**
     * Adds a parent, which cannot be closed from now on. Must not be called during a close.
     *
     * @throws IllegalStateException if the parent is closed; then nothing has changed
     */
    public void addParent(Lifetime parent) {
        parent.adopt(this);
        try {
            synchronized (this) {
                eachStep.run();
                List<Lifetime> more = new ArrayList<>(parents);
                more.add(parent);
                parents = List.copyOf(more);
            }
        } catch (Throwable t) {
            if (!parents.contains(parent)) {
                parent.disown(this);
            }
            throw t;
        }
    }

    /** Undoes one {@link #addParent}; a parent that was added twice remains a parent. */
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
        // Without an iterator, for which there may be no memory.
        List<Lifetime> all = parents;
        for (int i = 0; i < all.size(); i++) {
            all.get(i).disown(this);
        }
    }
}
