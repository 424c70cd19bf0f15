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
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.CommandFile;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.ffi.NetworkOrder;
import org.jspecify.annotations.Nullable;

/**
 * An RDMA device of this machine ({@code struct ibv_device}, ibv_get_device_list(3)). A plain description: it keeps
 * nothing open and remains usable, as a value, after the device has been removed.
 *
 * @param name the kernel's name of the device, such as {@code mlx5_0} or {@code rxe0}
 * @param path its directory in sysfs
 * @param index the kernel's index of the device, which is stable while the device exists; -1 if the kernel or the
 *         installed libibverbs does not report it ({@code ibv_get_device_index})
 * @param guid its globally unique identifier ({@code ibv_get_device_guid})
 * @param nodeType the kind of node that it is
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
    private interface Visitor<T extends @Nullable Object> {
        /** Visits one {@code struct ibv_device}; returns null to go on with the next one. */
        @Nullable T visit(long device) throws RdmaException;
    }

    /**
     * Lists the RDMA devices of this machine ({@code ibv_get_device_list}).
     *
     * @return the devices; empty if there are none
     * @throws NativeLibraryException if libibverbs is not installed
     * @throws RdmaUnsupportedException ENOSYS, if the kernel has no RDMA support
     * @throws RdmaException EPERM or ENOMEM
     */
    @CFunction({"ibv_get_device_list", "ibv_free_device_list", "ibv_get_device_name", "ibv_get_device_guid",
            "ibv_get_device_index"})
    public static List<Device> list() throws RdmaException {
        List<Device> devices = new ArrayList<>();
        Device.<@Nullable Void>visit(device -> {
            devices.add(describe(device));
            return null;
        });
        return List.copyOf(devices);
    }

    /**
     * Opens the device ({@code ibv_open_device}).
     *
     * @return the new context; to be closed
     * @throws RdmaException if the device no longer exists (without an error number if it was gone before the call,
     *         ENODEV if it went away during it); EACCES if its file in /dev/infiniband may not be opened; EMFILE if the
     *         limit of open files is reached
     */
    @CFunction("ibv_open_device")
    public VerbsContext open() throws RdmaException {
        return open(device -> Check.pointer(OPEN_DEVICE, name, OPEN_DEVICE.callLong(device)));
    }

    /** Opens the device with another function, see {@link VerbsAccess}. */
    VerbsContext open(VerbsAccess.DeviceFunction opener) throws RdmaException {
        VerbsContext context = visit(device -> is(device) ? VerbsContext.open(arena -> opener.call(device)) : null);
        if (context == null) {
            throw gone();
        }
        return context;
    }

    /** Calls a function with the {@code struct ibv_device}, see {@link VerbsAccess}. */
    long call(VerbsAccess.DeviceFunction function) throws RdmaException {
        Long result = visit(device -> is(device) ? function.call(device) : null);
        if (result == null) {
            throw gone();
        }
        return result;
    }

    private RdmaException gone() {
        return new RdmaException("ibv_open_device", "there is no RDMA device " + name + "; it may have been removed");
    }

    /**
     * Creates a second context from the command file of another one, which may belong to another process. Objects of
     * that context can then be imported into this one ({@code ibv_import_device}, ibv_import_device(3)).
     *
     * @param commandFd the {@link VerbsContext#commandFd()} of the other context, or a copy of it; it is duplicated,
     *         and remains the caller's to close
     * @return the new context; to be closed
     * @throws RdmaUnsupportedException if the driver cannot import devices
     * @throws RdmaException ENODEV if the device no longer exists; EMFILE if the limit of open files is reached
     * @throws IllegalArgumentException if the file descriptor is not that of an RDMA device
     */
    @CFunction("ibv_import_device")
    public static VerbsContext importDevice(int commandFd) throws RdmaException {
        return VerbsContext.open(arena -> CommandFile.importDevice(commandFd));
    }

    /** {@return the name, the types and the GUID in one line, such as {@code rxe0 (CA, IB, 5054:00ff:fe12:3456)}} */
    @Override
    public String toString() {
        return name + " (" + nodeType + ", " + transportType + ", " + guid + ")";
    }

    /** Returns the kernel's index of a {@code struct ibv_device}; -1 if it is not known. */
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

    /**
     * Visits the devices until one yields a result. They are valid only until the list is freed, so all work on them is
     * done in here.
     */
    private static <T extends @Nullable Object> @Nullable T visit(Visitor<T> visitor) throws RdmaException {
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
