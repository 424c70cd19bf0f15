// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_mr_init_attr;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.work.AccessFlag;
import org.jspecify.annotations.Nullable;

/**
 * A registration with all that {@code ibv_reg_mr_ex} can do ({@code struct ibv_mr_init_attr}, ibv_reg_mr_ex(3); since
 * rdma-core 59): of memory, of a part of a dma-buf, or of a part of a {@link VerbsBuffer}; with the address by which
 * work requests name it, and with a {@link DmaHandle}. Immutable: the setters return a changed copy.
 *
 * <pre>{@code
 * MemoryRegion region = ExtendedRegistration.of(memory).dmaHandle(handle).register(domain, AccessFlag.LOCAL_WRITE);
 * }</pre>
 */
public final class ExtendedRegistration {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction REG_MR_EX = NativeFunction.of("ibv_reg_mr_ex");

    private final long length;
    // one of the three: memory, a file descriptor, or a buffer with its memory
    private final @Nullable MemorySegment memory;
    private final int fd;
    private final long fdOffset;
    private final @Nullable VerbsBuffer buffer;
    private final OptionalLong deviceAddress;
    // null if there is none
    private final @Nullable DmaHandle dmaHandle;

    private ExtendedRegistration(long length, @Nullable MemorySegment memory, int fd, long fdOffset,
            @Nullable VerbsBuffer buffer, OptionalLong deviceAddress, @Nullable DmaHandle dmaHandle) {
        this.length = length;
        this.memory = memory;
        this.fd = fd;
        this.fdOffset = fdOffset;
        this.buffer = buffer;
        this.deviceAddress = deviceAddress;
        this.dmaHandle = dmaHandle;
    }

    /**
     * Returns the registration of memory of the caller ({@code IBV_REG_MR_MASK_ADDR}), as for
     * {@link ProtectionDomain#register(MemorySegment, AccessFlag...)}.
     *
     * @param memory native memory, not empty
     * @return the registration
     */
    public static ExtendedRegistration of(MemorySegment memory) {
        return new ExtendedRegistration(memory.byteSize(), memory, -1, 0, null, OptionalLong.empty(), null);
    }

    /**
     * Returns the registration of a part of a dma-buf ({@code IBV_REG_MR_MASK_FD}, {@code IBV_REG_MR_MASK_FD_OFFSET}
     * and {@code IBV_REG_MR_MASK_IOVA}), as for {@link ProtectionDomain#registerDmaBuf}.
     *
     * @param fd the file descriptor of the dma-buf; remains the caller's to close
     * @param offset the offset of the region in the dma-buf, in bytes
     * @param length the length of the region in bytes
     * @param deviceAddress the address of its first byte in work requests; must have the same offset within a page as
     *         {@code offset}
     * @return the registration
     * @throws IllegalArgumentException if the file descriptor or the offset is negative, or the length is not positive
     */
    public static ExtendedRegistration ofDmaBuf(int fd, long offset, long length, long deviceAddress) {
        if (fd < 0 || offset < 0 || length < 1) {
            throw new IllegalArgumentException("the file descriptor and the offset must not be negative, and the length"
                    + " must be positive: " + fd + ", " + offset + ", " + length);
        }
        return new ExtendedRegistration(length, null, fd, offset, null, OptionalLong.of(deviceAddress), null);
    }

    /**
     * Returns the registration of a part of a buffer ({@code IBV_REG_MR_MASK_BUF} and {@code IBV_REG_MR_MASK_ADDR};
     * since rdma-core 64).
     *
     * @param buffer a buffer of the protection domain that the region will belong to, to be closed after the region
     * @param offset the offset of the region in the buffer, in bytes
     * @param length the length of the region in bytes
     * @return the registration
     * @throws IndexOutOfBoundsException if the range exceeds the buffer
     */
    public static ExtendedRegistration of(VerbsBuffer buffer, long offset, long length) {
        return new ExtendedRegistration(length, buffer.memory().asSlice(offset, length), -1, 0, buffer,
                OptionalLong.empty(), null);
    }

