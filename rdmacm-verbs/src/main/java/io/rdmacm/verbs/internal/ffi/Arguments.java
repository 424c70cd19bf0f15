// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

/** Argument checks that many classes share. */
public final class Arguments {
    private static final int MAX_PORT = 255;

    private Arguments() {
    }

    /**
     * Checks the number of a port.
     *
     * @throws IllegalArgumentException if the number is not from 1 to 255
     */
    public static void requirePort(int port) {
        if (port < 1 || port > MAX_PORT) {
            throw new IllegalArgumentException("ports are numbered from 1 to " + MAX_PORT + ", not " + port);
        }
    }

    /**
     * Checks that a number fits into an unsigned bit field.
     *
     * @param name the name of the argument, for the message
     * @param value the number
     * @param bits the size of the field, at most 31
     * @throws IllegalArgumentException if it does not fit
     */
    public static void requireBits(String name, int value, int bits) {
        if (value >>> bits != 0) {
            throw new IllegalArgumentException("the " + name + " must be from 0 to " + ((1 << bits) - 1) + ", not "
                    + value);
        }
    }
}
