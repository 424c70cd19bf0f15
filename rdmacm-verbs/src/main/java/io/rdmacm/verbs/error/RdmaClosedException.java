// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.error;

/** Something was refused, or a wait ended, because the object was closed: by this program, in whichever thread. */
public class RdmaClosedException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception without an error number.
     *
     * @param function the C function, or the operation, that was waited for
     * @param closed the object that was closed
     */
    public RdmaClosedException(String function, String closed) {
        super(function, function + ": " + closed + " was closed");
    }
}
