// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.error;

/** What a thread was waiting on was closed by another thread while it waited. */
public class RdmaClosedException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /**
     * A wait that was ended by close().
     *
     * @param function what was waited for
     * @param closed what was closed
     */
    public RdmaClosedException(String function, String closed) {
        super(function, function + ": " + closed + " was closed by another thread");
    }
}
