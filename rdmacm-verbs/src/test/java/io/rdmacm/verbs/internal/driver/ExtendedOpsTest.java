// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Stream;

import io.rdmacm.bindings.NativeLibrary;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.verbs_context;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each function of verbs_context is found exactly when the macro of verbs.h finds it. */
@WithFakeVerbs
class ExtendedOpsTest {
    private static final long EXTENDED = -1;

    private VerbsContext context;
    private MemorySegment handle;

    @BeforeEach
    void open() throws RdmaException {
        context = Device.list().getFirst().open();
        handle = context.handle();
    }

    @AfterEach
    void close() throws RdmaException {
        context.close();
    }

    private static String member(ExtendedOps op) {
        String name = op.name().toLowerCase(Locale.ROOT);
        return switch (op) {
            case CREATE_FLOW, DESTROY_FLOW -> "ibv_" + name;
            default -> name;
        };
    }

    @Test
    void coversEveryFunctionOfTheStruct() {
        Stream<String> members = verbs_context.layout().memberLayouts().stream().map(MemoryLayout::name)
                .flatMap(name -> name.stream())
                .filter(name -> !name.contains("placeholder") && !name.matches("priv|sz|context"))
                // what came after rdma-core 44 is called through functions that the library exports
                .filter(name -> NativeLibrary.since("ibv_" + name).isEmpty());

        assertThat(Arrays.stream(ExtendedOps.values()).map(ExtendedOpsTest::member))
                .containsExactlyInAnyOrderElementsOf(members.toList());
    }

    @ParameterizedTest
    @EnumSource
    void reachesTheFunction(ExtendedOps op) throws RdmaException {
        FakeVerbs.reset();
        FakeVerbs.result(-42);

        int result = op.require(handle.address()).callInt();

        assertThat(result).isEqualTo(-42);
        assertThat(FakeVerbs.functions()).containsExactly(member(op));
        assertThat(op.of(handle.address()).address()).isEqualTo(FakeVerbs.extendedOp(handle, member(op)));
    }

    @ParameterizedTest
    @EnumSource
    void aStructThatEndsBeforeTheMemberLacksIt(ExtendedOps op) throws RdmaException {
        long size = FakeVerbs.extendedSize(member(op));

        FakeVerbs.setAbi(handle, EXTENDED, size);
        assertThere(op);
        // An unsigned number, so this is the largest of all.
        FakeVerbs.setAbi(handle, EXTENDED, -1);
        assertThere(op);
        FakeVerbs.setAbi(handle, EXTENDED, size - 1);
        assertUnsupported(op);
        FakeVerbs.setAbi(handle, EXTENDED, 0);
        assertUnsupported(op);
    }

    @ParameterizedTest
    @EnumSource
    void aContextOfTheFirstAbiHasNoStruct(ExtendedOps op) {
        for (long abi : new long[] {0, 1, 0xffffffffL, handle.address()}) {
            FakeVerbs.setAbi(handle, abi, verbs_context.sizeof());
            assertUnsupported(op);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aNullPointerIsUnsupported(ExtendedOps op) {
        FakeVerbs.setExtendedOp(handle, member(op), 0);

        assertUnsupported(op);
    }

    private void assertThere(ExtendedOps op) throws RdmaException {
        assertThat(op.of(handle.address()).address()).isNotZero()
                .isEqualTo(FakeVerbs.extendedOp(handle, member(op)));
        assertThat(op.require(handle.address()).name()).isEqualTo(op.function());
    }

    private void assertUnsupported(ExtendedOps op) {
        assertThat(FakeVerbs.extendedOp(handle, member(op))).describedAs("what C finds").isZero();
        assertThat(op.of(handle.address())).isEqualTo(MemorySegment.NULL);
        assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> op.require(handle.address()))
                .withMessageStartingWith(op.function() + ": EOPNOTSUPP, ")
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Rdma.EOPNOTSUPP()))
                .satisfies(e -> assertThat(e.function()).startsWith("ibv_"));
    }
}
