// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.life.LeakDetector;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * Base class of everything that wraps an object of a C library and has to be closed. Unless a subclass says otherwise,
 * these rules hold for all of them:
 * <ul>
 * <li><b>Closing.</b> {@link #close()} frees the C object; closing it again has no effect. An object cannot be closed
 * before those that were created from it: the close then fails with an {@link IllegalStateException} that lists them,
 * and changes nothing.
 * <li><b>Use after close</b> throws {@link IllegalStateException}.
 * <li><b>Threads.</b> All methods may be called from any thread. A close wakes the threads that wait inside a method of
 * the object, and returns only when no thread is inside one any more. A virtual thread that was asleep there leaves
 * when it finds a carrier, which may be later.
 * <li><b>Access to C.</b> {@link #handle()} returns the C object, for functions that this library does not wrap.
 * </ul>
 *
 * <p>This class cannot be extended outside this library.
 */
public abstract class NativeObject implements AutoCloseable {
    // Members tagged @hidden are protected because other packages and modules of this library need them. Programs have
    // no way to obtain a Lifetime, so they can neither construct a subclass nor call these members.

    private final Lifetime life;
    private final long address;
    private final long size;

    /**
     * Creates an object of this library.
     *
     * @param life the lifetime of the object, already registered with its parents
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
     * @return a segment at the address of the C object, with the size of its struct; using it after {@link #close()}
     *         throws {@link IllegalStateException}
     * @throws IllegalStateException if the object is closed
     */
    public final MemorySegment handle() {
        return life.view(address, size);
    }

    /** {@return whether the object is open, that is, neither closed nor being closed} Never throws. */
    public final boolean isOpen() {
        return life.isOpen();
    }

    /**
     * Frees the C object. Has no effect if the object is closed already.
     *
     * @throws IllegalStateException if an object created from this one is still open; nothing has been changed
     * @throws RdmaException if the C library fails to free the object (the error number is the library's); the object
     *         then remains open. Whatever else is thrown, {@code close} can be called again
     */
    @Override
    public void close() throws RdmaException {
        if (!life.isClosed()) {
            requireClosable();
        }
        life.close(this::wakeWaiters, this::destroy);
    }

    /**
     * Checks that this thread does not hold what a close waits for, because it would wait for itself. Called by a close
     * before anything else.
     *
     * @throws IllegalStateException if it does; nothing has been changed
     * @hidden
     */
    protected void requireClosable() {
        // most closes wait for nothing that a thread can hold
    }

    /**
     * Frees the C object. Called once by a close, when no thread is inside a method of the object.
     *
     * @throws RdmaException if the C library fails to free it; the object then remains open
     * @hidden
     */
    protected void destroy() throws RdmaException {
        life.free();
    }

    /**
     * Wakes the threads that wait inside a method of the object. Called by a close before it waits for them to leave.
     *
     * @hidden
     */
    protected void wakeWaiters() {
        // most objects have no waiting methods
    }

    /**
     * {@return the lifetime of the object}
     *
     * @hidden
     */
    @SuppressWarnings("exports")
    protected final Lifetime life() {
        return life;
    }

    /**
     * {@return the address of the C object, even if it is closed}
     *
     * @hidden
     */
    protected final long address() {
        return address;
    }

    /**
     * Reads an {@code int} member of the C struct. The object cannot be freed meanwhile.
     *
     * @param offset the offset of the member in the struct, in bytes
     * @return the value of the member
     * @throws IllegalStateException if the object is closed
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
