// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.efa.efadv_ah_attr;
import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/** What EFA tells about an {@link AddressHandle} (efadv_query_ah(3)). */
public final class EfaAddressHandle {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction QUERY = NativeFunction.of("efadv_query_ah");

    private EfaAddressHandle() {
    }

    /**
     * Returns the number by which the device knows an address ({@code efadv_query_ah}). The completion of a receive has
     * that of its sender as {@link io.rdmacm.verbs.CompletionCursor#sourceLid()}, if there is an address handle for it.
     *
     * @param handle an address handle of an EFA device
     * @return the number, 16 bits ({@code ahn}); handles with the same address have the same
     * @throws NativeLibraryException if libefa is not installed
     * @throws RdmaUnsupportedException if it is not an EFA device
     * @throws RdmaException never otherwise: the library knows the answer
     */
    @CFunction("efadv_query_ah")
    public static int number(AddressHandle handle) throws RdmaException {
        return VERBS.inside(handle, (address, arena) -> {
            long struct = arena.allocate(efadv_ah_attr.layout()).address();
            Check.returned(QUERY, QUERY.callInt(address, struct, efadv_ah_attr.sizeof()));
            return Short.toUnsignedInt(Memory.getShort(struct + efadv_ah_attr.ahn$offset()));
        });
    }
}
