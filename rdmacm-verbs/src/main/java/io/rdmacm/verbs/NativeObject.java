// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.life.LeakDetector;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * An object of a C library. The same rules hold for all of them:
 * <ul>
 * <li>{@link #close()} frees the C object; closing it again has no effect. While an object made from this one is open,
 * it throws an exception that lists them, and changes nothing; close those first.
 * <li>Use after close throws {@link IllegalStateException}.
 * <li>All methods may be called by any thread. A close wakes threads that wait inside a method of the object, and
 * returns when no thread is inside any more.
 * <li>{@link #handle()} returns the raw C object, for what this library does not offer.
 * </ul>
 *
 * <p>Only this library can extend this class.
 */
public abstract class NativeObject implements AutoCloseable {
    // The members that are hidden from the documentation are protected because classes of other packages and modules of
    // this library need them. Programs have no Lifetime to construct a subclass with, and so cannot call them.

    private final Lifetime life;
    private final long address;
    private final long size;

    /**
     * For the classes of this library.
     *
     * @param life the life of the object, begun under its parents
     * @param address the address of the C object
     * @param size the size of its struct in bytes
     * @hidden
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
     * Returns the C object itself.
     *
     * @return a segment at its address, as long as its struct; it must not be used after {@link #close()}
     * @throws IllegalStateException when closed
     */
    public final MemorySegment handle() {
        life.ensureOpen();
        return Memory.view(address, size);
    }

    /** Returns whether the object is open: neither closed nor being closed. Never throws. */
    public final boolean isOpen() {
        return life.isOpen();
    }

    /**
     * Frees the C object. Has no effect when it is closed.
     *
     * @throws IllegalStateException when an object made from this one is still open; then nothing was changed
     * @throws RdmaException when C could not free it; then it is still open
     */
    @Override
    public void close() throws RdmaException {
        life.close(this::wakeWaiters, this::destroy);
    }

    /**
     * Frees the C object. Called by a close, once, when no thread is inside a method of the object.
     *
     * @hidden
     */
    protected abstract void destroy() throws RdmaException;

    /**
     * Wakes threads that wait inside a method of the object. Called by a close before it waits for them.
     *
     * @hidden
     */
    protected void wakeWaiters() {
        // most objects have no waiting methods
    }

    /**
     * Returns the life of the object.
     *
     * @hidden
     */
    @SuppressWarnings("exports")
    protected final Lifetime life() {
        return life;
    }

    /**
     * Returns the address of the C object, also when it is closed.
     *
     * @hidden
     */
    protected final long address() {
        return address;
    }

    /**
     * Returns a member of the C object, which cannot be freed meanwhile.
     *
     * @param offset of the member in the struct, in bytes
     * @throws IllegalStateException when closed
     * @hidden
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
}
