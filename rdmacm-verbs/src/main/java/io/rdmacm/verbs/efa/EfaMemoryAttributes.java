// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

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
 *
 * @param valid which of the numbers the device knows
 * @param receive the interconnect of messages that are received
 * @param rdmaRead the interconnect of RDMA reads of this side
 * @param rdmaReceive the interconnect of RDMA writes of peers
 */
public record EfaMemoryAttributes(FlagSet<EfaInterconnect> valid, int receive, int rdmaRead, int rdmaReceive) {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction QUERY = NativeFunction.of("efadv_query_mr");

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
            long struct = arena.allocate(efadv_mr_attr.layout()).address();
            Check.returned(QUERY, QUERY.callInt(address, struct, efadv_mr_attr.sizeof()));
            return new EfaMemoryAttributes(
                    EfaInterconnect.of(number(struct + efadv_mr_attr.ic_id_validity$offset())),
                    number(struct + efadv_mr_attr.recv_ic_id$offset()),
                    number(struct + efadv_mr_attr.rdma_read_ic_id$offset()),
                    number(struct + efadv_mr_attr.rdma_recv_ic_id$offset()));
        });
    }

    private static int number(long address) {
        return Short.toUnsignedInt(Memory.getShort(address));
    }
}
