// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import io.rdmacm.bindings.NativeLibrary;
import org.junit.jupiter.api.Assumptions;

/** The libibverbs of this machine, for tests of what not every release has. */
public final class InstalledLibrary {
    private InstalledLibrary() {
    }

    /** The release of rdma-core; the largest number when its file name does not tell. */
    public static int release() {
        // the release is known from the file that is mapped
        NativeLibrary.LIBIBVERBS.find("ibv_open_device");
        return NativeLibrary.LIBIBVERBS.release()
                .map(release -> Integer.parseInt(release.substring(0, release.indexOf('.'))))
                .orElse(Integer.MAX_VALUE);
    }

    /** Skips the test when the library is older than a release. */
    public static void requireRelease(int since) {
        Assumptions.assumeTrue(release() >= since, "this needs rdma-core " + since + ", and " + release()
                + " is installed");
    }
}
