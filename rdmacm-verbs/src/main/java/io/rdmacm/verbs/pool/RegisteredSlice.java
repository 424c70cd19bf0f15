// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.pool;

import java.lang.foreign.MemorySegment;

import io.rdmacm.verbs.MemoryRegion;

/**
 * A slice of a {@link RegisteredPool}, from {@link RegisteredPool#take()} to {@link #close()}. Each take returns a new
 * object; a slice that was closed stays closed, whoever has taken its memory since. All methods may be called from any
 * thread.
 *
 * <p>{@link #close()} gives the memory to the next one who takes a slice. Work requests that use it must have completed
 * by then, and segments from {@link #memory()} must not be used any more: the processor cannot be kept from it, and
 * would read and write what belongs to somebody else.
 */
public final class RegisteredSlice implements AutoCloseable {
    private final Slot slot;
    private final long generation;

    RegisteredSlice(Slot slot, long generation) {
        this.slot = slot;
        this.generation = generation;
    }

    /**
     * Returns the memory of the slice. It holds whatever its last user left in it.
     *
     * @return a segment of {@link #length()} bytes at a multiple of 64, which any thread may access
     * @throws IllegalStateException if the slice is closed
     */
    public MemorySegment memory() {
        return open().memory;
    }

    /**
     * Returns the memory region that the slice is part of, for work requests. It belongs to the pool: it cannot be
     * closed before the pool is, and must not be reregistered.
     *
     * @return the region
     * @throws IllegalStateException if the slice is closed
     */
    public MemoryRegion region() {
        return open().region;
    }

    /**
     * Returns where the slice begins in {@link #region()}.
     *
     * @return the offset in bytes, a multiple of 64
     * @throws IllegalStateException if the slice is closed
     */
    public long offset() {
        return open().offset;
    }

    /**
     * Returns the length of the slice.
     *
     * @return the length in bytes, that of all slices of the pool
     * @throws IllegalStateException if the slice is closed
     */
    public int length() {
        return (int) open().memory.byteSize();
    }

    /** {@return whether the slice is open} Never throws. */
    public boolean isOpen() {
        return slot.isOpen(generation);
    }

    /** Gives the slice back to its pool. Has no effect if that has been done before. Never waits. */
    @Override
    public void close() {
        slot.giveBack(generation);
    }

    private Slot open() {
        if (!slot.isOpen(generation)) {
            throw new IllegalStateException("RegisteredSlice is closed");
        }
        return slot;
    }

    @Override
    public String toString() {
        return "RegisteredSlice[" + slot + "]" + (isOpen() ? "" : " (closed)");
    }
}
