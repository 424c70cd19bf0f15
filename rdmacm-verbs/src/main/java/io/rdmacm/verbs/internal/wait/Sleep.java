// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import io.rdmacm.verbs.error.RdmaException;

/** The way in which a thread sleeps in a {@link Poller}. */
interface Sleep {
    /**
     * Sleeps until a file is readable, the time has run out, the thread is interrupted or {@link #wake()} is called.
     */
    void run(long nanos) throws RdmaException;

    /** Ends the sleep, also one that is about to begin. Called at most once in a sleep, by any thread. */
    void wake();

    /** Called after a sleep in which {@link #wake()} was called. */
    void woken() throws RdmaException;

    /** Called when the files are about to be closed while the thread still sleeps. */
    void abandon() throws RdmaException;
}
