// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;

import io.rdmacm.bindings.mlx5.Mlx5;
import io.rdmacm.bindings.mlx5.mlx5_wqe_ctrl_seg;
import io.rdmacm.bindings.mlx5.mlx5_wqe_data_seg;
import io.rdmacm.bindings.mlx5.mlx5_wqe_raddr_seg;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.internal.ffi.Arguments;

/**
 * A send work queue entry in the format of the device, for {@link Mlx5Batch#raw}. Immutable, and thread-safe.
 *
 * <p>The entries that the methods of this class form, extended atomics and those of cross-channel communication, are
 * formed, not proven on hardware: their fields were compared with public sources that post such entries, and no device
 * was at hand to execute them. For atomics, these are the mlx5 transport of UCX (4 and 8 bytes) and the libmlx5 of
 * MLNX_OFED that had experimental verbs (all sizes); for WAIT and SEND_EN, the mlx5 drivers of DPDK and the same
 * libmlx5.
 */
public final class Wqe {
    /** The size of a block of a send queue in bytes. */
    static final int BLOCK = 64;

    private static final int SEGMENT = 16;
    private static final int MOST_SEGMENTS = 63;
    private static final int NUMBER_BITS = 24;
    private static final int WAIT = 0x0f;
    private static final int SEND_ENABLE = 0x17;
    private static final int EXTENDED_ATOMIC = 8;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    private final MemorySegment entry;

    private Wqe(MemorySegment entry) {
        this.entry = entry;
    }

    /**
     * Copies an entry that the program has formed.
     *
     * @param entry the entry, which begins with a control segment ({@code struct mlx5_wqe_ctrl_seg})
     * @return the entry
     * @throws IllegalArgumentException if the control segment says another size than that of the memory: from 1 to 63
     *         segments of 16 bytes
     */
    public static Wqe of(MemorySegment entry) {
        long bytes = entry.byteSize();
        if (bytes < SEGMENT || bytes > (long) MOST_SEGMENTS * SEGMENT || bytes % SEGMENT != 0) {
            throw new IllegalArgumentException("an entry has from 1 to " + MOST_SEGMENTS
                    + " segments of 16 bytes, not " + bytes + " bytes");
        }
        int said = entry.get(INT, mlx5_wqe_ctrl_seg.qpn_ds$offset()) & MOST_SEGMENTS;
        if (said != bytes / SEGMENT) {
            throw new IllegalArgumentException("the control segment says " + said + " segments, the entry has "
                    + bytes / SEGMENT);
        }
        return new Wqe(Arena.ofAuto().allocate(bytes, SEGMENT).copyFrom(entry));
    }

    /**
     * Where an atomic operation takes place, and where the original value goes.
     *
     * @param remoteAddress the remote address, a multiple of the size of the operand
     * @param remoteKey the remote key of the peer's memory
     * @param local the region that receives the original value, the most significant byte first; but a device can be
     *        set to return 8 bytes in the order of the host ({@code atomic_req_8B_endianness_mode})
     * @param offset the offset in it, in bytes
     */
    public record AtomicPlace(long remoteAddress, int remoteKey, MemoryRegion local, long offset) {
        /** Requires a region. */
        public AtomicPlace {
            Objects.requireNonNull(local, "local");
        }
    }

    /**
     * Forms a masked compare and swap: the bits of {@code compareMask} are compared with the expected value, and if
     * they are equal, the bits of {@code swapMask} are replaced. Opcode 0x14; the operands stand in the order
     * replacement, expected, swap mask, compare mask. Formed, not proven on hardware.
     *
     * @param queuePair the number of the queue pair that the entry will be posted to, 24 bits
     * @param place where
     * @param expected the expected value, most significant byte first: 8, 16 or 32 bytes, as all four operands
     * @param compareMask which bits are compared
     * @param replacement the new value
     * @param swapMask which bits are replaced
     * @return the entry, which generates a completion
     * @throws IllegalArgumentException if the operands differ in size or have another one, or the remote address is not
     *         a multiple of it
     * @throws IndexOutOfBoundsException if the original value does not fit into the region
     */
    public static Wqe maskedCompareAndSwap(int queuePair, AtomicPlace place, byte[] expected,
            byte[] compareMask, byte[] replacement, byte[] swapMask) {
        return atomic(queuePair, Mlx5.MLX5_OPCODE_ATOMIC_MASKED_CS(), place, replacement, expected, swapMask,
                compareMask);
    }

    /**
     * Forms a masked fetch and add: fields of the value are added to independently of each other; no carry passes a bit
     * that is set in {@code boundaries}, the highest bit of a field. Opcode 0x15. Formed, not proven on hardware.
     *
     * @param queuePair the number of the queue pair that the entry will be posted to, 24 bits
     * @param place where
     * @param addend what is added, most significant byte first: 8, 16 or 32 bytes
     * @param boundaries the highest bit of each field, as many bytes
     * @return the entry, which generates a completion
     * @throws IllegalArgumentException as for {@link #maskedCompareAndSwap}
     * @throws IndexOutOfBoundsException if the original value does not fit into the region
     */
    public static Wqe maskedFetchAndAdd(int queuePair, AtomicPlace place, byte[] addend,
            byte[] boundaries) {
        return atomic(queuePair, Mlx5.MLX5_OPCODE_ATOMIC_MASKED_FA(), place, addend, boundaries);
    }

