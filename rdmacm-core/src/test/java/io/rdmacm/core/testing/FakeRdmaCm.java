// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.testing;

import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.rdmacm.core.CmEventType;
import io.rdmacm.core.CmId;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.testing.FakeVerbs;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/** The controls of the stand-in for librdmacm, {@code src/test/c}: what it was called with, what it shall deliver. */
@SuppressWarnings("restricted")
public final class FakeRdmaCm {
    public static final String PROPERTY = "io.rdmacm.librdmacm";
    private static final int ARGUMENTS = 5;

    private FakeRdmaCm() {
    }

    /**
     * Lets it create queue pairs and shared receive queues, and count what is allocated, in the stand-in for
     * libibverbs, which writes to the shared receive queue of a queue pair: it must be one of its own.
     */
    public static void shareWithVerbs() {
        call("fake_share", FakeVerbs.address("fake_allocate"), FakeVerbs.address("fake_free"),
                FakeVerbs.address("fake_used"), FakeVerbs.address("ibv_create_qp"),
                FakeVerbs.address("ibv_destroy_qp"));
        call("fake_share_queues", FakeVerbs.address("ibv_create_srq"), FakeVerbs.address("ibv_destroy_srq"));
    }

    /** Loaded on the first use of a control, when the library is known to exist. */
    private static final class Library {
        public static final SymbolLookup SYMBOLS = SymbolLookup.libraryLookup(System.getProperty(PROPERTY),
                Arena.global());
    }

    /** Tests over the stand-in: skipped, with the reason, where it could not be built. */
    @Target(ElementType.TYPE)
    @Retention(RetentionPolicy.RUNTIME)
    @ExtendWith(Extension.class)
    public @interface With {
    }

    /** What the annotation does. */
    public static final class Extension implements ExecutionCondition, BeforeEachCallback {
        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            String library = System.getProperty(PROPERTY);
            if (library == null) {
                return ConditionEvaluationResult.disabled("the system property " + PROPERTY
                        + " does not name the stand-in for librdmacm; the Maven build sets it");
            }
            Path path = Path.of(library);
            return Files.exists(path)
                    ? ConditionEvaluationResult.enabled("the stand-in for librdmacm is there")
                    : ConditionEvaluationResult.disabled("there is no stand-in for librdmacm"
                            + reason(path.resolveSibling("missing.txt")));
        }

        @Override
        public void beforeEach(ExtensionContext context) {
            call("fake_reset");
        }

        private static String reason(Path file) {
            try {
                return Files.exists(file) ? ": " + Files.readString(file).strip() : "";
            } catch (IOException e) {
                return ": " + e;
            }
        }
    }

    /**
     * One recorded call.
     *
     * @param function its name in C
     * @param arguments widened to 64 bits, zeros behind the last
     * @param data what its pointer led to
     */
    public record Call(String function, List<Long> arguments, byte[] data) {
    }

    /** The calls of one function since the test began. */
    public static List<Call> calls(String function) {
        List<Call> calls = new ArrayList<>();
        long count = call("fake_records");
        for (long i = 0; i < count; i++) {
            long record = call("fake_record_at", i);
            if (Memory.string(Memory.getLong(record)).equals(function)) {
                calls.add(read(record, function));
            }
        }
        return calls;
    }

    private static Call read(long record, String function) {
        long position = record + Long.BYTES;
        List<Long> arguments = new ArrayList<>();
        for (int i = 0; i < ARGUMENTS; i++, position += Long.BYTES) {
            arguments.add(Memory.getLong(position));
        }
        return new Call(function, arguments, Memory.bytes(position + Long.BYTES, (int) Memory.getLong(position)));
    }

    /** The next call of a function fails. */
    public static void fail(String function, int errno) {
        try (Arena arena = Arena.ofConfined()) {
            call("fake_fail", arena.allocateFrom(function).address(), errno);
        }
    }

    /** Of the next calls of a function some succeed, and the one after these fails. */
    public static void failAfter(int calls, String function, int errno) {
        try (Arena arena = Arena.ofConfined()) {
            call("fake_fail_after", arena.allocateFrom(function).address(), calls, errno);
        }
    }

    /** An event arrives, of an id of the stand-in. */
    public static void event(CmId id, CmEventType type) {
        call("fake_event", id.handle().address(), type.value());
    }

    /** Calls any function of the library, with numbers and addresses. */
    public static long call(String function, long... arguments) {
        MemoryLayout[] parameters = new MemoryLayout[arguments.length];
        Arrays.fill(parameters, ValueLayout.JAVA_LONG);
        try {
            return (long) Linker.nativeLinker().downcallHandle(Library.SYMBOLS.findOrThrow(function),
                    FunctionDescriptor.of(ValueLayout.JAVA_LONG, parameters))
                    .invokeWithArguments(Arrays.stream(arguments).boxed().toArray());
        } catch (Throwable e) {
            throw new AssertionError(function, e);
        }
    }
}
