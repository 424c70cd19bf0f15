// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The callbacks through which a driver allocates memory from Java ({@code ibv_parent_domain_init_attr.alloc} and
 * {@code free}). Exceptions are caught and logged: one that propagated into C would terminate the JVM.
 */
public final class AllocatorCalls implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AllocatorCalls.class);
    // IBV_ALLOCATOR_USE_DEFAULT is a pointer with all bits set.
    private static final long USE_DEFAULT = -1;
    static final FunctionDescriptor ALLOCATE = FunctionDescriptor.of(ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG);
    static final FunctionDescriptor FREE = FunctionDescriptor.ofVoid(ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);

    private final Arena stubs = Arena.ofShared();
    private final Map<Long, MemorySegment> given = new ConcurrentHashMap<>();
    private final Allocator allocator;
    private final Freer freer;
    private final long allocate;
    private final long free;

    /** Allocates memory. */
    @FunctionalInterface
    public interface Allocator {
        /**
         * Allocates memory for a driver.
         *
         * @param bytes the size
         * @param alignment the alignment in bytes; 0 for any
         * @param resourceType what the memory is for, a driver-specific number
         * @return the memory; empty to let the driver use its default allocator
         */
        Optional<MemorySegment> allocate(long bytes, long alignment, long resourceType);
    }

    /** Frees memory. */
    @FunctionalInterface
    public interface Freer {
        /** Frees memory that the {@link Allocator} returned. */
        void free(MemorySegment memory, long resourceType);
    }

    /** Creates callbacks for an allocator. */
    public AllocatorCalls(Allocator allocator, Freer freer) {
        this.allocator = allocator;
        this.freer = freer;
        this.allocate = stub("onAllocate", ALLOCATE);
        this.free = stub("onFree", FREE);
    }

    /** Returns the address of the function that allocates. */
    public long allocate() {
        return allocate;
    }

    /** Returns the address of the function that frees. */
    public long free() {
        return free;
    }

    /** Frees the callbacks. C must not call them any more. */
    @Override
    public void close() {
        stubs.close();
    }

    @SuppressWarnings("unused") // called by C
    private long onAllocate(long domain, long domainContext, long bytes, long alignment, long resourceType) {
        MemorySegment memory = null;
        try {
            memory = allocator.allocate(bytes, alignment, resourceType).orElse(null);
            if (memory == null) {
                return USE_DEFAULT;
            }
            check(memory, bytes, alignment);
            given.put(memory.address(), memory);
            return memory.address();
        } catch (Throwable e) {
            report("allocate memory", e);
            free(memory, resourceType);
            return 0;
        }
    }

    @SuppressWarnings("unused") // called by C
    private void onFree(long domain, long domainContext, long address, long resourceType) {
        try {
            free(given.remove(address), resourceType);
        } catch (Throwable e) {
            report("free memory", e);
        }
    }

    private void free(@Nullable MemorySegment memory, long resourceType) {
        try {
            if (memory != null) {
                freer.free(memory, resourceType);
            }
        } catch (Throwable e) {
            report("free memory", e);
        }
    }

    private static void report(String what, Throwable reason) {
        try {
            LOG.error("the allocator of a parent domain failed to {}", what, reason);
        } catch (Throwable e) {
            // There may be no memory to say so.
        }
    }

    private static void check(MemorySegment memory, long bytes, long alignment) {
        if (!memory.isNative() || memory.isReadOnly() || !memory.scope().isAlive()) {
            throw new IllegalArgumentException("the allocator must return writable native memory, not " + memory);
        }
        if (memory.byteSize() < bytes || alignment > 0 && Long.remainderUnsigned(memory.address(), alignment) != 0) {
            throw new IllegalArgumentException("the allocator must return " + bytes + " bytes aligned to " + alignment
                    + ", not " + memory);
        }
    }

    @SuppressWarnings("restricted")
    private long stub(String method, FunctionDescriptor descriptor) {
        try {
            MethodType type = descriptor.toMethodType();
            MethodHandle handle = MethodHandles.lookup().bind(this, method, type);
            return Linker.nativeLinker().upcallStub(handle, descriptor, stubs).address();
        } catch (ReflectiveOperationException e) {
            throw new AssertionError("the method is in this class", e);
        }
    }
}
