// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.lang.ref.WeakReference;

/** An object that a test has lost, and that the garbage collector may find. */
public final class Lost {
    private final WeakReference<Object> reference;

    /** Watches an object, of which the caller keeps no reference. */
    public Lost(Object object) {
        reference = new WeakReference<>(object);
    }

    /** Returns whether the object is still there after the collector has found another one that was lost later. */
    public boolean isKept() {
        new Lost(new Object()).awaitCollected();
        return reference.get() != null;
    }

    /** Waits until the collector has found the object. */
    public void awaitCollected() {
        while (reference.get() != null) {
            System.gc();
        }
    }
}
