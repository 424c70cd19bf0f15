// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.error;

import org.jspecify.annotations.Nullable;

/**
 * A shared library, or a function in it, is missing or cannot be used. The message names it, the function that needed
 * it, and the package to install or the reason.
 */
public final class NativeLibraryException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /** The file name of the library. */
    private final String library;

    /**
     * Creates an exception.
     *
     * @param library the file name of the library
     * @param function the function that was called
     * @param message what is wrong, and what to do about it
     * @param cause why the library could not be loaded; may be null
     */
    public NativeLibraryException(String library, String function, String message, @Nullable Throwable cause) {
        super(function, message);
        this.library = library;
        if (cause != null) {
            initCause(cause);
        }
    }

    /** {@return the file name of the library} */
    public String library() {
        return library;
    }
}
