// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

import io.rdmacm.verbs.internal.Keeper;
import io.rdmacm.verbs.internal.LeakDetector;
import io.rdmacm.verbs.internal.Lifetime;
import io.rdmacm.verbs.internal.Memory;
import io.rdmacm.verbs.internal.VerbsAccess;

/**
 * An object of a C library. The rules are the same for all of them:
 * <ul>
 * <li>{@link #close()} frees the C object and may be called again without harm. It refuses while an object made from
 * this one is open: the exception lists them, nothing is changed, and closing them first works.
 * <li>Use after close is an {@link IllegalStateException}.
 * <li>All methods may be called from any thread. A close waits for calls of other threads to leave, and wakes those
 * that wait.
 * <li>{@link #handle()} is the raw C object, for what this library does not offer.
 * </ul>
 */
public abstract class NativeObject implements AutoCloseable {
    static {
        new Access();
    }

    private final Lifetime life;
    private final long address;
    private final long size;

    /**
     * For the classes of this library.
     *
     * @param life the life of the object, begun under its parents
     * @param address the address of the C object
     * @param size the size of its struct in bytes
     */
    @SuppressWarnings({"exports", "this-escape"})
    protected NativeObject(Lifetime life, long address, long size) {
        this.life = life;
        this.address = address;
        this.size = size;
        life.describe(() -> "0x" + Long.toHexString(address));
        LeakDetector.watch(this, life);
    }

    /**
     * The C object itself.
     *
     * @return a segment at its address, as long as its struct; it must not be used after {@link #close()}
     * @throws IllegalStateException when closed
     */
    public final MemorySegment handle() {
        life.ensureOpen();
        return Memory.view(address, size);
    }

    /** Whether {@link #close()} was not called yet. Never throws. */
    public final boolean isOpen() {
        return life.isOpen();
    }

    /**
     * Frees the C object. Does nothing when that was done before.
     *
     * @throws IllegalStateException when an object made from this one is still open; then nothing was changed
     * @throws RdmaException when C could not free it; then it is still open
     */
    @Override
    public void close() throws RdmaException {
        life.close(this::wakeWaiters, this::destroy);
    }

    /** The C function that frees the object; called once, with nobody else inside. */
    protected abstract void destroy() throws RdmaException;

    /** Wakes threads that wait inside a method of this object; called by a close before it waits for them. */
    protected void wakeWaiters() {
        // most objects have nobody waiting
    }

    /** For the classes of this library: the life of the object. */
    @SuppressWarnings("exports")
    protected final Lifetime life() {
        return life;
    }

    /** For the classes of this library: the address of the C object, unchecked. */
    protected final long address() {
        return address;
    }

    /**
     * For the classes of this library: a member of the C object, which another thread cannot free meanwhile.
     *
     * @param offset where it is
     * @throws IllegalStateException when closed
     */
    protected final int intMember(long offset) {
        life.enter();
        try {
            return Memory.getInt(address + offset);
        } finally {
            life.leave();
        }
    }

    @Override
    public String toString() {
        return life + (life.isOpen() ? "" : " (closed)");
    }

    private static final class Access extends VerbsAccess {
        @Override
        public Lifetime lifeOf(NativeObject object) {
            return object.life;
        }

        @Override
        public long addressOf(NativeObject object) {
            return object.address;
        }

        @Override
        public VerbsContext contextAt(long contextAddress, Supplier<Keeper> keeper) {
            return VerbsContext.ofConnectionManager(contextAddress, keeper);
        }

        @Override
        public int deviceIndexAt(long contextAddress) {
            return VerbsContext.indexAt(contextAddress);
        }

        @Override
        public QueuePair createQueuePair(Lifetime owner, ProtectionDomain domain, QueuePairInitAttributes attributes,
                QueuePairCreator creator, Lifetime.Destroyer destroyer) throws RdmaException {
            return QueuePairFactory.create(domain, attributes, creator, destroyer, owner);
        }

        @Override
        public SharedReceiveQueue createSharedReceiveQueue(Lifetime owner, ProtectionDomain domain,
                SharedReceiveQueueInitAttributes attributes, SharedReceiveQueueCreator creator,
                Lifetime.Destroyer destroyer) throws RdmaException {
            return SharedReceiveQueue.create(domain, attributes, creator, destroyer, owner);
        }
    }
}
