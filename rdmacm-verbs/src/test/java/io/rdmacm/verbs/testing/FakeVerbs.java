// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.rdmacm.bindings.ibv_wc;
import io.rdmacm.verbs.internal.ffi.Memory;

/**
 * The controls of the stand-in for libibverbs, {@code src/test/c}: what it recorded, what it shall answer. For tests
 * marked {@link WithFakeVerbs}.
 */
@SuppressWarnings("restricted")
public final class FakeVerbs {
    static final String PROPERTY = "io.rdmacm.libibverbs";

    private static final int ARGUMENTS = 8;
    private static final Map<String, MethodHandle> HANDLES = new ConcurrentHashMap<>();

    private FakeVerbs() {
    }

    /** Loaded when the first control is used: then the library is known to be there. */
    private static final class Library {
        static final SymbolLookup SYMBOLS = SymbolLookup.libraryLookup(System.getProperty(PROPERTY), Arena.global());
    }

    /** How a post names the request that it refuses; in the order of the enum of the stand-in. */
    public enum BadRequest {
        /** By its address. */
        NAMED,
        /** By a null pointer, as rxe if only the doorbell fails. */
        NULL,
        /** Not at all: nothing is written. */
        UNTOUCHED
    }

    /** What the stand-in counts; in the order of its enum. */
    public enum Kind {
        /** A device list. */
        LIST,
        /** An ibv_context. */
        CONTEXT,
        /** An ibv_pd. */
        PROTECTION_DOMAIN,
        /** An ibv_mr. */
        MEMORY_REGION,
        /** An ibv_comp_channel. */
        CHANNEL,
        /** An ibv_cq. */
        COMPLETION_QUEUE,
        /** An ibv_qp. */
        QUEUE_PAIR,
        /** An ibv_srq. */
        SHARED_RECEIVE_QUEUE,
        /** An ibv_xrcd. */
        XRC_DOMAIN,
        /** An ibv_ah. */
        ADDRESS_HANDLE,
        /** An ibv_dm. */
        DEVICE_MEMORY,
        /** An ibv_td. */
        THREAD_DOMAIN,
        /** An ibv_mw. */
        MEMORY_WINDOW,
        /** An ibv_wq. */
        WORK_QUEUE,
        /** An ibv_rwq_ind_table. */
        INDIRECTION_TABLE,
        /** An ibv_counters. */
        COUNTERS,
        /** An ibv_flow. */
        FLOW,
        /** An ibv_flow_action. */
        FLOW_ACTION,
        /** An ibv_dmah. */
        DMA_HANDLE,
        /** An ibv_buf. */
        BUFFER,
        /** An ibv_comp_cntr. */
        COMPLETION_COUNTER
    }

    /**
     * One recorded call.
     *
     * @param function its name in C
     * @param arguments widened to 64 bits, zeros behind the last
     * @param data what its pointers led to
     */
    public record Call(String function, List<Long> arguments, byte[] data) {
    }

    /** Forgets what was recorded and scripted. */
    public static void reset() {
        call("fake_reset");
    }

    /** Whether calls are recorded (and scripted failures happen); on after {@link #reset()}. */
    public static void recording(boolean on) {
        call("fake_recording", on ? 1 : 0);
    }

    /** All calls since the last {@link #reset()}. */
    public static List<Call> calls() {
        List<Call> calls = new ArrayList<>();
        long count = call("fake_records");
        for (long i = 0; i < count; i++) {
            long record = call("fake_record_at", i);
            long position = record + Long.BYTES;
            List<Long> arguments = new ArrayList<>();
            for (int a = 0; a < ARGUMENTS; a++, position += Long.BYTES) {
                arguments.add(Memory.getLong(position));
            }
            calls.add(new Call(Memory.string(Memory.getLong(record)), arguments,
                    Memory.bytes(position + Long.BYTES, (int) Memory.getLong(position))));
        }
        return calls;
    }

    /** The calls of one function. */
    public static List<Call> calls(String function) {
        return calls().stream().filter(call -> call.function().equals(function)).toList();
    }

    /** The names of all functions called, in order. */
    public static List<String> functions() {
        return calls().stream().map(Call::function).toList();
    }

    /** Lets the next call of a function fail. */
    public static void fail(String function, int errno) {
        fail(function, errno, 0);
    }

    /** Lets a call of a function fail after some others of it. */
    public static void fail(String function, int errno, int skip) {
        withString(function, name -> call("fake_fail", name, errno, skip));
    }

