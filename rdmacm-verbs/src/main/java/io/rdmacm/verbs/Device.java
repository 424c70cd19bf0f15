// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.ibv_device;
import io.rdmacm.verbs.address.Guid;
import io.rdmacm.verbs.device.NodeType;
import io.rdmacm.verbs.device.TransportType;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.CommandFile;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.ffi.NetworkOrder;

/**
 * An RDMA device of this machine ({@code struct ibv_device}, ibv_get_device_list(3)). A description only: it holds
 * nothing open, and may be kept after the device is gone.
 *
 * @param name the kernel's name of it, such as {@code mlx5_0} or {@code rxe0}
 * @param path its folder in sysfs
 * @param index the kernel's number of it, stable while it exists; -1 where it is not known
 * @param guid its globally unique number
 * @param nodeType what kind of a node it is
 * @param transportType its transport
 */
public record Device(String name, String path, int index, Guid guid, NodeType nodeType, TransportType transportType) {
    private static final NativeFunction GET_DEVICE_LIST = NativeFunction.of("ibv_get_device_list");
    private static final NativeFunction FREE_DEVICE_LIST = NativeFunction.of("ibv_free_device_list");
    private static final NativeFunction GET_DEVICE_NAME = NativeFunction.of("ibv_get_device_name");
    private static final NativeFunction GET_DEVICE_GUID = NativeFunction.of("ibv_get_device_guid");
    private static final NativeFunction GET_DEVICE_INDEX = NativeFunction.of("ibv_get_device_index");
    private static final NativeFunction OPEN_DEVICE = NativeFunction.of("ibv_open_device");

    @FunctionalInterface
    private interface Visitor<T> {
        /** Looks at one {@code struct ibv_device}; null to go on. */
        T visit(long device) throws RdmaException;
    }

    /**
     * All RDMA devices of this machine ({@code ibv_get_device_list}).
     *
     * @return empty when there is none
     * @throws NativeLibraryException when libibverbs is not installed
     */
    @CFunction({"ibv_get_device_list", "ibv_free_device_list", "ibv_get_device_name", "ibv_get_device_guid",
            "ibv_get_device_index"})
    public static List<Device> list() throws RdmaException {
        List<Device> devices = new ArrayList<>();
        visit(device -> {
            devices.add(describe(device));
            return null;
        });
        return List.copyOf(devices);
    }

    /**
     * Opens the device ({@code ibv_open_device}).
     *
     * @throws RdmaException when it is gone (ENODEV), or its file in /dev/infiniband may not be opened (EACCES)
     */
    @CFunction("ibv_open_device")
    public VerbsContext open() throws RdmaException {
        VerbsContext context = visit(device -> is(device)
                ? VerbsContext.open(() -> Check.pointer(OPEN_DEVICE, OPEN_DEVICE.callLong(device), name))
                : null);
        if (context == null) {
            throw new RdmaException("ibv_open_device", "there is no RDMA device " + name + " (any more)");
        }
        return context;
    }

    /**
     * A second context over what another one opened, also in another process: objects of the one can then be imported
     * into the other ({@code ibv_import_device}, ibv_import_device(3)).
     *
     * @param commandFd the {@link VerbsContext#commandFd()} of the other, or a copy of it; it is duplicated, and stays
     *        the caller's
     * @throws RdmaUnsupportedException when the driver cannot import
     * @throws IllegalArgumentException when it is not that of a device
     */
    @CFunction("ibv_import_device")
    public static VerbsContext importDevice(int commandFd) throws RdmaException {
        return VerbsContext.open(() -> CommandFile.importDevice(commandFd));
    }

    /** Its name and type in one short line, as in {@code rxe0 (CA, IB, 5054:00ff:fe12:3456)}. */
    @Override
    public String toString() {
        return name + " (" + nodeType + ", " + transportType + ", " + guid + ")";
    }

    /** The kernel's number of a {@code struct ibv_device}; -1 where it is not known. */
    static int indexOf(long device) {
        try {
            return GET_DEVICE_INDEX.isAvailable() ? GET_DEVICE_INDEX.callInt(device) : -1;
        } catch (NativeLibraryException e) {
            return -1;
        }
    }

    private static Device describe(long device) throws RdmaException {
        return new Device(Memory.string(GET_DEVICE_NAME.callLong(device)),
                Memory.string(device + ibv_device.ibdev_path$offset()), indexOf(device),
                new Guid(NetworkOrder.toHost(GET_DEVICE_GUID.callLong(device))),
                NodeType.of(Memory.getInt(device + ibv_device.node_type$offset())),
                TransportType.of(Memory.getInt(device + ibv_device.transport_type$offset())));
    }

    private boolean is(long device) {
        return name.equals(Memory.string(device + ibv_device.name$offset()))
                && path.equals(Memory.string(device + ibv_device.ibdev_path$offset()));
    }

    /** The devices are valid only as long as the list, so everything is done while it is there. */
    private static <T> T visit(Visitor<T> visitor) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            long count = arena.allocate(Integer.BYTES, Integer.BYTES).address();
            long list = Check.pointer(GET_DEVICE_LIST, GET_DEVICE_LIST.callLong(count));
            try {
                for (int i = 0; i < Memory.getInt(count); i++) {
                    T result = visitor.visit(Memory.getLong(list + (long) i * Long.BYTES));
                    if (result != null) {
                        return result;
                    }
                }
                return null;
            } finally {
                FREE_DEVICE_LIST.callInt(list);
            }
        }
    }
}
