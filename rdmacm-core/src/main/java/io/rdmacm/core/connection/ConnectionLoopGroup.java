// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import java.util.LinkedHashMap;
import java.util.Map;

import io.rdmacm.core.internal.engine.DeviceResources;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.metrics.MetricSource;

/**
 * One or more {@link ConnectionLoop}s. A connection stays in the loop that it was given when it was created; a group
 * gives its loops in turn.
 *
 * <p>All methods may be called from any thread.
 */
public abstract sealed class ConnectionLoopGroup implements MetricSource, AutoCloseable
        permits ConnectionLoop, LoopThreads {
    ConnectionLoopGroup() {
    }

    /** Returns the loop for the next connection over a device. */
    abstract ConnectionLoop next(ConnectionManager manager, DeviceResources device) throws RdmaException;

    /** {@return how many connections the loops drive} */
    public abstract int connections();

    /** {@return how many completions the loops have taken so far} */
    public abstract long completions();

    /** {@return the numbers of connections and of completions} */
    @Override
    public final Map<String, Long> metrics() {
        Map<String, Long> metrics = new LinkedHashMap<>();
        metrics.put("connections", (long) connections());
        metrics.put("completions", completions());
        return metrics;
    }

    /** Checks that this thread is not inside a handler of the loops. */
    abstract void requireNotInHandler();

    /**
     * Ends the loops and frees their queues. Has no effect when called again.
     *
     * @throws IllegalStateException when connections of the group are still open or being made; nothing has changed
     * @throws RdmaException when C cannot free a queue; call this again
     */
    @Override
    public abstract void close() throws RdmaException;
}
