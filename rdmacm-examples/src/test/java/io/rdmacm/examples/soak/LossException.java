// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.examples.soak;

/** Something did not come out as it must: data was lost or wrong, or a fault was not seen as what it was. */
final class LossException extends Exception {
    private static final long serialVersionUID = 1L;

    LossException(String message) {
        super(message);
    }

    LossException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Fails unless a condition is met. */
    static void unless(boolean met, String message, Object... arguments) throws LossException {
        if (!met) {
            throw new LossException(String.format(message, arguments));
        }
    }
}