    /** Whether each signaled send completes at once. */
    public static void loop(boolean on) {
        call("fake_loop", on ? 1 : 0);
    }

    /** Whether devices that are opened from now on can do all that the stand-in can, on-demand paging too. */
    public static void able(boolean on) {
        call("fake_able", on ? 1 : 0);
    }

    /** How posts name the requests that they refuse, until {@link #reset()}. */
    public static void badRequests(BadRequest how) {
        call("fake_bad_requests", how.ordinal());
    }

    /** What functions answer that have no meaning here. */
    public static void result(long result) {
        call("fake_result", result);
    }

    /** Lets the next call of a function wait inside until {@link #release()}. */
    public static void hold(String function) {
        withString(function, name -> call("fake_hold", name));
    }

    /** Returns when a thread is held. */
    public static void awaitHeld() {
        call("fake_await_held");
    }

    /** Lets the held thread go on. */
    public static void release() {
        call("fake_release");
    }

    /** How many devices there are. */
    public static void devices(int count) {
        call("fake_devices", count);
    }

    /** How many objects there are of each kind. */
    public static Map<Kind, Integer> live() {
        Map<Kind, Integer> live = new LinkedHashMap<>();
        for (Kind kind : Kind.values()) {
            live.put(kind, (int) call("fake_live", kind.ordinal()));
        }
        return live;
    }

    /** A successful completion arrives in a queue, with no more than its id. */
    public static void complete(MemorySegment queue, long workRequestId) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment completion = ibv_wc.allocate(arena);
            ibv_wc.wr_id(completion, workRequestId);
            complete(queue, completion);
        }
    }

    /** A completion arrives in a queue; when the queue was armed, with an event. */
    public static void complete(MemorySegment queue, MemorySegment completion) {
        if ((int) call("fake_complete", queue.address(), completion.address()) != 0) {
            throw new AssertionError("the queue is full");
        }
    }

    /** An event of a queue arrives. */
    public static void raise(MemorySegment queue) {
        call("fake_raise", queue.address());
    }

    /** An asynchronous event arrives: the element is an address, or a port. */
    public static void async(MemorySegment context, int type, long element) {
        call("fake_async", context.address(), type, element);
    }

    /** What the macro verbs_get_ctx_op finds. */
    public static long extendedOp(MemorySegment context, String member) {
        return withString(member, name -> call("fake_extended_op", context.address(), name));
    }

    /** Changes a function of a verbs_context. */
    public static void setExtendedOp(MemorySegment context, String member, long function) {
        withString(member, name -> call("fake_set_extended_op", context.address(), name, function));
    }

    /** How large a verbs_context must be to have a member. */
    public static long extendedSize(String member) {
        return withString(member, name -> call("fake_extended_size", name));
    }

    /** Changes what a context says of its verbs_context. */
    public static void setAbi(MemorySegment context, long abiCompat, long size) {
        call("fake_set_abi", context.address(), abiCompat, size);
    }

    /** Where a function of the library is. */
    public static long address(String function) {
        return Library.SYMBOLS.findOrThrow(function).address();
    }

    /** Calls any function of the library, with numbers and addresses. */
    public static long call(String function, long... arguments) {
        MethodHandle handle = HANDLES.computeIfAbsent(function + arguments.length, key -> link(function, arguments));
        try {
            return (long) handle.invokeWithArguments(Arrays.stream(arguments).boxed().toArray());
        } catch (Throwable e) {
            throw new AssertionError(function, e);
        }
    }

    /** Calls a function with one segment, whose arena cannot be closed meanwhile. */
    public static int passMemory(String function, MemorySegment memory) {
        MethodHandle handle = Linker.nativeLinker().downcallHandle(Library.SYMBOLS.findOrThrow(function),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
        try {
            return (int) handle.invokeExact(memory);
        } catch (Throwable e) {
            throw new AssertionError(function, e);
        }
    }

    private static MethodHandle link(String function, long[] arguments) {
        MemoryLayout[] parameters = new MemoryLayout[arguments.length];
        Arrays.fill(parameters, ValueLayout.JAVA_LONG);
        return Linker.nativeLinker().downcallHandle(Library.SYMBOLS.findOrThrow(function),
                FunctionDescriptor.of(ValueLayout.JAVA_LONG, parameters));
    }

    @FunctionalInterface
    private interface WithAddress {
        long apply(long address);
    }

    private static long withString(String text, WithAddress use) {
        try (Arena arena = Arena.ofConfined()) {
            return use.apply(arena.allocateFrom(text, StandardCharsets.US_ASCII).address());
        }
    }
}
