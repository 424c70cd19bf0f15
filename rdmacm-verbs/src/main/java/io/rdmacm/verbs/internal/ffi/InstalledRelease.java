// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import io.rdmacm.bindings.NativeLibrary;
import io.rdmacm.verbs.error.NativeLibraryException;

/**
 * The release of the installed libibverbs, for what no symbol tells: functions that are inline in the C headers, and
 * flags. It is known from the name of the library's file. A library with another name counts as new enough: then the
 * driver decides what it supports.
 */
public final class InstalledRelease {
    private static final NativeLibrary LIBRARY = NativeLibrary.LIBIBVERBS;

    private InstalledRelease() {
    }

    /** Returns whether the installed library is known to be older than a release of rdma-core. */
    public static boolean isBefore(int release) {
        return LIBRARY.release().map(installed -> Integer.parseInt(installed.substring(0, installed.indexOf('.'))))
                .filter(installed -> installed < release).isPresent();
    }

    /**
     * Checks that the installed library is not older than an inline function.
     *
     * @param function the name of the function
     * @param since the release of rdma-core that it came with
     */
    public static void require(String function, int since) throws NativeLibraryException {
        if (isBefore(since)) {
            throw LibraryFailures.missingSymbol(function, LIBRARY.soname(), LIBRARY.debianPackage(),
                    "rdma-core " + since, LIBRARY.release().orElse(""));
        }
    }
}
