// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/** Passes commands to the firmware and returns its answers. */
final class DevxCommand {
    // opcode, modifier and the like; the answer has status, syndrome and a number of the object
    private static final int LEAST = 16;
    private static final int MOST = 1 << 16;

    private DevxCommand() {
    }

    /** Checks the sizes of a command and of its answer. */
    static void check(byte[] command, int answerBytes) {
        requireSize("command", command.length);
        requireSize("answer", answerBytes);
    }

    private static void requireSize(String what, int bytes) {
        if (bytes < LEAST || bytes > MOST) {
            throw new IllegalArgumentException("the " + what + " must have from " + LEAST + " to " + MOST
                    + " bytes, not " + bytes);
        }
    }

    /** Calls a function that takes an object, a command and room for the answer, and returns an error number. */
    static byte[] call(NativeFunction function, long object, byte[] command, int answerBytes) throws RdmaException {
        check(command, answerBytes);
        try (Arena arena = Arena.ofConfined()) {
            long in = copy(command, arena);
            long out = arena.allocate(answerBytes, Long.BYTES).address();
            Check.returned(function, function.callInt(object, in, command.length, out, answerBytes));
            return Memory.bytes(out, answerBytes);
        }
    }

    /** Copies a command to native memory, aligned as the library reads it. */
    static long copy(byte[] command, Arena arena) {
        MemorySegment memory = arena.allocate(command.length, Long.BYTES);
        MemorySegment.copy(command, 0, memory, ValueLayout.JAVA_BYTE, 0, command.length);
        return memory.address();
    }
}
