// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.pool;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.LeakDetector;
import io.rdmacm.verbs.internal.life.Lifetime;
import org.jspecify.annotations.Nullable;

/**
 * The place of a slice in its pool. It lives as long as the pool; the {@link RegisteredSlice}s that programs see come
 * and go, and only the latest can use or free it.
 */
final class Slot {
    private static final VarHandle GENERATION;

    static {
        try {
            GENERATION = MethodHandles.lookup().findVarHandle(Slot.class, "generation", long.class);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** The pool's free slices, where this one returns to. */
    final FreeList list;
    /** Its number in the list, from 1. */
    final int index;
    final MemoryRegion region;
    final long offset;
    final MemorySegment memory;

    /** The number of the slice below this one in the list. Written by who frees this one. */
    int below;
    /** The number of free slices from this one down. Written by who frees this one. */
    int depth;

    // The number of times that the slice has been given back. 64 bits, so that a slice that is kept for years after
    // its close is not taken for a new one.
    private volatile long generation;
    // null unless leak detection is on and the slice is taken
    private volatile @Nullable Lifetime life;

    Slot(FreeList list, int index, MemoryRegion region, long offset, MemorySegment memory) {
        this.list = list;
        this.index = index;
        this.region = region;
        this.offset = offset;
        this.memory = memory;
    }

    /** Creates the slice of the caller, who has just taken this slot off the list. */
    RegisteredSlice take() {
        try {
            RegisteredSlice slice = new RegisteredSlice(this, generation);
            if (LeakDetector.ON) {
                watch(slice);
            }
            return slice;
        } catch (Throwable t) {
            // there was no memory: nobody else could give it back, and the pool could not be closed without it
            giveBack(generation);
            throw t;
        }
    }

    /** Gives the slot back, unless that has been done before. */
    void giveBack(long taken) {
        if (GENERATION.compareAndSet(this, taken, taken + 1)) {
            if (LeakDetector.ON) {
                unwatch();
            }
            list.push(this);
        }
    }

    /** Returns whether the slice of a generation is open. */
    boolean isOpen(long taken) {
        return generation == taken;
    }

    private void watch(RegisteredSlice slice) {
        // without a reference to the slot, which leads to regions that may have been lost too
        String text = this.toString();
        Lifetime watched = Lifetime.begin(RegisteredSlice.class);
        life = watched;
        watched.describe(() -> text);
        LeakDetector.watch(slice, watched);
    }

    private void unwatch() {
        Lifetime watched = life;
        try {
            if (watched != null) {
                watched.close(() -> { }, () -> { });
            }
        } catch (RdmaException e) {
            throw new AssertionError("nothing is called that could fail", e);
        }
    }

    @Override
    public String toString() {
        return memory.byteSize() + " bytes at " + offset + " of " + region;
    }
}
