// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.life;

/**
 * Keeps C from freeing a context of its own while it is in use here: by calls that are inside, and by objects made from
 * it. C usually has reasons of its own to keep it; only when the last of these goes is the context pinned.
 */
public abstract class ContextPin {
    // guarded by this
    private int uses;
    private boolean pinned;
    private boolean gone;

    /** Returns whether C keeps the context for a reason of its own. Called with the lock held. */
    protected abstract boolean isKeptByC();

    /** Makes C keep the context; returns false when it is freed already. Called with the lock held. */
    protected abstract boolean pin();

    /** Undoes {@link #pin()}. Called with the lock held. */
    protected abstract void unpin();

    /** Begins a use; returns false when the context is freed. */
    synchronized boolean beginUse() {
        if (gone) {
            return false;
        }
        if (!pinned && !isKeptByC()) {
            if (!pin()) {
                gone = true;
                return false;
            }
            pinned = true;
        }
        uses++;
        return true;
    }

    /** Ends a use. */
    synchronized void endUse() {
        uses--;
        if (uses == 0 && pinned) {
            pinned = false;
            unpin();
        }
    }

    /** The context is freed, and another one is at its address. */
    synchronized void replaced() {
        gone = true;
    }

    /**
     * Pins the context if it is in use and C has no reason of its own left to keep it. Called when such a reason is
     * about to go, and {@link #isKeptByC} does not count it any more.
     *
     * @return false when C would free the context while it is in use
     */
    public synchronized boolean pinIfInUse() {
        if (uses > 0 && !pinned && !isKeptByC()) {
            pinned = pin();
            return pinned;
        }
        return true;
    }
}
