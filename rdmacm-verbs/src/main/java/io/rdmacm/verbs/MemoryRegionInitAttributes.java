// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_mr_init_attr;
import io.rdmacm.verbs.internal.ffi.Memory;

/**
 * What a memory region is registered for, with all that {@code ibv_reg_mr_ex} can do
 * ({@code struct ibv_mr_init_attr}, ibv_reg_mr_ex(3)): memory, or a part of a dma-buf, or of a {@link VerbsBuffer}; the
 * address by which work requests name it; and a {@link DmaHandle}. Immutable: the setters return a changed copy.
 */
public final class MemoryRegionInitAttributes {
    private final long length;
    // one of the three: memory, a file descriptor, or a buffer with its memory
    private final MemorySegment memory;
    private final int fd;
    private final long fdOffset;
    private final VerbsBuffer buffer;
    private final OptionalLong deviceAddress;
    // null if there is none
    private final DmaHandle dmaHandle;

    private MemoryRegionInitAttributes(long length, MemorySegment memory, int fd, long fdOffset, VerbsBuffer buffer,
            OptionalLong deviceAddress, DmaHandle dmaHandle) {
        this.length = length;
        this.memory = memory;
        this.fd = fd;
        this.fdOffset = fdOffset;
        this.buffer = buffer;
        this.deviceAddress = deviceAddress;
        this.dmaHandle = dmaHandle;
    }

    /**
     * Returns attributes for memory of the caller ({@code IBV_REG_MR_MASK_ADDR}), as for
     * {@link ProtectionDomain#register(MemorySegment, io.rdmacm.verbs.work.AccessFlag...)}.
     *
     * @param memory native memory, not empty
     * @return the attributes
     */
    public static MemoryRegionInitAttributes of(MemorySegment memory) {
        return new MemoryRegionInitAttributes(memory.byteSize(), memory, -1, 0, null, OptionalLong.empty(), null);
    }

    /**
     * Returns attributes for a part of a dma-buf ({@code IBV_REG_MR_MASK_FD}, {@code IBV_REG_MR_MASK_FD_OFFSET} and
     * {@code IBV_REG_MR_MASK_IOVA}), as for {@link ProtectionDomain#registerDmaBuf}.
     *
     * @param fd the file descriptor of the dma-buf; remains the caller's to close
     * @param offset the offset of the region in the dma-buf, in bytes
     * @param length the length of the region in bytes
     * @param deviceAddress the address of its first byte in work requests; must have the same offset within a page as
     *         {@code offset}
     * @return the attributes
     * @throws IllegalArgumentException if the file descriptor or the offset is negative, or the length is not positive
     */
    public static MemoryRegionInitAttributes ofDmaBuf(int fd, long offset, long length, long deviceAddress) {
        MemoryRegionFactory.checkDmaBuf(fd, offset, length);
        return new MemoryRegionInitAttributes(length, null, fd, offset, null, OptionalLong.of(deviceAddress), null);
    }

    /**
     * Returns attributes for a part of a buffer ({@code IBV_REG_MR_MASK_BUF} and {@code IBV_REG_MR_MASK_ADDR}; since
     * rdma-core 64).
     *
     * @param buffer a buffer of the protection domain that the region will belong to
     * @param offset the offset of the region in the buffer, in bytes
     * @param length the length of the region in bytes
     * @return the attributes
     * @throws IndexOutOfBoundsException if the range exceeds the buffer
     */
    public static MemoryRegionInitAttributes of(VerbsBuffer buffer, long offset, long length) {
        return new MemoryRegionInitAttributes(length, buffer.memory().asSlice(offset, length), -1, 0, buffer,
                OptionalLong.empty(), null);
    }

    /**
     * Sets the address by which work requests name the first byte ({@code IBV_REG_MR_MASK_IOVA}). Otherwise it is that
     * of the memory, or 0 with {@link io.rdmacm.verbs.work.AccessFlag#ZERO_BASED ZERO_BASED}.
     *
     * @param address the address; must have the same offset within a page as the memory
     * @return a copy of these attributes with the address
     */
    public MemoryRegionInitAttributes deviceAddress(long address) {
        return new MemoryRegionInitAttributes(length, memory, fd, fdOffset, buffer, OptionalLong.of(address),
                dmaHandle);
    }

    /**
     * Sets the DMA handle ({@code IBV_REG_MR_MASK_DMAH}).
     *
     * @param handle a handle of the same context, to be closed after the region
     * @return a copy of these attributes with the handle
     */
    public MemoryRegionInitAttributes dmaHandle(DmaHandle handle) {
        return new MemoryRegionInitAttributes(length, memory, fd, fdOffset, buffer, deviceAddress,
                Objects.requireNonNull(handle, "handle"));
    }

    /** {@return the length of the region in bytes} */
    public long length() {
        return length;
    }

    /** {@return the memory, also that of a buffer; empty for a dma-buf} */
    public Optional<MemorySegment> memory() {
        return Optional.ofNullable(memory);
    }

    /** {@return the buffer, if the region is part of one} */
    public Optional<VerbsBuffer> buffer() {
        return Optional.ofNullable(buffer);
    }

    /** {@return the address of the first byte in work requests, if it is set} */
    public OptionalLong deviceAddress() {
        return deviceAddress;
    }

    /** {@return the DMA handle, if there is one} */
    public Optional<DmaHandle> dmaHandle() {
        return Optional.ofNullable(dmaHandle);
    }

    /** Writes a {@code struct ibv_mr_init_attr} and returns its address. */
    long write(int access, Arena arena) {
        long struct = arena.allocate(ibv_mr_init_attr.layout()).address();
        long mask = 0;
        Memory.putLong(struct + ibv_mr_init_attr.length$offset(), length);
        Memory.putInt(struct + ibv_mr_init_attr.access$offset(), access);
        if (memory != null) {
            mask |= Rdma.IBV_REG_MR_MASK_ADDR();
            Memory.putLong(struct + ibv_mr_init_attr.addr$offset(), memory.address());
        } else {
            mask |= Rdma.IBV_REG_MR_MASK_FD() | Rdma.IBV_REG_MR_MASK_FD_OFFSET();
            Memory.putInt(struct + ibv_mr_init_attr.fd$offset(), fd);
            Memory.putLong(struct + ibv_mr_init_attr.fd_offset$offset(), fdOffset);
        }
        if (deviceAddress.isPresent()) {
            mask |= Rdma.IBV_REG_MR_MASK_IOVA();
            Memory.putLong(struct + ibv_mr_init_attr.iova$offset(), deviceAddress.getAsLong());
        }
        if (dmaHandle != null) {
            mask |= Rdma.IBV_REG_MR_MASK_DMAH();
            Memory.putLong(struct + ibv_mr_init_attr.dmah$offset(), dmaHandle.address());
        }
        if (buffer != null) {
            mask |= Rdma.IBV_REG_MR_MASK_BUF();
            Memory.putLong(struct + ibv_mr_init_attr.buf$offset(), buffer.address());
        }
        Memory.putLong(struct + ibv_mr_init_attr.comp_mask$offset(), mask);
        return struct;
    }

    @Override
    public String toString() {
        return length + " bytes" + (memory == null ? " of file descriptor " + fd : "")
                + (deviceAddress.isPresent() ? " at 0x" + Long.toHexString(deviceAddress.getAsLong()) : "");
    }
}
