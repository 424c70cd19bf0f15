// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;

import io.rdmacm.bindings.ibv_mw_bind_info;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * The part of a memory region that a memory window gives a peer access to ({@code struct ibv_mw_bind_info},
 * ibv_bind_mw(3)).
 *
 * @param region a region that was registered with {@link AccessFlag#MW_BIND}
 * @param offset the offset of the window in the region, in bytes
 * @param length its length in bytes, at least 1
 * @param access what the peer may do: remote write, remote read and remote atomic; and {@link AccessFlag#ZERO_BASED}
 *         for a window whose addresses start at 0
 */
public record MemoryWindowBinding(MemoryRegion region, long offset, long length, Set<AccessFlag> access) {
    private static final Set<AccessFlag> ALLOWED = EnumSet.of(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ,
            AccessFlag.REMOTE_ATOMIC, AccessFlag.ZERO_BASED);

    /**
     * Checks the binding.
     *
     * @throws IllegalArgumentException if the length is not positive, an access flag is not one of those above, or the
     *         region lacks {@link AccessFlag#MW_BIND} or the {@link AccessFlag#LOCAL_WRITE} that remote write and
     *         remote atomic need
     * @throws IndexOutOfBoundsException if the window exceeds the region
     */
    public MemoryWindowBinding {
        Objects.requireNonNull(region, "region");
        access = Set.copyOf(access);
        if (length < 1) {
            throw new IllegalArgumentException("a memory window needs at least 1 byte, not " + length);
        }
        region.addressOf(offset, length);
        if (!ALLOWED.containsAll(access)) {
            throw new IllegalArgumentException("the access flags of a memory window can be " + ALLOWED + ", not "
                    + access);
        }
        if (!region.access().contains(AccessFlag.MW_BIND)) {
            throw new IllegalArgumentException("a memory window needs a region with MW_BIND: " + region + ", "
                    + region.access());
        }
        boolean writes = access.contains(AccessFlag.REMOTE_WRITE) || access.contains(AccessFlag.REMOTE_ATOMIC);
        if (writes && !region.access().contains(AccessFlag.LOCAL_WRITE)) {
            throw new IllegalArgumentException("a memory window with write access needs a region with LOCAL_WRITE: "
                    + region + ", " + region.access());
        }
    }

    /**
     * Returns a binding, as the constructor does.
     *
     * @param region a region that was registered with {@link AccessFlag#MW_BIND}
     * @param offset the offset of the window in the region, in bytes
     * @param length its length in bytes, at least 1
     * @param access what the peer may do
     * @return the binding
     */
    public static MemoryWindowBinding of(MemoryRegion region, long offset, long length, AccessFlag... access) {
        return new MemoryWindowBinding(region, offset, length, Set.copyOf(Arrays.asList(access)));
    }

    /** {@return the address of the first byte of the window, as used in work requests of a peer} */
    public long remoteAddress() {
        return access.contains(AccessFlag.ZERO_BASED) ? 0 : region.addressOf(offset, length);
    }

    /** Rejects a region that is closed or of another domain. */
    void check(ProtectionDomain domain) {
        region.life().ensureOpen();
        if (region.protectionDomain() != domain) {
            throw new IllegalArgumentException("the region belongs to another protection domain than the memory"
                    + " window: " + region.protectionDomain() + ", " + domain);
        }
    }

    /** Writes a {@code struct ibv_mw_bind_info}. */
    void write(long info) {
        write(info, region, region.addressOf(offset, length), length, Flags.mask(access, AccessFlag::bit));
    }

    /** Writes a {@code struct ibv_mw_bind_info} that unbinds; drivers expect a region in it nevertheless. */
    static void writeNothing(long info, MemoryRegion former) {
        write(info, former, 0, 0, 0);
    }

    private static void write(long info, MemoryRegion region, long start, long length, int access) {
        Memory.putLong(info + ibv_mw_bind_info.mr$offset(), region.address());
        Memory.putLong(info + ibv_mw_bind_info.addr$offset(), start);
        Memory.putLong(info + ibv_mw_bind_info.length$offset(), length);
        Memory.putInt(info + ibv_mw_bind_info.mw_access_flags$offset(), access);
    }
}
