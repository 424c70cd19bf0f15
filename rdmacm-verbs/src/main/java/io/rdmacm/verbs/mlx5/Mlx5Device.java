// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.mlx5.Mlx5;
import io.rdmacm.bindings.mlx5.mlx5_ib_uapi_query_port;
import io.rdmacm.bindings.mlx5.mlx5dv_clock_info;
import io.rdmacm.bindings.mlx5.mlx5dv_context;
import io.rdmacm.bindings.mlx5.mlx5dv_context_attr;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/**
 * What an mlx5 device has to say about itself. All methods are thread-safe. Those that take a context throw
 * {@link RdmaUnsupportedException} if it is not that of an mlx5 device.
 */
public final class Mlx5Device {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction IS_SUPPORTED = NativeFunction.of("mlx5dv_is_supported");
    private static final NativeFunction OPEN_DEVICE = NativeFunction.of("mlx5dv_open_device");
    private static final NativeFunction QUERY_DEVICE = NativeFunction.of("mlx5dv_query_device");
    private static final NativeFunction QUERY_PORT = NativeFunction.of("_mlx5dv_query_port");
    private static final NativeFunction GET_CLOCK_INFO = NativeFunction.of("mlx5dv_get_clock_info");
    private static final NativeFunction GENERAL_CMD = NativeFunction.of("mlx5dv_devx_general_cmd");
    private static final NativeFunction QUERY_EQN = NativeFunction.of("mlx5dv_devx_query_eqn");
    private static final int BOOLEAN = 0xff;
    // all members of struct mlx5dv_context that are asked for by a bit; the library clears those that it does not know
    private static final long ALL_MEMBERS = (1L << 17) - 1;

    private Mlx5Device() {
    }

    /**
     * Returns whether a device is one of mlx5 ({@code mlx5dv_is_supported}, mlx5dv_is_supported(3)).
     *
     * @param device the device
     * @return true if the functions of this package work with it
     * @throws NativeLibraryException if libmlx5 is not installed
     * @throws RdmaException if the device no longer exists
     */
    @CFunction("mlx5dv_is_supported")
    public static boolean isSupported(Device device) throws RdmaException {
        // of a bool, only the lowest byte is defined
        return (VERBS.withDevice(device, IS_SUPPORTED::callInt) & BOOLEAN) != 0;
    }

    /**
     * Opens a device for the commands of {@link DevxObject} and its like, which need a context of their own
     * ({@code mlx5dv_open_device} with {@code MLX5DV_CONTEXT_FLAGS_DEVX}, mlx5dv_open_device(3)).
     *
     * @param device the device
     * @return the new context; to be closed
     * @throws NativeLibraryException if libmlx5 is not installed
     * @throws RdmaException if the device no longer exists; EOPNOTSUPP if it is not one of mlx5; EACCES or EPERM if
     *         this process may not send commands to it
     */
    @CFunction("mlx5dv_open_device")
    public static VerbsContext open(Device device) throws RdmaException {
        return VERBS.open(device, address -> {
            try (Arena arena = Arena.ofConfined()) {
                long attributes = arena.allocate(mlx5dv_context_attr.layout()).address();
                Memory.putInt(attributes + mlx5dv_context_attr.flags$offset(), Mlx5.MLX5DV_CONTEXT_FLAGS_DEVX());
                return Check.pointer(OPEN_DEVICE, device.name(), OPEN_DEVICE.callLong(address, attributes));
            }
        });
    }

    /**
     * Queries what the device can do ({@code mlx5dv_query_device}, mlx5dv_query_device(3)).
     *
     * @param context a context of the device
     * @return the attributes at the time of the call; those that the installed library does not know are 0
     * @throws NativeLibraryException if libmlx5 is not installed
     * @throws RdmaException as the device reports it
     */
    @CFunction("mlx5dv_query_device")
    public static Mlx5DeviceAttributes query(VerbsContext context) throws RdmaException {
        return VERBS.inside(context, (address, arena) -> {
            MemorySegment struct = mlx5dv_context.allocate(arena);
            mlx5dv_context.comp_mask(struct, ALL_MEMBERS);
            Check.returned(QUERY_DEVICE, QUERY_DEVICE.callInt(address, struct.address()));
            return Mlx5DeviceAttributes.of(struct);
        });
    }

