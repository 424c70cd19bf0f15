// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bindings;

/** Differences between architectures. In these bindings, only the size of {@code pthread_mutex_t} differs. */
final class Platform {
    /** {@code sizeof(pthread_mutex_t)} in glibc. */
    static final long MUTEX_SIZE = System.getProperty("os.arch").equals("aarch64") ? 48 : 40;

    private Platform() {
    }
}
