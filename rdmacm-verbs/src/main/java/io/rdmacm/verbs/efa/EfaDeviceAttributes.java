// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import java.lang.foreign.MemorySegment;

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
 */
public final class EfaDeviceAttributes {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction QUERY = NativeFunction.of("efadv_query_device");

    // a copy on the heap
    private final MemorySegment struct;

    private EfaDeviceAttributes(MemorySegment struct) {
        this.struct = struct;
    }

    /**
     * Returns what a {@code struct efadv_device_attr} says.
     *
     * @param struct is copied
     * @return the attributes
     */
    public static EfaDeviceAttributes of(MemorySegment struct) {
        return new EfaDeviceAttributes(Memory.heapCopy(struct, efadv_device_attr.sizeof()));
    }

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
            MemorySegment struct = efadv_device_attr.allocate(arena);
            Check.returned(QUERY, QUERY.callInt(address, struct.address(), struct.byteSize()));
            return of(struct);
        });
    }

    /** {@return the maximum number of send work requests of a queue pair} */
    public int maxSendRequests() {
        return efadv_device_attr.max_sq_wr(struct);
    }

    /** {@return the maximum number of receive work requests of a queue pair} */
    public int maxReceiveRequests() {
        return efadv_device_attr.max_rq_wr(struct);
    }

    /** {@return the maximum number of scatter/gather entries of a send} */
    public int maxSendScatterGather() {
        return Short.toUnsignedInt(efadv_device_attr.max_sq_sge(struct));
    }

    /** {@return the maximum number of scatter/gather entries of a receive} */
    public int maxReceiveScatterGather() {
        return Short.toUnsignedInt(efadv_device_attr.max_rq_sge(struct));
    }

    /** {@return the maximum number of bytes of inline data of an ordinary queue pair} */
    public int maxInlineData() {
        return Short.toUnsignedInt(efadv_device_attr.inline_buf_size(struct));
    }

    /**
     * {@return the maximum number of bytes of inline data of a queue pair with large entries; 0 before rdma-core 63}
     */
    public int maxInlineDataExtended() {
        return Short.toUnsignedInt(efadv_device_attr.inline_buf_size_ex(struct));
    }

    /** {@return the maximum number of bytes of an RDMA read or write} */
    public long maxRdmaBytes() {
        return Integer.toUnsignedLong(efadv_device_attr.max_rdma_size(struct));
    }

    /** {@return what the device can do} */
    public FlagSet<EfaCapability> capabilities() {
        return EfaCapability.of(efadv_device_attr.device_caps(struct));
    }

    /**
     * Returns whether the device can do something.
     *
     * @param capability what is asked for
     * @return true if it can
     */
    public boolean has(EfaCapability capability) {
        return capabilities().contains(capability);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof EfaDeviceAttributes that && struct.mismatch(that.struct) < 0;
    }

    @Override
    public int hashCode() {
        return toString().hashCode();
    }

    @Override
    public String toString() {
        return "EfaDeviceAttributes[maxSendRequests=" + maxSendRequests() + ", maxReceiveRequests="
                + maxReceiveRequests() + ", maxSendScatterGather=" + maxSendScatterGather()
                + ", maxReceiveScatterGather=" + maxReceiveScatterGather() + ", maxInlineData=" + maxInlineData()
                + ", maxInlineDataExtended=" + maxInlineDataExtended() + ", maxRdmaBytes=" + maxRdmaBytes()
                + ", capabilities=" + capabilities() + "]";
    }
}
