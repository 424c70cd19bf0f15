// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal;

import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;

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

    /** The flags whose bits are in a mask, in their order; bits that are nobody's are left out. */
    public static <F> Set<F> set(F[] flags, long mask, ToLongFunction<F> bit) {
        Set<F> set = new LinkedHashSet<>();
        for (F flag : flags) {
            if ((mask & bit.applyAsLong(flag)) != 0) {
                set.add(flag);
            }
        }
        return Collections.unmodifiableSet(set);
    }
}
