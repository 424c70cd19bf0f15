// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import io.rdmacm.verbs.error.NativeLibraryException;

/** What is thrown when a library, or a function in it, is missing or cannot be used. */
final class LibraryFailures {
    private LibraryFailures() {
    }

    /** Returns the exception for a library that cannot be loaded. */
    static NativeLibraryException missingLibrary(String library, String neededBy, String debianPackage,
            Throwable cause) {
        return new NativeLibraryException(library, neededBy, "cannot load " + library + ", which " + neededBy
                + " needs: install the Debian or Ubuntu package " + debianPackage + ", elsewhere rdma-core", cause);
    }

    /** Returns the exception for a library that is installed but cannot be loaded. */
    static NativeLibraryException unusableLibrary(String library, String neededBy, String reason,
            Throwable cause) {
        return new NativeLibraryException(library, neededBy, "cannot load " + library + ", which " + neededBy
                + " needs, although it is installed: " + reason, cause);
    }

    /** Returns the exception for a library that lacks a function. */
    static NativeLibraryException missingSymbol(String symbol, String library, String debianPackage) {
        return missingSymbol(symbol, library, debianPackage, "", "");
    }

    /** Like {@link #missingSymbol(String, String, String)}, for a function that not every supported release has. */
    static NativeLibraryException missingSymbol(String symbol, String library, String debianPackage,
            String since, String installed) {
        return new NativeLibraryException(library, symbol, library + " has no function " + symbol
                + (since.isEmpty() ? "" : ", which came with " + since) + ": the installed rdma-core"
                + (installed.isEmpty() ? "" : " " + installed) + " is too old, update the package " + debianPackage,
                null);
    }

    /** Returns the exception for a library that was not loaded because the limit of open files is nearly reached. */
    static NativeLibraryException tooFewFiles(String library, String neededBy, int files) {
        return new NativeLibraryException(library, neededBy, "cannot use " + library + ", which " + neededBy
                + " needs: it opens files, but fewer than " + files + " more can be opened before the limit of open"
                + " files (ulimit -n) is reached", null);
    }
}
