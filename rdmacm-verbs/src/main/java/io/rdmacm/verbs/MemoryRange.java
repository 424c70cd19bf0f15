// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.Objects;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.driver.ExtendedOps;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.work.MemoryAdvice;

/**
 * A part of a memory region.
 *
 * @param region the region
 * @param offset the offset of the part in the region, in bytes
 * @param length its length in bytes, less than 2 GiB
 */
public record MemoryRange(MemoryRegion region, long offset, long length) {
    /** Creates a range. It is checked against the bounds of the region only when it is used. */
    public MemoryRange {
        Objects.requireNonNull(region, "region");
    }

    static void advise(ProtectionDomain domain, MemoryAdvice advice, boolean flush, List<MemoryRange> ranges)
            throws RdmaException {
        if (ranges.isEmpty()) {
            throw new IllegalArgumentException("advise needs at least one memory range");
        }
        try (Arena arena = Arena.ofConfined()) {
            long address = arena.allocate(ScatterList.ENTRY * ranges.size(), Long.BYTES).address();
            ScatterList list = new ScatterList(address, ranges.size());
            for (int i = 0; i < ranges.size(); i++) {
                MemoryRange range = ranges.get(i);
                list.set(i, range.region, range.offset, range.length);
            }
            NativeFunction function = ExtendedOps.ADVISE_MR.require(domain.context().address());
            Check.returned(function, function.callInt(domain.address(), advice.value(),
                    flush ? Rdma.IBV_ADVISE_MR_FLAG_FLUSH() : 0, address, ranges.size()));
        }
    }
}
