// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemoryLayout;
import java.util.List;
import java.util.stream.Stream;

import io.rdmacm.bindings.ibv_context;
import io.rdmacm.bindings.ibv_context_ops;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each function of ibv_context.ops is found by its own pointer. */
@WithFakeVerbs
class ContextOpsTest {
    private FakeStack stack;
    private long context;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        context = stack.context().handle().address();
    }

    @AfterEach
    void close() throws RdmaException {
        stack.close();
    }

    static List<ContextOps> all() {
        return List.of(ContextOps.POLL_CQ, ContextOps.REQ_NOTIFY_CQ, ContextOps.POST_SEND, ContextOps.POST_RECV,
                ContextOps.POST_SRQ_RECV, ContextOps.ALLOC_MW, ContextOps.BIND_MW, ContextOps.DEALLOC_MW);
    }

    static List<Named<ContextOps>> named() {
        return all().stream().map(op -> Named.of(op.name(), op)).toList();
    }

    @Test
    void coversEveryFunctionThatIsNotAnExportToo() {
        Stream<String> members = ibv_context_ops.layout().memberLayouts().stream().map(MemoryLayout::name)
                .flatMap(name -> name.stream()).filter(name -> !name.startsWith("_compat"));

        assertThat(all().stream().map(ContextOps::name))
                .containsExactlyInAnyOrderElementsOf(members.map(name -> "ibv_" + name).toList());
    }

    @ParameterizedTest
    @MethodSource("named")
    void reachesTheFunction(ContextOps op) throws RdmaException {
        // The queue comes first in those that look into it; the others take these numbers for what they are.
        long queue = stack.queue().handle().address();
        FakeVerbs.reset();

        NativeFunction.at(op.name(), op.of(context)).callInt(queue, 0, 0);

        assertThat(FakeVerbs.functions()).containsExactly(op.name().substring("ibv_".length()));
        assertThat(FakeVerbs.calls().getFirst().arguments()).startsWith(queue, 0L, 0L);
    }

    @ParameterizedTest
    @MethodSource("named")
    void aFunctionThatTheDriverLacksIsANullPointer(ContextOps op) {
        stack.context().handle().asSlice(ibv_context.ops$offset(), ibv_context_ops.sizeof()).fill((byte) 0);

        assertThat(op.of(context)).isZero();
    }

    @Test
    void everyObjectKnowsItsContext() {
        assertThat(List.of(stack.domain(), stack.region(), stack.queue(), stack.queuePair()))
                .allSatisfy(object -> assertThat(ContextOps.contextOf(object.handle().address())).isEqualTo(context));
    }

    @Test
    void theDataPathPassesEachArgument() {
        long queue = stack.queue().handle().address();
        FakeVerbs.reset();

        for (boolean critical : new boolean[] {false, true}) {
            assertThat(ContextOps.POLL_CQ.call(queue, critical)
                    .call(queue, 7, 0x1122334455667788L, 0, 0, 0)).isZero();
            assertThat(ContextOps.REQ_NOTIFY_CQ.call(queue, critical).call(queue, 1, 0, 0, 0, 0)).isZero();
            assertThat((int) DriverCall.of(ContextOps.POST_SEND.of(context), critical)
                    .call(-2, 0, 5, 0, 0, 0)).isZero();
        }

        assertThat(FakeVerbs.calls("poll_cq")).hasSize(2)
                .allSatisfy(call -> assertThat(call.arguments()).startsWith(queue, 7L, 0x1122334455667788L));
        assertThat(FakeVerbs.calls("req_notify_cq")).hasSize(2)
                .allSatisfy(call -> assertThat(call.arguments()).startsWith(queue, 1L));
        assertThat(FakeVerbs.calls("post_send")).hasSize(2)
                .allSatisfy(call -> assertThat(call.arguments()).startsWith(-2L, 0L, 5L));
    }
}
