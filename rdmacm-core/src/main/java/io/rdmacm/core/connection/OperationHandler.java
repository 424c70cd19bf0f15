// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import io.rdmacm.verbs.error.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * Is told when an operation of an {@link OperationQueue} has finished. One handler may serve any number of operations
 * and connections; the context tells them apart.
 */
@FunctionalInterface
public interface OperationHandler {
    /**
     * Called once for each operation, in the order in which the operations of a connection were started, by the thread
     * that drives the connection (see {@link ConnectionHandler}). Must not wait. An Error ends the connection.
     *
     * @param connection the connection
     * @param context the value that was given with the operation
     * @param failure null if the operation succeeded; otherwise why it failed, which has also ended the connection
     */
    void completed(Connection connection, long context, @Nullable RdmaException failure);
}
