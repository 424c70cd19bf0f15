// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import java.util.AbstractSet;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * Flags that a device told: the set of those that this library has a name for, in the order of their constants, and the
 * bits as they came. A driver or kernel newer than this library may set others. Unmodifiable; equal to any set of the
 * same flags.
 *
 * @param <F> what a bit stands for
 */
public final class FlagSet<F> extends AbstractSet<F> {
    private final Set<F> flags;
    private final long bits;
    private final long unknownBits;

    private FlagSet(Set<F> flags, long bits, long unknownBits) {
        this.flags = flags;
        this.bits = bits;
        this.unknownBits = unknownBits;
    }

    /** The flags of a mask. */
    public static <F> FlagSet<F> of(F[] all, long bits, ToLongFunction<F> bit) {
        Set<F> flags = new LinkedHashSet<>();
        long unknown = bits;
        for (F flag : all) {
            if ((bits & bit.applyAsLong(flag)) != 0) {
                flags.add(flag);
                unknown &= ~bit.applyAsLong(flag);
            }
        }
        return new FlagSet<>(Collections.unmodifiableSet(flags), bits, unknown);
    }

    /** All bits, as C has them; of 32-bit flags the upper half is 0. */
    public long bits() {
        return bits;
    }

    /** The bits that no flag of the set stands for. */
    public long unknownBits() {
        return unknownBits;
    }

    @Override
    public boolean contains(Object flag) {
        return flags.contains(flag);
    }

    @Override
    public Iterator<F> iterator() {
        return flags.iterator();
    }

    @Override
    public int size() {
        return flags.size();
    }
}
