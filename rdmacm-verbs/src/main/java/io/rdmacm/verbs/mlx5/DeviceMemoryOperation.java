// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.util.List;
import java.util.Objects;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.verbs.DeviceMemory;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Libc;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * A second view of device memory, through which every access is an operation of the device on that memory
 * (mlx5dv_dm_map_op_addr(3)): an increment, for instance. Which numbers have which operation, and what is read and
 * written, is in the vendor's programmer's reference manual. The view is closed before the memory. All methods are
 * thread-safe.
 */
public final class DeviceMemoryOperation extends NativeObject {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction MAP_OP_ADDR = NativeFunction.of("mlx5dv_dm_map_op_addr");

    private final long length;

    private DeviceMemoryOperation(Lifetime life, long address, long length) {
        super(life, address, length);
        this.length = length;
    }

    /**
     * Maps device memory for an operation ({@code mlx5dv_dm_map_op_addr}).
     *
     * @param memory memory for data, not imported
     * @param operation the number of the operation, 8 bits
     * @return the view
     * @throws IllegalArgumentException if the number does not fit into 8 bits, or the memory was imported
     * @throws NativeLibraryException if libmlx5 is not installed
     * @throws RdmaUnsupportedException if the device does not know the operation
     * @throws RdmaException as the kernel reports it
     */
    @CFunction("mlx5dv_dm_map_op_addr")
    public static DeviceMemoryOperation map(DeviceMemory memory, int operation) throws RdmaException {
        Arguments.requireBits("number of the operation", operation, Byte.SIZE);
        if (memory.length() == Long.MAX_VALUE) {
            throw new IllegalArgumentException("the length of imported memory is not known");
        }
        long page = Libc.pageSize();
        // The library maps whole pages, as many as the memory would need from the start of one.
        long mapped = (memory.length() + page - 1) / page * page;
        return Lifetime.make(DeviceMemoryOperation.class, List.of(VERBS.lifeOf(memory)),
                arena -> Check.pointer(MAP_OP_ADDR, "operation " + operation,
                        MAP_OP_ADDR.callLong(VERBS.addressOf(memory), operation)),
                address -> Libc.unmap(address / page * page, mapped),
                (life, address) -> new DeviceMemoryOperation(life, address,
                        Math.min(memory.length(), mapped - address % page)));
    }

    /** {@return how many bytes of the memory can be reached} */
    public long length() {
        life().ensureOpen();
        return length;
    }

    /**
     * Reads 4 bytes, which the device takes as the operation.
     *
     * @param offset where, in bytes, a multiple of 4
     * @return what the device answers, in the byte order of this machine
     * @throws IllegalArgumentException if the offset is no multiple of 4
     * @throws IndexOutOfBoundsException if it is not in the memory
     */
    public int read(long offset) {
        life().enter();
        try {
            return Memory.getInt(place(offset));
        } finally {
            life().leave();
        }
    }

    /**
     * Writes 4 bytes, which the device takes as the operation.
     *
     * @param offset where, in bytes, a multiple of 4
     * @param value the operand, in the byte order of this machine
     * @throws IllegalArgumentException if the offset is no multiple of 4
     * @throws IndexOutOfBoundsException if it is not in the memory
     */
    public void write(long offset, int value) {
        life().enter();
        try {
            Memory.putInt(place(offset), value);
        } finally {
            life().leave();
        }
    }

    private long place(long offset) {
        Objects.checkFromIndexSize(offset, Integer.BYTES, length);
        if (offset % Integer.BYTES != 0) {
            throw new IllegalArgumentException("the offset must be a multiple of 4, not " + offset);
        }
        return address() + offset;
    }
}
