// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.device.AsyncEventType;

/**
 * What stands in for the kernel and a card {@code mlx5_0} ({@code src/test/c/kernel}): preloaded into the JVM, so that
 * the real libmlx5 runs without a device.
 */
@SuppressWarnings("restricted")
public final class FakeMlx5 {
    private static final Path FOLDER = Path.of(System.getProperty("io.rdmacm.fakekernel", "target/fakekernel"))
            .toAbsolutePath();

    private static final int BLOCK = 64;
    private static final int SENDS = 1 << 14;
    private static final int COMMAND = 1024;

    private FakeMlx5() {
    }

    /** Why there is no stand-in in this JVM; null if there is. */
    public static String missing() throws IOException {
        Path reason = FOLDER.resolve("missing.txt");
        if (Files.exists(reason)) {
            return Files.readString(reason).strip();
        }
        return System.getenv().getOrDefault("LD_PRELOAD", "").contains("libkernel.so") ? null
                : "the stand-in for the kernel is not preloaded";
    }

    /** How many objects the kernel has. */
    public static int objects() {
        return call("kernel_objects");
    }

    /** Refuses the next request of that kind, with an errno. */
    public static void refuse(int object, int method, int error) {
        call("kernel_refuse", object, method, 0, error);
    }

    /** Raises an event of a queue pair or of a completion queue. */
    public static void raise(AsyncEventType type, NativeObject queue) {
        assertThat(call("kernel_raise_for", type.value(), queue.handle())).as("queues that %s names", queue).isOne();
    }

    /** Raises an event of the queue that was created last, which may be one that only the library has. */
    public static void raiseForNewest(AsyncEventType type) {
        assertThat(call("kernel_raise_for_newest", type.value())).as("there is one").isOne();
    }

    /** Raises an event of the device or of a port of it. */
    public static void raise(AsyncEventType type, int port) {
        call("kernel_raise", type.value(), MemorySegment.ofAddress(port));
    }

    /** How the last completion queue was made: the size of entries, 1 << 16 if padded, 1 << 20 times the format. */
    public static int completionOptions() {
        return call("kernel_completions");
    }

    /** Whether cards that are opened from now on take encryption keys wrapped or in plain text. */
    public static void takeWrappedKeys(boolean wrapped) {
        call("kernel_take_wrapped_keys", wrapped ? 1 : 0);
    }

    /** Whether the credentials of logins have been deleted. */
    public static void invalidateLogins(boolean invalid) {
        call("kernel_invalidate_logins", invalid ? 1 : 0);
    }

    /** The command that has created the last object that has no meaning for the queues. */
    public static byte[] lastCommand() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(COMMAND);
            int count = call("kernel_last_command", bytes, COMMAND);
            return bytes.asSlice(0, count).toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /**
     * The entries of a send queue from some block of 64 bytes on, up to the last that was posted: without their
     * indices, which are never the same, and without what lies behind each in its last block.
     */
    public static byte[] entries(int number, int from) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment queue = arena.allocate(SENDS);
            int to = call("kernel_sends", number, queue, SENDS);
            byte[] bytes = queue.asSlice((long) from * BLOCK, (long) (to - from) * BLOCK)
                    .toArray(ValueLayout.JAVA_BYTE);
            for (int at = 0; at < bytes.length;) {
                bytes[at + 1] = 0;
                bytes[at + 2] = 0;
                int end = at + (bytes[at + 7] & 0x3f) * 16;
                int next = (end + BLOCK - 1) / BLOCK * BLOCK;
                Arrays.fill(bytes, end, next, (byte) 0);
                at = next;
            }
            return bytes;
        }
    }

    /**
     * The type of device memory that was allocated last, the operation that was mapped last; of the memory that was
     * registered last for commands the length, the access, the bits of page sizes, and the file or -1.
     */
    public static long[] lastMemory() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment values = arena.allocate(ValueLayout.JAVA_LONG, 6);
            call("kernel_memory", values);
            return values.toArray(ValueLayout.JAVA_LONG);
        }
    }

    /** How many blocks of 64 bytes were posted to a send queue. */
    public static int blocks(int number) {
        try (Arena arena = Arena.ofConfined()) {
            return call("kernel_sends", number, arena.allocate(SENDS), SENDS);
        }
    }

    /**
     * The card finds that a signature is wrong.
     *
     * @param values syndrome, domain, expected and actual value, expected and actual reference tag, offset
     */
    public static void wrongSignature(int number, int key, int... values) {
        Object[] arguments = new Object[values.length + 2];
        arguments[0] = number;
        arguments[1] = key;
        for (int i = 0; i < values.length; i++) {
            arguments[i + 2] = values[i];
        }
        call("kernel_wrong_signature", arguments);
    }

    private static int call(String function, Object... arguments) {
        FunctionDescriptor type = FunctionDescriptor.of(ValueLayout.JAVA_INT);
        for (Object argument : arguments) {
            type = type.appendArgumentLayouts(argument instanceof MemorySegment ? ValueLayout.ADDRESS
                    : ValueLayout.JAVA_INT);
        }
        MethodHandle handle = Linker.nativeLinker().downcallHandle(
                SymbolLookup.libraryLookup(FOLDER.resolve("libkernel.so"), Arena.global()).find(function).orElseThrow(),
                type);
        try {
            return (int) handle.invokeWithArguments(arguments);
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
