// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal;

/** Checks of arguments that many classes make. */
public final class Arguments {
    private Arguments() {
    }

    /** Refuses what does not fit into an unsigned field. */
    public static void requireBits(String name, int value, int bits) {
        if (value >>> bits != 0) {
            throw new IllegalArgumentException("the " + name + " must be from 0 to " + ((1 << bits) - 1) + ", not "
                    + value);
        }
    }
}
