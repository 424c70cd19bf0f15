// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.nio.ByteBuffer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.util.internal.CleanableDirectBuffer;
import io.rdmacm.verbs.pool.RegisteredSlice;
import org.jspecify.annotations.Nullable;

/** A buffer in registered memory. It moves to memory that is not registered when it grows and no other is left. */
final class RegisteredByteBuf extends UnpooledDirectByteBuf {
    private final RdmaByteBufAllocator allocator;
    // null when the buffer is not in registered memory any more
    private RegisteredMemory.@Nullable Piece piece;

    RegisteredByteBuf(RdmaByteBufAllocator allocator, RegisteredMemory.Piece piece, int capacity, int maxCapacity) {
        super(allocator, buffer(piece, capacity), maxCapacity);
        this.allocator = allocator;
        this.piece = piece;
        // The constructor takes the memory for written.
        clear();
    }

    private static ByteBuffer buffer(RegisteredMemory.Piece piece, int capacity) {
        return piece.slice().memory().asByteBuffer().limit(capacity);
    }

    /** Returns the registered memory; null if there is none. */
    @Nullable RegisteredSlice registered() {
        return piece == null ? null : piece.slice();
    }

    @Override
    public ByteBuf capacity(int newCapacity) {
        RegisteredMemory.Piece former = piece;
        RegisteredMemory.Piece unused = null;
        try {
            super.capacity(newCapacity);
            unused = former == piece ? null : former;
        } catch (Throwable t) {
            unused = former == piece ? null : piece;
            piece = former;
            throw t;
        } finally {
            if (unused != null) {
                unused.free();
            }
        }
        return this;
    }

    @Override
    protected CleanableDirectBuffer allocateDirectBuffer(int capacity) {
        piece = allocator.take(capacity);
        if (piece == null) {
            return super.allocateDirectBuffer(capacity);
        }
        ByteBuffer memory = buffer(piece, capacity);
        return new CleanableDirectBuffer() {
            @Override
            public ByteBuffer buffer() {
                return memory;
            }

            @Override
            public void clean() {
                // The piece is freed instead.
            }
        };
    }

    @Override
    protected void deallocate() {
        super.deallocate();
        if (piece != null) {
            piece.free();
            piece = null;
        }
    }
}
