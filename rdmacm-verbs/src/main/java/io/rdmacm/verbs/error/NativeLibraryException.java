// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.error;

import org.jspecify.annotations.Nullable;

/**
 * A shared library, or a function in it, is missing or cannot be used. The message names it, the function that needed
 * it, and the package to install or the reason.
 */
public class NativeLibraryException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /** The file name of the library. */
    private final String library;

    private NativeLibraryException(String library, String function, String message, @Nullable Throwable cause) {
        super(function, message);
        this.library = library;
        if (cause != null) {
            initCause(cause);
        }
    }

    /**
     * Returns the exception for a library that cannot be loaded. Meant for the loader of this library.
     *
     * @param library the file name of the library
     * @param neededBy the function that was called
     * @param debianPackage the Debian or Ubuntu package that contains the library
     * @param cause why it could not be loaded
     * @return the exception
     */
    public static NativeLibraryException missingLibrary(String library, String neededBy, String debianPackage,
            Throwable cause) {
        return new NativeLibraryException(library, neededBy, "cannot load " + library + ", which " + neededBy
                + " needs: install the Debian or Ubuntu package " + debianPackage + ", elsewhere rdma-core", cause);
    }

    /**
     * Returns the exception for a library that is installed but cannot be loaded. Meant for the loader of this library.
     *
     * @param library the file name of the library
     * @param neededBy the function that was called
     * @param reason what the dynamic linker says
     * @param cause what was thrown
     * @return the exception
     */
    public static NativeLibraryException unusableLibrary(String library, String neededBy, String reason,
            Throwable cause) {
        return new NativeLibraryException(library, neededBy, "cannot load " + library + ", which " + neededBy
                + " needs, although it is installed: " + reason, cause);
    }

    /**
     * Returns the exception for a library that lacks a function. Meant for the loader of this library.
     *
     * @param symbol the name of the function
     * @param library the file name of the library
     * @param debianPackage the Debian or Ubuntu package that contains the library
     * @return the exception
     */
    public static NativeLibraryException missingSymbol(String symbol, String library, String debianPackage) {
        return missingSymbol(symbol, library, debianPackage, "", "");
    }

    /**
     * Like {@link #missingSymbol(String, String, String)}, for a function that not every supported release has.
     *
     * @param symbol the name of the function
     * @param library the file name of the library
     * @param debianPackage the Debian or Ubuntu package that contains the library
     * @param since the release that the function came with; may be empty
     * @param installed the release of the library; empty if it is not known
     * @return the exception
     */
    public static NativeLibraryException missingSymbol(String symbol, String library, String debianPackage,
            String since, String installed) {
        return new NativeLibraryException(library, symbol, library + " has no function " + symbol
                + (since.isEmpty() ? "" : ", which came with " + since) + ": the installed rdma-core"
                + (installed.isEmpty() ? "" : " " + installed) + " is too old, update the package " + debianPackage,
                null);
    }

    /**
     * Returns the exception for a library that was not loaded because the limit of open files is nearly reached. Meant
     * for the loader of this library.
     *
     * @param library the file name of the library
     * @param neededBy the function that was called
     * @param files the number of files that the library must be able to open
     * @return the exception
     */
    public static NativeLibraryException tooFewFiles(String library, String neededBy, int files) {
        return new NativeLibraryException(library, neededBy, "cannot use " + library + ", which " + neededBy
                + " needs: it opens files, but fewer than " + files + " more can be opened before the limit of open"
                + " files (ulimit -n) is reached", null);
    }

    /** {@return the file name of the library} */
    public String library() {
        return library;
    }
}