    /**
     * Queries how a port is seen by the embedded switch ({@code mlx5dv_query_port}, mlx5dv_query_port(3)).
     *
     * @param context a context of the device
     * @param port the number of the port, from 1
     * @return what the device reports
     * @throws NativeLibraryException if libmlx5 is not installed
     * @throws RdmaException as the device reports it
     */
    @CFunction("mlx5dv_query_port")
    public static Mlx5PortAttributes queryPort(VerbsContext context, int port) throws RdmaException {
        Arguments.requirePort(port);
        return VERBS.inside(context, (address, arena) -> {
            MemorySegment struct = mlx5_ib_uapi_query_port.allocate(arena);
            Check.returned(QUERY_PORT, QUERY_PORT.callInt(address, port, struct.address(), struct.byteSize()));
            return Mlx5PortAttributes.of(struct);
        });
    }

    /**
     * Reads what converts time stamps of the device to nanoseconds ({@code mlx5dv_get_clock_info},
     * mlx5dv_get_clock_info(3)).
     *
     * @param context a context of the device
     * @return the state of the clock; to be read anew before
     *         {@link Mlx5DeviceAttributes#maxClockInfoUpdate()} has passed
     * @throws NativeLibraryException if libmlx5 is not installed
     * @throws RdmaException EINVAL if the kernel keeps no such state
     */
    @CFunction("mlx5dv_get_clock_info")
    public static Mlx5Clock clock(VerbsContext context) throws RdmaException {
        return VERBS.inside(context, (address, arena) -> {
            long struct = arena.allocate(mlx5dv_clock_info.layout()).address();
            Check.returned(GET_CLOCK_INFO, GET_CLOCK_INFO.callInt(address, struct));
            return new Mlx5Clock(Memory.getLong(struct + mlx5dv_clock_info.nsec$offset()),
                    Memory.getLong(struct + mlx5dv_clock_info.last_cycles$offset()),
                    Memory.getLong(struct + mlx5dv_clock_info.frac$offset()),
                    Memory.getInt(struct + mlx5dv_clock_info.mult$offset()),
                    Memory.getInt(struct + mlx5dv_clock_info.shift$offset()),
                    Memory.getLong(struct + mlx5dv_clock_info.mask$offset()));
        });
    }

    /**
     * Sends a command to the firmware ({@code mlx5dv_devx_general_cmd}, mlx5dv_devx_general_cmd(3)).
     *
     * @param context a context from {@link #open}
     * @param command the command, in the format of the device
     * @param answerBytes the size of the answer
     * @return the answer, in the format of the device; its first byte is the status
     * @throws IllegalArgumentException if the command or the answer is shorter than the 16 bytes of any command, or
     *         longer than 64 KiB
     * @throws RdmaException EREMOTEIO if the firmware refuses the command; EPERM or EINVAL if the kernel does
     */
    @CFunction("mlx5dv_devx_general_cmd")
    public static byte[] command(VerbsContext context, byte[] command, int answerBytes) throws RdmaException {
        return VERBS.inside(context, (address, _) -> DevxCommand.call(GENERAL_CMD, address, command, answerBytes));
    }

    /**
     * Returns the number of the event queue that serves a completion vector ({@code mlx5dv_devx_query_eqn},
     * mlx5dv_devx_query_eqn(3)).
     *
     * @param context a context from {@link #open}
     * @param vector the completion vector, from 0
     * @return the number of the event queue
     * @throws RdmaException as the kernel reports it
     */
    @CFunction("mlx5dv_devx_query_eqn")
    public static int eventQueueNumber(VerbsContext context, int vector) throws RdmaException {
        return VERBS.inside(context, (address, arena) -> {
            long number = arena.allocate(Integer.BYTES, Integer.BYTES).address();
            Check.returned(QUERY_EQN, QUERY_EQN.callInt(address, vector, number));
            return Memory.getInt(number);
        });
    }
}
