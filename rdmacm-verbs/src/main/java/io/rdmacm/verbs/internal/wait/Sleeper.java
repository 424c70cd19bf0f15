// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.wait;

import io.rdmacm.verbs.error.RdmaException;

/** Where one thread at a time sleeps until a file is readable. */
public interface Sleeper {
    /**
     * Sleeps until a file is readable, the time has run out, or {@link #wake()} is called. Does not report which of
     * these happened.
     *
     * @param nanos the time; at least half of Long.MAX_VALUE for no limit
     * @throws InterruptedException if this thread was interrupted
     */
    void await(long nanos) throws RdmaException, InterruptedException;

    /** Ends the current sleep, or if there is none, the next one. */
    void wake();

    /**
     * Ends the current sleep because its files are about to be closed: a virtual thread does not touch them any more
     * when it gets up, however late. No platform thread may be asleep.
     */
    default void leaveFiles() throws RdmaException {
        wake();
    }

    /**
     * Frees what threads have slept with. No platform thread may be asleep. A virtual thread may: it does not touch the
     * files any more when it gets up, however late.
     */
    void close() throws RdmaException;
}
