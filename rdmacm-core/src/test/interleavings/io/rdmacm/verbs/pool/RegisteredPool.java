// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.pool;

import java.util.concurrent.atomic.AtomicInteger;

import io.rdmacm.verbs.testing.Interleavings;

/** Stands in for the class of this name, in plain Java. */
public final class RegisteredPool {
    private final int sliceSize;
    private final AtomicInteger taken = new AtomicInteger();

    /** Creates a pool of slices of a size. */
    public RegisteredPool(int sliceSize) {
        this.sliceSize = sliceSize;
    }

    /** Takes a slice. */
    public RegisteredSlice take() {
        Interleavings.point();
        taken.incrementAndGet();
        return new RegisteredSlice(sliceSize, this);
    }

    void giveBack() {
        taken.decrementAndGet();
    }

    /** Returns how many slices are in use. */
    public int taken() {
        return taken.get();
    }
}
