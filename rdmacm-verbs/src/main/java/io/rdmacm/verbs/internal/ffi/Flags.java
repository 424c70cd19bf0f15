// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.util.Collection;
import java.util.function.ToIntFunction;

/** Converts sets of flags to bit masks. */
public final class Flags {
    private Flags() {
    }

    /** Returns the bitwise OR of the bits of all flags. */
    public static <F> int mask(Collection<? extends F> flags, ToIntFunction<F> bit) {
        int mask = 0;
        for (F flag : flags) {
            mask |= bit.applyAsInt(flag);
        }
        return mask;
    }
}
