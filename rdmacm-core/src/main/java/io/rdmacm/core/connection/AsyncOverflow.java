// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

/** What becomes of an operation of {@link Connection#async()} when too many already wait for room. */
public enum AsyncOverflow {
    /** Its future fails at once. */
    REFUSE,
    /** The call waits until it is the operation's turn to wait: for threads that produce faster than the peer takes. */
    WAIT
}
