// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

/** Checks of arguments that many classes make. */
public final class Arguments {
    private static final int MAX_PORT = 255;

    private Arguments() {
    }

    /** Refuses what is not the number of a port. */
    public static void requirePort(int port) {
        if (port < 1 || port > MAX_PORT) {
            throw new IllegalArgumentException("ports are numbered from 1 to " + MAX_PORT + ", not " + port);
        }
    }

    /** Refuses what does not fit into an unsigned field. */
    public static void requireBits(String name, int value, int bits) {
        if (value >>> bits != 0) {
            throw new IllegalArgumentException("the " + name + " must be from 0 to " + ((1 << bits) - 1) + ", not "
                    + value);
        }
    }
}
