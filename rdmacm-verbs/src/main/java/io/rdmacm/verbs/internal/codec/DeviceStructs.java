// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.codec;

import io.rdmacm.bindings.ibv_device_attr;
import io.rdmacm.bindings.ibv_device_attr_ex;
import io.rdmacm.bindings.ibv_gid_entry;
import io.rdmacm.bindings.ibv_port_attr;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.address.GidEntry;
import io.rdmacm.verbs.address.GidType;
import io.rdmacm.verbs.device.DeviceAttributes;
import io.rdmacm.verbs.device.DeviceAttributesEx;
import io.rdmacm.verbs.device.PortAttributes;
import io.rdmacm.verbs.internal.ffi.Memory;

/** Reads the attributes of devices and ports, and GID table entries, from C structs. */
public final class DeviceStructs {
    private DeviceStructs() {
    }

    /** Reads a {@code struct ibv_device_attr}. */
    public static DeviceAttributes readDevice(long address) {
        return DeviceAttributes.of(Memory.view(address, ibv_device_attr.sizeof()));
    }

    /** Reads a {@code struct ibv_device_attr_ex}. */
    public static DeviceAttributesEx readDeviceEx(long address) {
        return DeviceAttributesEx.of(Memory.view(address, ibv_device_attr_ex.sizeof()));
    }

    /** Reads a {@code struct ibv_port_attr}. */
    public static PortAttributes readPort(long address) {
        return PortAttributes.of(Memory.view(address, ibv_port_attr.sizeof()));
    }

    /** Reads a {@code struct ibv_gid_entry}. */
    public static GidEntry readGidEntry(long address) {
        return new GidEntry(Gid.of(Memory.bytes(address + ibv_gid_entry.gid$offset(), Gid.BYTES)),
                Memory.getInt(address + ibv_gid_entry.gid_index$offset()),
                Memory.getInt(address + ibv_gid_entry.port_num$offset()),
                GidType.of(Memory.getInt(address + ibv_gid_entry.gid_type$offset())),
                Memory.getInt(address + ibv_gid_entry.ndev_ifindex$offset()));
    }
}
