// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.efa.efadv_mr_attr;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.work.FlagSet;

/**
 * By which interconnects an EFA device reaches the memory of a region ({@code struct efadv_mr_attr}, efadv_query_mr(3);
 * since rdma-core 50). Only for tuning: two regions with the same number share the way to their memory.
 */
public final class EfaMemoryAttributes {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction QUERY = NativeFunction.of("efadv_query_mr");

    // a copy on the heap
    private final MemorySegment struct;

    private EfaMemoryAttributes(MemorySegment struct) {
        this.struct = struct;
    }

    /**
     * Returns what a {@code struct efadv_mr_attr} says.
     *
     * @param struct is copied
     * @return the attributes
     */
    public static EfaMemoryAttributes of(MemorySegment struct) {
        return new EfaMemoryAttributes(Memory.heapCopy(struct, efadv_mr_attr.sizeof()));
    }

    /**
     * Queries a memory region ({@code efadv_query_mr}).
     *
     * @param region a region of an EFA device
     * @return its interconnects
     * @throws NativeLibraryException if libefa is not installed, or older than rdma-core 50
     * @throws RdmaUnsupportedException if it is not an EFA device, or the kernel does not answer
     * @throws RdmaException if the device fails
     */
    @CFunction("efadv_query_mr")
    public static EfaMemoryAttributes query(MemoryRegion region) throws RdmaException {
        return VERBS.inside(region, (address, arena) -> {
            MemorySegment struct = efadv_mr_attr.allocate(arena);
            Check.returned(QUERY, QUERY.callInt(address, struct.address(), struct.byteSize()));
            return of(struct);
        });
    }

    /** {@return which of the numbers the device knows} */
    public FlagSet<EfaInterconnect> valid() {
        return EfaInterconnect.of(Short.toUnsignedInt(efadv_mr_attr.ic_id_validity(struct)));
    }

    /** {@return the interconnect of messages that are received} */
    public int receive() {
        return Short.toUnsignedInt(efadv_mr_attr.recv_ic_id(struct));
    }

    /** {@return the interconnect of RDMA reads of this side} */
    public int rdmaRead() {
        return Short.toUnsignedInt(efadv_mr_attr.rdma_read_ic_id(struct));
    }

    /** {@return the interconnect of RDMA writes of peers} */
    public int rdmaReceive() {
        return Short.toUnsignedInt(efadv_mr_attr.rdma_recv_ic_id(struct));
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof EfaMemoryAttributes that && struct.mismatch(that.struct) < 0;
    }

    @Override
    public int hashCode() {
        return toString().hashCode();
    }

    @Override
    public String toString() {
        return "EfaMemoryAttributes[valid=" + valid() + ", receive=" + receive() + ", rdmaRead=" + rdmaRead()
                + ", rdmaReceive=" + rdmaReceive() + "]";
    }
}
