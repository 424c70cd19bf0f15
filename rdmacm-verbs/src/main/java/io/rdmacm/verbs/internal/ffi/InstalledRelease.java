// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import io.rdmacm.bindings.NativeLibrary;
import io.rdmacm.verbs.error.NativeLibraryException;

/** The release of the installed library, for functions that are inline in the C headers: they have no symbol. */
public final class InstalledRelease {
    private InstalledRelease() {
    }

    /**
     * Checks that the installed library is not older than an inline function. A library whose release is not known
     * passes: then the driver decides what it supports.
     *
     * @param function the name of the function
     * @param since the release of rdma-core that it came with
     */
    public static void require(String function, int since) throws NativeLibraryException {
        NativeLibrary library = NativeLibrary.of(function);
        String installed = library.release().orElse("");
        if (!installed.isEmpty() && Integer.parseInt(installed.substring(0, installed.indexOf('.'))) < since) {
            throw NativeLibraryException.missingSymbol(function, library.soname(), library.debianPackage(),
                    "rdma-core " + since, installed);
        }
    }
}
