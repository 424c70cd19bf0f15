// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.life;

/**
 * Keeps librdmacm from freeing a context that it owns while the context is in use here: by calls in progress, and by
 * objects created from it. Usually librdmacm keeps the context for reasons of its own; it is pinned only when the last
 * of these goes away.
 */
public abstract class ContextPin {
    // guarded by this
    private int uses;
    private boolean pinned;
    private boolean gone;

    /** Returns whether C keeps the context for reasons of its own. Called with the lock held. */
    protected abstract boolean isKeptByC();

    /** Makes C keep the context; returns false if it has been freed already. Called with the lock held. */
    protected abstract boolean pin();

    /** Undoes {@link #pin()}. Called with the lock held. */
    protected abstract void unpin();

    /** Begins a use; returns false if the context has been freed. */
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

    /** Called when the context has been freed and another one was created at its address. */
    synchronized void replaced() {
        gone = true;
    }

    /**
     * Pins the context if it is in use and C has no reason of its own left to keep it. Called when such a reason is
     * about to go away and {@link #isKeptByC} does not count it any more.
     *
     * @return false if the context is in use but could not be pinned
     */
    public synchronized boolean pinIfInUse() {
        if (uses > 0 && !pinned && !isKeptByC()) {
            pinned = pin();
            return pinned;
        }
        return true;
    }
}