    private static Wqe atomic(int queuePair, int opcode, AtomicPlace place, byte[]... operands) {
        Arguments.requireBits("number of the queue pair", queuePair, NUMBER_BITS);
        int size = operands[0].length;
        if (size != 8 && size != 16 && size != 32) {
            throw new IllegalArgumentException("operands have 8, 16 or 32 bytes, not " + size);
        }
        if (place.remoteAddress % size != 0) {
            throw new IllegalArgumentException("the remote address must be a multiple of " + size);
        }
        int head = 2 * SEGMENT;
        MemorySegment entry = allocate(head + operands.length * size + SEGMENT);
        // the size of the operand as a logarithm, less 2
        int modifier = EXTENDED_ATOMIC | Integer.numberOfTrailingZeros(size) - 2;
        control(entry, queuePair, opcode, modifier);
        entry.set(LONG, SEGMENT + mlx5_wqe_raddr_seg.raddr$offset(), place.remoteAddress);
        entry.set(INT, SEGMENT + mlx5_wqe_raddr_seg.rkey$offset(), place.remoteKey);
        for (int i = 0; i < operands.length; i++) {
            if (operands[i].length != size) {
                throw new IllegalArgumentException("the operands differ in size: " + size + " and "
                        + operands[i].length);
            }
            MemorySegment.copy(operands[i], 0, entry, ValueLayout.JAVA_BYTE, head + (long) i * size, size);
        }
        data(entry, entry.byteSize() - SEGMENT, place, size);
        return new Wqe(entry);
    }

    private static void data(MemorySegment entry, long at, AtomicPlace place, int size) {
        long address = MkeyLayout.addressOf(place.local, place.offset, size);
        entry.set(INT, at + mlx5_wqe_data_seg.byte_count$offset(), size);
        entry.set(INT, at + mlx5_wqe_data_seg.lkey$offset(), place.local.localKey());
        entry.set(LONG, at + mlx5_wqe_data_seg.addr$offset(), address);
    }

    /**
     * Forms an entry that waits until a completion queue has had a number of completions (cross-channel communication,
     * WAIT, opcode 0x0f). Formed, not proven on hardware. A queue pair of this library does not execute it, because
     * libibverbs cannot create one for cross-channel communication: the queue has to be made by a command of DEVX, as a
     * master ({@code cd_master}).
     *
     * @param queue the number of the queue that the entry will be posted to, 24 bits
     * @param completionQueueNumber the number of the completion queue, 24 bits
     * @param count how many completions the queue must have had since it was created: a counter, whose lowest 24 bits
     *        count
     * @return the entry, which generates a completion
     * @throws IllegalArgumentException if a number does not fit into 24 bits
     */
    public static Wqe waitFor(int queue, int completionQueueNumber, int count) {
        return crossChannel(queue, WAIT, completionQueueNumber, count);
    }

    /**
     * Forms an entry that lets the device execute the entries of another queue up to an index (cross-channel
     * communication, SEND_EN, opcode 0x17). Formed, not proven on hardware. Both queues have to be made by commands of
     * DEVX: this one as a master ({@code cd_master}), the other as one whose sends are managed
     * ({@code cd_slave_send}).
     *
     * @param queue the number of the queue that the entry will be posted to, 24 bits
     * @param enabledQueue the number of the queue that is let go, 24 bits
     * @param end the index after the last entry that may be executed, as the doorbell record counts: in blocks of 64
     *        bytes, of which the lowest 16 bits count
     * @return the entry, which generates a completion
     * @throws IllegalArgumentException if a number does not fit into 24 bits
     */
    public static Wqe enableSends(int queue, int enabledQueue, int end) {
        return crossChannel(queue, SEND_ENABLE, enabledQueue, end);
    }

    private static Wqe crossChannel(int queue, int opcode, int number, int index) {
        Arguments.requireBits("number of the queue", queue, NUMBER_BITS);
        Arguments.requireBits("number of the queue", number, NUMBER_BITS);
        MemorySegment entry = allocate(2 * SEGMENT);
        control(entry, queue, opcode, 0);
        // 8 reserved bytes
        entry.set(INT, SEGMENT + 8, index);
        entry.set(INT, SEGMENT + 12, number);
        return new Wqe(entry);
    }

    private static MemorySegment allocate(int bytes) {
        return Arena.ofAuto().allocate(bytes, SEGMENT);
    }

    private static void control(MemorySegment entry, int number, int opcode, int modifier) {
        entry.set(INT, mlx5_wqe_ctrl_seg.opmod_idx_opcode$offset(), modifier << NUMBER_BITS | opcode);
        entry.set(INT, mlx5_wqe_ctrl_seg.qpn_ds$offset(),
                number << Byte.SIZE | (int) (entry.byteSize() / SEGMENT));
        entry.set(ValueLayout.JAVA_BYTE, mlx5_wqe_ctrl_seg.fm_ce_se$offset(),
                (byte) Mlx5.MLX5_WQE_CTRL_CQ_UPDATE());
    }

    /** {@return the size in bytes} */
    public int bytes() {
        return (int) entry.byteSize();
    }

    /** {@return a view of the entry} */
    public MemorySegment view() {
        return entry.asReadOnly();
    }

    long address() {
        return entry.address();
    }
}
