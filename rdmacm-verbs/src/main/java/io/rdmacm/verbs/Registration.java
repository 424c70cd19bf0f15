// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Set;

import io.rdmacm.bindings.ibv_mr;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.work.AccessFlag;
import org.jspecify.annotations.Nullable;

/**
 * What a memory region is registered for at the moment; {@link MemoryRegion#reregister} replaces it.
 *
 * @param domain the protection domain
 * @param memory the memory; null if this process cannot access it through the region
 * @param access what the region may be used for
 * @param start the address of its first byte for the device
 * @param length the length in bytes
 * @param localKey the lkey
 * @param remoteKey the rkey
 * @param allowsInline whether a driver can copy inline data from it: the addresses of the processor and of the device
 *        are the same, and no file is mapped there, which somebody could truncate
 */
record Registration(ProtectionDomain domain, @Nullable MemorySegment memory, Set<AccessFlag> access, long start,
        long length, int localKey, int remoteKey, boolean allowsInline) {
    /** Returns a registration with the keys of the C object. */
    static Registration of(long region, ProtectionDomain domain, @Nullable MemorySegment memory, Set<AccessFlag> access,
            long start, long length) {
        return new Registration(domain, memory, access, start, length,
                Memory.getInt(region + ibv_mr.lkey$offset()), Memory.getInt(region + ibv_mr.rkey$offset()),
                memory != null && memory.address() == start && !memory.isMapped());
    }

    /** Returns the address of a part for the device, after checking the range. */
    long addressOf(long offset, long bytes) {
        Objects.checkFromIndexSize(offset, bytes, length);
        return start + offset;
    }

    /** Returns whether a part that an earlier registration of the region contained is in this one too. */
    boolean contains(long address, long bytes) {
        long offset = address - start;
        return offset >= 0 && offset <= length - bytes;
    }

    @Override
    public String toString() {
        return length + " bytes, lkey 0x" + Integer.toHexString(localKey) + ", rkey 0x"
                + Integer.toHexString(remoteKey);
    }
}
