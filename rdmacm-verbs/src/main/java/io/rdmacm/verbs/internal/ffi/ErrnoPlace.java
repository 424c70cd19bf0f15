// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Memory into which one call at a time captures errno. There are as many places as threads have been in C at once, so
 * that a call allocates nothing, and a virtual thread leaves nothing behind. The value is whether a call is using it.
 */
@SuppressWarnings("serial")
final class ErrnoPlace extends AtomicBoolean {
    private static final int AT_FIRST = 16;
    // that of a cache line
    private static final int SIZE = 64;

    // the length is a power of two
    private static volatile ErrnoPlace[] all = new ErrnoPlace[0];

    private final transient MemorySegment memory;

    private ErrnoPlace(MemorySegment memory) {
        this.memory = memory;
    }

    /** Returns a free place, for a call that is about to be made. */
    static ErrnoPlace take() {
        int first = (int) Thread.currentThread().threadId();
        while (true) {
            ErrnoPlace[] places = all;
            for (int i = 0; i < places.length; i++) {
                ErrnoPlace place = places[first + i & places.length - 1];
                if (!place.get() && place.compareAndSet(false, true)) {
                    return place;
                }
            }
            // If two threads do this at once, the places of one are garbage as soon as they are free.
            all = twiceAsMany(places);
        }
    }

    private static ErrnoPlace[] twiceAsMany(ErrnoPlace[] places) {
        ErrnoPlace[] more = Arrays.copyOf(places, Math.max(AT_FIRST, 2 * places.length));
        MemorySegment memory = Arena.ofAuto().allocate((long) SIZE * more.length, SIZE);
        for (int i = places.length; i < more.length; i++) {
            more[i] = new ErrnoPlace(memory.asSlice((long) SIZE * i, Downcalls.CAPTURED));
        }
        return more;
    }

    MemorySegment memory() {
        return memory;
    }

    /** Makes this place free again, and returns what the call has captured. */
    int giveBack() {
        int errno = memory.get(ValueLayout.JAVA_INT, Downcalls.ERRNO_OFFSET);
        setRelease(false);
        return errno;
    }
}
