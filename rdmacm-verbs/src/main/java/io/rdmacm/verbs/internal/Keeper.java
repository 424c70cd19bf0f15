// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal;

/**
 * Pins an object that belongs to a C library: keeps the library from freeing it while it is in use here, by a call or
 * by an open object that was created from it. Usually the library has a reason of its own to keep the object. Only when
 * the last of these reasons goes away, or there is none, is a hold taken, and it ends with the last use.
 */
public abstract class Keeper {
    // guarded by this
    private int uses;
    private boolean held;
    private boolean gone;

    /** Whether the library keeps the object anyway. Called with the lock held. */
    protected abstract boolean isKept();

    /** Makes the library keep the object; false when it has freed it already. Called with the lock held. */
    protected abstract boolean hold();

    /** Ends the hold. Called with the lock held. */
    protected abstract void letGo();

    /** Begins a use; false when the object was freed. */
    synchronized boolean use() {
        if (gone) {
            return false;
        }
        if (!held && !isKept()) {
            if (!hold()) {
                gone = true;
                return false;
            }
            held = true;
        }
        uses++;
        return true;
    }

    /** Ends a use. */
    synchronized void unuse() {
        uses--;
        if (uses == 0 && held) {
            held = false;
            letGo();
        }
    }

    /** The object was freed, and another one is at its address now. */
    synchronized void replaced() {
        gone = true;
    }

    /**
     * One of the library's reasons is about to go away; {@link #isKept()} does not count it any more.
     *
     * @return false when the library would then free the object while it is in use
     */
    public synchronized boolean keepFurther() {
        if (uses > 0 && !held && !isKept()) {
            held = hold();
            return held;
        }
        return true;
    }
}