    /**
     * Sets the address by which work requests name the first byte ({@code IBV_REG_MR_MASK_IOVA}). Otherwise it is that
     * of the memory, or 0 with {@link AccessFlag#ZERO_BASED}.
     *
     * @param address the address; must have the same offset within a page as the memory
     * @return a copy of this registration with the address
     */
    public ExtendedRegistration deviceAddress(long address) {
        return new ExtendedRegistration(length, memory, fd, fdOffset, buffer, OptionalLong.of(address),
                dmaHandle);
    }

    /**
     * Sets the DMA handle ({@code IBV_REG_MR_MASK_DMAH}).
     *
     * @param handle a handle of the same context, to be closed after the region
     * @return a copy of this registration with the handle
     */
    public ExtendedRegistration dmaHandle(DmaHandle handle) {
        return new ExtendedRegistration(length, memory, fd, fdOffset, buffer, deviceAddress,
                Objects.requireNonNull(handle, "handle"));
    }

    /**
     * Registers the memory ({@code ibv_reg_mr_ex}).
     *
     * @param domain the protection domain that the region will belong to
     * @param access what the memory may be used for; local read access is always granted
     * @return the new region
     * @throws IllegalArgumentException for memory that {@link ProtectionDomain#register(MemorySegment, AccessFlag...)}
     *         refuses, a buffer of another protection domain, a DMA handle of another context, or access flags that
     *         need {@link AccessFlag#LOCAL_WRITE} and lack it
     * @throws NativeLibraryException if the installed library is older than rdma-core 59
     * @throws RdmaUnsupportedException if the driver does not support one of the attributes
     * @throws RdmaException ENOMEM if the limit of locked memory is reached; EINVAL if the device refuses the
     *         attributes
     */
    @CFunction("ibv_reg_mr_ex")
    public MemoryRegion register(ProtectionDomain domain, AccessFlag... access) throws RdmaException {
        List<Lifetime> owners = new ArrayList<>();
        if (dmaHandle != null) {
            if (dmaHandle.context() != domain.context()) {
                throw new IllegalArgumentException("the DMA handle belongs to another context than the protection"
                        + " domain: " + dmaHandle.context() + ", " + domain.context());
            }
            owners.add(VERBS.lifeOf(dmaHandle));
        }
        if (buffer != null) {
            if (buffer.protectionDomain() != domain) {
                throw new IllegalArgumentException("the buffer belongs to another protection domain than the region: "
                        + buffer + ", " + domain);
            }
            owners.add(VERBS.lifeOf(buffer));
        }
        // Many drivers support ZERO_BASED for memory windows only; registering at address 0 works with all of them, and
        // says all that the flag would.
        OptionalLong address = deviceAddress.isEmpty() && List.of(access).contains(AccessFlag.ZERO_BASED)
                ? OptionalLong.of(0)
                : deviceAddress;
        // Without memory there is a device address.
        long start = address.orElseGet(() -> Objects.requireNonNull(memory).address());
        return VERBS.register(domain, new VerbsAccess.RegionSource(memory, start, length, REG_MR_EX, toString(),
                flags -> register(VERBS.addressOf(domain), flags & ~AccessFlag.ZERO_BASED.bit(), address), owners),
                access);
    }

    private long register(long domain, int flags, OptionalLong address) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            return REG_MR_EX.callLong(domain, write(flags, address, arena));
        }
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
    private long write(int access, OptionalLong address, Arena arena) {
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
        if (address.isPresent()) {
            mask |= Rdma.IBV_REG_MR_MASK_IOVA();
            Memory.putLong(struct + ibv_mr_init_attr.iova$offset(), address.getAsLong());
        }
        if (dmaHandle != null) {
            mask |= Rdma.IBV_REG_MR_MASK_DMAH();
            Memory.putLong(struct + ibv_mr_init_attr.dmah$offset(), VERBS.addressOf(dmaHandle));
        }
        if (buffer != null) {
            mask |= Rdma.IBV_REG_MR_MASK_BUF();
            Memory.putLong(struct + ibv_mr_init_attr.buf$offset(), VERBS.addressOf(buffer));
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
