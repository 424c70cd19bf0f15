// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.bench.overhead;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

import io.rdmacm.bench.overhead.VerbsStack.Payload;
import io.rdmacm.verbs.NativeObject;

/** Posts and polls in C, all operations by one call. */
@SuppressWarnings("restricted")
final class CLoop implements Placement.Loop {
    private static final SymbolLookup LIBRARY = SymbolLookup.libraryLookup(NativeSide.file("libloop.so"),
            Arena.global());
    private static final MethodHandle SIZE = function("loop_size", FunctionDescriptor.of(ValueLayout.JAVA_LONG));
    private static final MethodHandle PREPARE =
            function("loop_prepare", FunctionDescriptor.ofVoid(ValueLayout.ADDRESS));
    private static final MethodHandle RUN = function("loop_run",
            FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.ADDRESS, ValueLayout.JAVA_INT));
    private static final int CACHE_LINE = 64;

    private final Arena arena = Arena.ofAuto();
    private final MemorySegment loop;

    CLoop(VerbsStack stack, PostAndPoll what, Payload payload) {
        Placement.shiftMemory();
        try {
            loop = arena.allocate((long) SIZE.invokeExact(), CACHE_LINE);
            long[] given = {array(stack.pairs), array(stack.regions), stack.queue.handle().address(),
                what.way == PostAndPoll.Way.EXTENDED ? 1 : 0, what.batch, what.polled, payload.entries(),
                payload.entryLength(), payload.inline() ? 1 : 0, what.rotate == 1 ? stack.pairs.length : 1,
                what.rotate == 1 ? stack.regions.length : 1, what.data, NativeSide.hasCard() ? 1 : 0};
            MemorySegment.copy(given, 0, loop, ValueLayout.JAVA_LONG, 0, given.length);
            PREPARE.invokeExact(loop);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    private static MethodHandle function(String name, FunctionDescriptor descriptor) {
        return Linker.nativeLinker().downcallHandle(LIBRARY.find(name).orElseThrow(), descriptor);
    }

    private long array(NativeObject[] objects) {
        return arena.allocateFrom(ValueLayout.JAVA_LONG,
                Arrays.stream(objects).mapToLong(object -> object.handle().address()).toArray()).address();
    }

    @Override
    public long run(int operations) {
        try {
            return (long) RUN.invokeExact(loop, operations);
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }
}
