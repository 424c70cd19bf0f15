// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

/** A wrong result: data was lost or corrupted, or a fault was not reported as it should be. */
final class LossException extends Exception {
    private static final long serialVersionUID = 1L;

    LossException(String message) {
        super(message);
    }

    LossException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Throws this exception unless a condition holds. */
    static void unless(boolean met, String message, Object... arguments) throws LossException {
        if (!met) {
            throw new LossException(String.format(message, arguments));
        }
    }
}
