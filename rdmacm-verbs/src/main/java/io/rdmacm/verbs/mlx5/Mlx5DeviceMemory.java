// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.mlx5.Mlx5;
import io.rdmacm.bindings.mlx5.mlx5dv_alloc_dm_attr;
import io.rdmacm.verbs.DeviceMemory;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/**
 * Memory of an mlx5 device, by what it is for (mlx5dv_alloc_dm(3)). All methods are thread-safe.
 */
public final class Mlx5DeviceMemory {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction ALLOC_DM = NativeFunction.of("mlx5dv_alloc_dm");

    private Mlx5DeviceMemory() {
    }

    /** What memory is for ({@code enum mlx5dv_alloc_dm_type}). */
    public enum Type {
        /** Data: it can be copied to and from, and registered. */
        DATA(Mlx5.MLX5DV_DM_TYPE_MEMIC()),
        /** Tables that steer packets; for privileged programs, as all that follow. */
        STEERING(Mlx5.MLX5DV_DM_TYPE_STEERING_SW_ICM()),
        /** Actions that modify headers. */
        HEADER_MODIFICATION(Mlx5.MLX5DV_DM_TYPE_HEADER_MODIFY_SW_ICM()),
        /** Patterns of actions that modify headers. */
        HEADER_MODIFICATION_PATTERN(Mlx5.MLX5DV_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM()),
        /** Headers that packets are encapsulated with. The library of rdma-core 44 does not know them. */
        ENCAPSULATION(Mlx5.MLX5DV_DM_TYPE_ENCAP_SW_ICM());

        private final int value;

        Type(int value) {
            this.value = value;
        }

        /** {@return the C constant} */
        public int value() {
            return value;
        }
    }

    /**
     * Allocates memory of the device ({@code mlx5dv_alloc_dm}).
     *
     * @param context an mlx5 device
     * @param type what it is for
     * @param bytes the size in bytes, at least 1
     * @param logAlignment the base-2 logarithm of the alignment of its first byte, 0 to 63
     * @return the memory; that for anything but data can be neither copied to or from nor registered
     * @throws IllegalArgumentException if a number is out of range
     * @throws NativeLibraryException if libmlx5 is not installed
     * @throws RdmaUnsupportedException if it is not an mlx5 device, or the installed library does not know the type
     * @throws RdmaException EINVAL if the device has not so much; EPERM if the program may not; ENOMEM
     */
    @CFunction("mlx5dv_alloc_dm")
    public static DeviceMemory allocate(VerbsContext context, Type type, long bytes, int logAlignment)
            throws RdmaException {
        return VERBS.allocateDeviceMemory(context, bytes, logAlignment, (attributes, arena) -> {
            long options = arena.allocate(mlx5dv_alloc_dm_attr.layout()).address();
            Memory.putInt(options + mlx5dv_alloc_dm_attr.type$offset(), type.value());
            return Check.pointer(ALLOC_DM, type + ", " + bytes + " bytes",
                    ALLOC_DM.callLong(VERBS.addressOf(context), attributes, options));
        });
    }
}
