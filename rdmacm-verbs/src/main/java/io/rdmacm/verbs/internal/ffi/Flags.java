// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.util.Collection;
import java.util.function.ToIntFunction;

/** Sets of flags and their bit masks. */
public final class Flags {
    private Flags() {
    }

    /** The bits of all flags, or-ed. */
    public static <F> int mask(Collection<? extends F> flags, ToIntFunction<F> bit) {
        int mask = 0;
        for (F flag : flags) {
            mask |= bit.applyAsInt(flag);
        }
        return mask;
    }
}
