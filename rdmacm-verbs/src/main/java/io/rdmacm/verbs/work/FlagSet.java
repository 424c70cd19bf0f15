// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.work;

import java.util.AbstractSet;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * Flags as reported by a device: the set of those that this library has names for, in the order of their declaration,
 * together with the bits as they were reported. A driver or kernel newer than this library may set others.
 * Unmodifiable. Equal to any set of the same flags, whatever the unknown bits are.
 *
 * @param <F> the type of a flag
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

    /**
     * Returns the flags in a mask.
     *
     * @param <F> the type of a flag
     * @param type the flags that this library has names for
     * @param bits the mask
     * @param bit returns the bit of a flag
     * @return the set of the flags whose bits are set
     */
    public static <F extends Enum<F>> FlagSet<F> of(Class<F> type, long bits, ToLongFunction<F> bit) {
        Set<F> flags = new LinkedHashSet<>();
        long unknown = bits;
        for (F flag : type.getEnumConstants()) {
            if ((bits & bit.applyAsLong(flag)) != 0) {
                flags.add(flag);
                unknown &= ~bit.applyAsLong(flag);
            }
        }
        return new FlagSet<>(Collections.unmodifiableSet(flags), bits, unknown);
    }

    /** {@return all bits as reported by C; the upper half is 0 for 32-bit flags} */
    public long bits() {
        return bits;
    }

    /** {@return the bits that this library has no name for} */
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
