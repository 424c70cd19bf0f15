// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bindings;

/** What differs between the architectures: in all that is bound here, the size of {@code pthread_mutex_t} only. */
final class Platform {
    /** {@code sizeof(pthread_mutex_t)} of glibc. */
    static final long MUTEX_SIZE = System.getProperty("os.arch").equals("aarch64") ? 48 : 40;

    private Platform() {
    }
}
