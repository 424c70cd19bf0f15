// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.query;

import java.lang.foreign.Arena;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_device_attr;
import io.rdmacm.bindings.ibv_device_attr_ex;
import io.rdmacm.bindings.ibv_values_ex;
import io.rdmacm.bindings.timespec;
import io.rdmacm.verbs.device.DeviceAttributes;
import io.rdmacm.verbs.device.DeviceAttributesEx;
import io.rdmacm.verbs.device.RealTimeValues;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.codec.DeviceStructs;
import io.rdmacm.verbs.internal.driver.ExtendedOps;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/** The device-wide queries of {@link io.rdmacm.verbs.VerbsContext VerbsContext}. */
public final class DeviceQueries {
    private static final NativeFunction QUERY_DEVICE = NativeFunction.of("ibv_query_device");

    private DeviceQueries() {
    }

    /** Returns the basic attributes ({@code ibv_query_device}). */
    public static DeviceAttributes queryDevice(long context) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            long attributes = arena.allocate(ibv_device_attr.layout()).address();
            Check.returned(QUERY_DEVICE, QUERY_DEVICE.callInt(context, attributes));
            return DeviceStructs.readDevice(attributes);
        }
    }

    /** Like the inline function in verbs.h: without support by the driver, only the basic attributes are filled in. */
    public static DeviceAttributesEx queryDeviceEx(long context) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            long attributes = arena.allocate(ibv_device_attr_ex.layout()).address();
            try {
                NativeFunction query = ExtendedOps.QUERY_DEVICE_EX.require(context);
                Check.returned(query, query.callInt(context, 0, attributes, ibv_device_attr_ex.sizeof()));
            } catch (RdmaUnsupportedException e) {
                long fresh = arena.allocate(ibv_device_attr_ex.layout()).address();
                Check.returned(QUERY_DEVICE,
                        QUERY_DEVICE.callInt(context, fresh + ibv_device_attr_ex.orig_attr$offset()));
                attributes = fresh;
            }
            return DeviceStructs.readDeviceEx(attributes);
        }
    }

    /** Returns the clock of the device ({@code ibv_query_rt_values_ex}). */
    public static RealTimeValues queryRealTimeValues(long context) throws RdmaException {
        NativeFunction query = ExtendedOps.QUERY_RT_VALUES.require(context);
        try (Arena arena = Arena.ofConfined()) {
            long values = arena.allocate(ibv_values_ex.layout()).address();
            long mask = values + ibv_values_ex.comp_mask$offset();
            Memory.putInt(mask, Rdma.IBV_VALUES_MASK_RAW_CLOCK());
            Check.returned(query, query.callInt(context, values));
            if ((Memory.getInt(mask) & Rdma.IBV_VALUES_MASK_RAW_CLOCK()) == 0) {
                throw Failures.of(query.name(), Rdma.EOPNOTSUPP(), "raw clock");
            }
            long clock = values + ibv_values_ex.raw_clock$offset();
            return new RealTimeValues(Memory.getLong(clock + timespec.tv_sec$offset()),
                    Memory.getLong(clock + timespec.tv_nsec$offset()));
        }
    }
}
