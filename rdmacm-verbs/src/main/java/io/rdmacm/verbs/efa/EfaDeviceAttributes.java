// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.efa.efadv_device_attr;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.work.FlagSet;

/**
 * The limits of an EFA device and what it can do ({@code struct efadv_device_attr}, efadv_query_device(3)). The general
 * attributes are those of {@link VerbsContext#queryDeviceEx()}.
 *
 * @param maxSendRequests the maximum number of send work requests of a queue pair
 * @param maxReceiveRequests the maximum number of receive work requests of a queue pair
 * @param maxSendScatterGather the maximum number of scatter/gather entries of a send
 * @param maxReceiveScatterGather the maximum number of scatter/gather entries of a receive
 * @param maxInlineData the maximum number of bytes of inline data of an ordinary queue pair
 * @param maxInlineDataExtended the maximum number of bytes of inline data of a queue pair with large entries; 0 before
 *        rdma-core 63
 * @param maxRdmaBytes the maximum number of bytes of an RDMA read or write
 * @param capabilities what the device can do
 */
public record EfaDeviceAttributes(int maxSendRequests, int maxReceiveRequests, int maxSendScatterGather,
        int maxReceiveScatterGather, int maxInlineData, int maxInlineDataExtended, long maxRdmaBytes,
        FlagSet<EfaCapability> capabilities) {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction QUERY = NativeFunction.of("efadv_query_device");

    /**
     * Queries a device ({@code efadv_query_device}).
     *
     * @param context the device
     * @return its limits and capabilities
     * @throws NativeLibraryException if libefa is not installed
     * @throws RdmaUnsupportedException if it is not an EFA device
     * @throws RdmaException never otherwise: the library knows the answer
     */
    @CFunction("efadv_query_device")
    public static EfaDeviceAttributes query(VerbsContext context) throws RdmaException {
        return VERBS.inside(context, (address, arena) -> {
            long struct = arena.allocate(efadv_device_attr.layout()).address();
            Check.returned(QUERY, QUERY.callInt(address, struct, efadv_device_attr.sizeof()));
            return read(struct);
        });
    }

    private static EfaDeviceAttributes read(long struct) {
        return new EfaDeviceAttributes(Memory.getInt(struct + efadv_device_attr.max_sq_wr$offset()),
                Memory.getInt(struct + efadv_device_attr.max_rq_wr$offset()),
                Short.toUnsignedInt(Memory.getShort(struct + efadv_device_attr.max_sq_sge$offset())),
                Short.toUnsignedInt(Memory.getShort(struct + efadv_device_attr.max_rq_sge$offset())),
                Short.toUnsignedInt(Memory.getShort(struct + efadv_device_attr.inline_buf_size$offset())),
                Short.toUnsignedInt(Memory.getShort(struct + efadv_device_attr.inline_buf_size_ex$offset())),
                Integer.toUnsignedLong(Memory.getInt(struct + efadv_device_attr.max_rdma_size$offset())),
                EfaCapability.of(Memory.getInt(struct + efadv_device_attr.device_caps$offset())));
    }

    /**
     * Returns whether the device can do something.
     *
     * @param capability what is asked for
     * @return true if it can
     */
    public boolean has(EfaCapability capability) {
        return capabilities.contains(capability);
    }
}
