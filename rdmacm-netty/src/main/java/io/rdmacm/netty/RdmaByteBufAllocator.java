// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.netty;

import java.util.ArrayDeque;
import java.util.Objects;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.rdmacm.core.stream.RdmaStream;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.pool.RegisteredSlice;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Allocates direct buffers in registered memory: an {@link RdmaStreamChannel} writes those of at least
 * {@link RdmaChannelOption#ZERO_COPY_THRESHOLD} bytes without copying them. A buffer that was written must not be
 * changed until it is freed, as everywhere in Netty: the device reads it some time after the promise of the write.
 *
 * <pre>{@code
 * RdmaByteBufAllocator allocator = new RdmaByteBufAllocator();
 * bootstrap.option(ChannelOption.ALLOCATOR, allocator).childOption(ChannelOption.ALLOCATOR, allocator);
 * }</pre>
 *
 * <p>Memory is registered with the device of the first channel that uses the allocator, and for as long as any of its
 * channels is open. Without an open channel, for heap buffers, and for buffers of more than 1 MiB, the allocator passes
 * requests on to another one. Buffers that do not belong to the device of a channel are written as well, with a copy,
 * so a program with several devices should have an allocator for each of them. When no more memory can be registered
 * (RLIMIT_MEMLOCK), buffers are not registered either.
 *
 * <p>Thread-safe.
 */
public final class RdmaByteBufAllocator extends AbstractByteBufAllocator {
    private static final Logger LOG = LoggerFactory.getLogger(RdmaByteBufAllocator.class);

    private final ByteBufAllocator others;
    // Guarded by this: the streams that keep the memory registered.
    private final ArrayDeque<RdmaStream> streams = new ArrayDeque<>();
    private volatile @Nullable RegisteredMemory memory;
    private volatile boolean exhausted;

    /** Creates an allocator that passes on what it does not register to {@link PooledByteBufAllocator#DEFAULT}. */
    public RdmaByteBufAllocator() {
        this(PooledByteBufAllocator.DEFAULT);
    }

    /**
     * Creates an allocator.
     *
     * @param others what allocates heap buffers, and buffers that are not registered
     */
    public RdmaByteBufAllocator(ByteBufAllocator others) {
        super(true);
        this.others = Objects.requireNonNull(others, "others");
    }

    /** {@return true} */
    @Override
    public boolean isDirectBufferPooled() {
        return true;
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        return others.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        RegisteredMemory.@Nullable Piece piece = take(initialCapacity);
        return piece == null ? others.directBuffer(initialCapacity, maxCapacity)
                : toLeakAwareBuffer(new RegisteredByteBuf(this, piece, initialCapacity, maxCapacity));
    }

    /** Returns registered memory for a buffer; null if there is none. */
    RegisteredMemory.@Nullable Piece take(int capacity) {
        RegisteredMemory current = memory;
        if (current == null || exhausted) {
            return null;
        }
        try {
            return current.take(capacity);
        } catch (RdmaException e) {
            exhausted = true;
            LOG.warn("no more memory can be registered: from now on, buffers are copied", e);
            return null;
        }
    }

    /** Returns the registered memory that a buffer is a part of; null if it is not in registered memory. */
    static @Nullable RegisteredSlice sliceOf(ByteBuf buffer) {
        for (ByteBuf part = buffer; part != null; part = part.unwrap()) {
            if (part instanceof RegisteredByteBuf ours) {
                return ours.registered();
            }
        }
        return null;
    }

    /** A stream keeps memory registered until it {@linkplain #leave leaves}, if it is over the same device. */
    @SuppressWarnings("NullAway") // there is memory while there are streams
    synchronized void join(RdmaStream stream) {
        ProtectionDomain domain = stream.protectionDomain();
        if (streams.isEmpty()) {
            exhausted = false;
            memory = new RegisteredMemory(domain);
        }
        if (memory.domain() == domain) {
            streams.add(stream);
        }
    }

    /** The stream is about to be closed. */
    @SuppressWarnings("NullAway") // there is memory while there are streams
    synchronized void leave(RdmaStream stream) {
        if (streams.remove(stream) && streams.isEmpty()) {
            memory.end();
            memory = null;
        }
    }
}
