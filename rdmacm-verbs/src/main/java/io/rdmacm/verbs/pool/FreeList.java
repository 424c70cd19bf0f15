// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.pool;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

import io.rdmacm.verbs.MemoryRegion;
import org.jspecify.annotations.Nullable;

/**
 * The free slices of a pool: a stack that any thread pushes to and pops from with one compare-and-set, so that the
 * slice that was used last, whose memory is in the cache, is used next.
 *
 * <p>The head holds the number of the topmost slice and a version. Each push changes the version, so a pop that was
 * held up while its slice was taken and given back by others (the ABA problem) fails and starts again; 40 bits of
 * version would have to overflow meanwhile. Numbers rather than references, because the garbage collector has to be
 * told of each reference that is stored in an old object.
 *
 * <p>Each free slice knows how many are free from it down. As the head cannot change unnoticed, a close can tell in one
 * step that all slices are there and that none will be taken any more.
 */
final class FreeList {
    /** The largest number of slices in a list. */
    static final int MOST = 0xff_fffe;

    private static final int ALIGNMENT = 64;
    private static final int INDEX = 0xff_ffff;
    private static final long VERSION = INDEX + 1L;
    // no head has this index
    private static final long ENDED = -1;
    private static final VarHandle HEAD;

    static {
        try {
            HEAD = MethodHandles.lookup().findVarHandle(FreeList.class, "head", long.class);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    // version * VERSION + the number of the topmost slice, or 0 if none is free
    private volatile long head;
    // By number; 0 is the bottom of the stack. Replaced before the head can name a new slice, so whoever has read the
    // head finds its slice here. null when the list has ended.
    @SuppressWarnings("NullAway") // the bottom is no slice
    private Slot[] slots = {new Slot(this, 0, null, 0, MemorySegment.NULL)};
    // written under the lock of the pool
    private volatile int size;

    /** Returns the number of slices, free or taken. */
    int size() {
        return size;
    }

    /**
     * Takes the topmost slice.
     *
     * @return the slice; null if none is free
     * @throws IllegalStateException if the list has ended
     */
    @Nullable Slot pop() {
        while (true) {
            long top = head;
            Slot[] all = slots;
            if (top == ENDED || all == null) {
                throw ended();
            }
            int index = (int) top & INDEX;
            if (index == 0) {
                return null;
            }
            Slot slot = all[index];
            if (HEAD.compareAndSet(this, top, top - index + slot.below)) {
                return slot;
            }
            Thread.onSpinWait();
        }
    }

    /** Gives a slice back. The list cannot have ended, because this slice was missing. */
    void push(Slot slot) {
        while (true) {
            long top = head;
            int index = (int) top & INDEX;
            slot.below = index;
            slot.depth = slots[index].depth + 1;
            if (HEAD.compareAndSet(this, top, top - index + VERSION + slot.index)) {
                return;
            }
            Thread.onSpinWait();
        }
    }

    /**
     * Adds the slices of a new slab, which are free from now on, except the first. Called under the lock of the pool.
     *
     * @param region the slab
     * @param memory its memory
     * @param bytes the size of a slice
     * @return the first slice, which belongs to the caller
     */
    Slot add(MemoryRegion region, MemorySegment memory, int bytes) {
        int first = size + 1;
        Slot[] all = Arrays.copyOf(slots, first + (int) (memory.byteSize() / bytes));
        for (int i = first; i < all.length; i++) {
            long offset = (long) (i - first) * bytes;
            all[i] = new Slot(this, i, region, offset, memory.asSlice(offset, bytes, ALIGNMENT));
        }
        slots = all;
        // one by one: others may pop and push meanwhile, and a long chain would have to be counted again each time
        for (int i = all.length - 1; i > first; i--) {
            size = first + all.length - 1 - i;
            push(all[i]);
        }
        size = all.length - 1;
        return all[first];
    }

    /**
     * Returns the number of free slices.
     *
     * @throws IllegalStateException if the list has ended
     */
    int free() {
        long top = head;
        Slot[] all = slots;
        if (top == ENDED || all == null) {
            throw ended();
        }
        return all[(int) top & INDEX].depth;
    }

    /**
     * Ends the list if all slices are free. Called under the lock of the pool.
     *
     * @return the number of slices that are missing, at one moment during the call; 0 if the list has ended
     */
    @SuppressWarnings("NullAway") // null: the list has ended
    int end() {
        while (true) {
            long top = head;
            if (top == ENDED) {
                return 0;
            }
            int missing = size - slots[(int) top & INDEX].depth;
            if (missing == 0 && HEAD.compareAndSet(this, top, ENDED)) {
                // whoever keeps the pool must not keep its memory
                slots = null;
                return 0;
            }
            if (missing > 0 && head == top) {
                return missing;
            }
            Thread.onSpinWait();
        }
    }

    /** Returns whether the list has ended. */
    boolean hasEnded() {
        return head == ENDED;
    }

    private static IllegalStateException ended() {
        return new IllegalStateException("RegisteredPool is closed");
    }
}
