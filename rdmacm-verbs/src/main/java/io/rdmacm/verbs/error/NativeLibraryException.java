// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.error;

/** A shared library, or a function in it, is not there. The message says which, what needs it, and what to install. */
public class NativeLibraryException extends RdmaException {
    private static final long serialVersionUID = 1L;

    private final String library;

    private NativeLibraryException(String library, String function, String message, Throwable cause) {
        super(function, message);
        this.library = library;
        if (cause != null) {
            initCause(cause);
        }
    }

    /** For the loader: the library cannot be loaded. */
    public static NativeLibraryException missingLibrary(String library, String neededBy, String debianPackage,
            Throwable cause) {
        return new NativeLibraryException(library, neededBy, "cannot load " + library + ", which " + neededBy
                + " needs: install the Debian or Ubuntu package " + debianPackage + ", elsewhere rdma-core", cause);
    }

    /** For the loader: the library lacks a function. */
    public static NativeLibraryException missingSymbol(String symbol, String library, String debianPackage) {
        return new NativeLibraryException(library, symbol, library + " has no function " + symbol
                + ": the installed rdma-core is too old, update the package " + debianPackage, null);
    }

    /** For the loader: the library must not be loaded with so little room for the files that it opens. */
    public static NativeLibraryException tooFewFiles(String library, String neededBy, int files) {
        return new NativeLibraryException(library, neededBy, "cannot use " + library + ", which " + neededBy
                + " needs: it opens files, and fewer than " + files + " more may be opened -"
                + " the limit of open files (ulimit -n) is reached", null);
    }

    /** The file name of the library. */
    public String library() {
        return library;
    }
}
