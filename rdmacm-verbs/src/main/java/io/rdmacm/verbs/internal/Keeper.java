// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal;

/**
 * Keeps C from freeing something of its own while it is in use here: by calls that are inside, and by objects made of
 * it. Most of the time C has reasons to keep it anyway; only when the last of these goes, a hold is asked for.
 */
public abstract class Keeper {
    // guarded by this
    private int uses;
    private boolean held;
    private boolean gone;

    /** Whether C keeps it for another reason. Called with the lock held. */
    protected abstract boolean isKept();

    /** Has C keep it; false when it is not there any more. Called with the lock held. */
    protected abstract boolean hold();

    /** Ends the hold. Called with the lock held. */
    protected abstract void letGo();

    /** Begins a use, if the thing is still there. */
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

    synchronized void unuse() {
        uses--;
        if (uses == 0 && held) {
            held = false;
            letGo();
        }
    }

    /** What is at its place now is another thing. */
    synchronized void replaced() {
        gone = true;
    }

    /**
     * One of the reasons is about to go, and {@link #isKept()} does not count it any more.
     *
     * @return false when the thing would go too while it is in use
     */
    public synchronized boolean keepFurther() {
        if (uses > 0 && !held && !isKept()) {
            held = hold();
            return held;
        }
        return true;
    }
}
