// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.counter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_comp_cntr_caps;
import io.rdmacm.bindings.ibv_comp_cntr_init_attr;
import io.rdmacm.bindings.ibv_qp_attach_comp_cntr_attr;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Completion counters: what C gets and answers, and that they outlive the queue pairs that they count for. */
@WithFakeVerbs
class CompletionCounterTest {
    private static final long HUGE = 0x8000_0000_0000_0001L;

    private FakeStack stack;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        stack.close();
    }

    private CompletionCounter counter() throws RdmaException {
        return CompletionCounter.create(stack.context(), CompletionCounterType.WRS);
    }

    @Test
    @Covers("ibv_query_comp_cntr_caps")
    void theCapabilitiesAreRead() throws RdmaException {
        CompletionCounterCapabilities capabilities = CompletionCounterCapabilities.query(stack.context());

        assertThat(capabilities.maxValue()).isEqualTo(Long.MIN_VALUE + 5);
        assertThat(capabilities.maxCounters()).isEqualTo(0x80000001L);
        assertThat(capabilities.operations()).containsExactly(CompletionCounterOperation.SEND,
                CompletionCounterOperation.REMOTE_RDMA_WRITE);
        assertThat(capabilities.operations().unknownBits()).isEqualTo(0x80000000L);
        List<Long> arguments = FakeVerbs.calls("_ibv_query_comp_cntr_caps").getFirst().arguments();
        assertThat(arguments).startsWith(stack.context().handle().address());
        assertThat(arguments.get(2)).isEqualTo(ibv_comp_cntr_caps.sizeof());
        FakeVerbs.fail("_ibv_query_comp_cntr_caps", Rdma.EOPNOTSUPP());
        assertThatExceptionOfType(RdmaUnsupportedException.class)
                .isThrownBy(() -> CompletionCounterCapabilities.query(stack.context()))
                .withMessageStartingWith("ibv_query_comp_cntr_caps: EOPNOTSUPP");
    }

    @Test
    @Covers({"ibv_create_comp_cntr", "ibv_destroy_comp_cntr", "ibv_read_comp_cntr", "ibv_read_err_comp_cntr",
            "ibv_set_comp_cntr", "ibv_set_err_comp_cntr", "ibv_inc_comp_cntr", "ibv_inc_err_comp_cntr"})
    void bothValuesAreSetAndReadByTheirFunctions() throws RdmaException {
        try (CompletionCounter counter = CompletionCounter.create(stack.context(), CompletionCounterType.BYTES)) {
            FakeVerbs.Call call = FakeVerbs.calls("ibv_create_comp_cntr").getFirst();
            ByteBuffer struct = ByteBuffer.wrap(call.data()).order(ByteOrder.nativeOrder());
            assertThat(call.arguments()).startsWith(stack.context().handle().address());
            assertThat(struct.getInt((int) ibv_comp_cntr_init_attr.comp_mask$offset())).isZero();
            assertThat(struct.getInt((int) ibv_comp_cntr_init_attr.type$offset())).isEqualTo(1);
            assertThat(struct.getInt((int) ibv_comp_cntr_init_attr.flags$offset())).isZero();
            assertThat(counter.type()).isEqualTo(CompletionCounterType.BYTES);
            assertThat(counter.context()).isSameAs(stack.context());
            assertThat(counter).hasToString("CompletionCounter[BYTES at 0x"
                    + Long.toHexString(counter.handle().address()) + "]");

            counter.set(HUGE);
            counter.setErrors(5);
            counter.increment(3);
            counter.incrementErrors(-1);

            assertThat(counter.read()).isEqualTo(HUGE + 3);
            assertThat(counter.readErrors()).isEqualTo(4);
            assertThat(FakeVerbs.functions()).containsExactly("ibv_create_comp_cntr", "ibv_set_comp_cntr",
                    "ibv_set_err_comp_cntr", "ibv_inc_comp_cntr", "ibv_inc_err_comp_cntr", "ibv_read_comp_cntr",
                    "ibv_read_err_comp_cntr");
            assertThatIllegalStateException().isThrownBy(stack.context()::close)
                    .withMessageContaining(counter.toString());
            FakeVerbs.fail("ibv_read_comp_cntr", Rdma.EOPNOTSUPP());
            assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(counter::read);
            FakeVerbs.fail("ibv_inc_err_comp_cntr", Rdma.EINVAL());
            assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> counter.incrementErrors(1))
                    .withMessageStartingWith("ibv_inc_err_comp_cntr: EINVAL");
        }
        assertThat(FakeVerbs.functions()).endsWith("ibv_destroy_comp_cntr");
    }

    @Test
    @Covers("ibv_qp_attach_comp_cntr")
    void aCounterIsClosedAfterTheQueuePairsThatItCountsFor() throws RdmaException {
        CompletionCounter counter = counter();
        QueuePair pair = stack.queuePair();

        counter.attach(pair, CompletionCounterOperation.RECV, CompletionCounterOperation.RDMA_WRITE);

        FakeVerbs.Call call = FakeVerbs.calls("ibv_qp_attach_comp_cntr").getFirst();
        assertThat(call.arguments()).startsWith(pair.handle().address(), counter.handle().address());
        ByteBuffer struct = ByteBuffer.wrap(call.data()).order(ByteOrder.nativeOrder());
        assertThat(struct.getInt((int) ibv_qp_attach_comp_cntr_attr.comp_mask$offset())).isZero();
        assertThat(struct.getInt((int) ibv_qp_attach_comp_cntr_attr.op_mask$offset())).isEqualTo(1 << 1 | 1 << 4);
        assertThatIllegalStateException().isThrownBy(counter::close).withMessageContaining(pair.toString());
        // once more, for another operation; a refusal of that detaches nothing
        FakeVerbs.fail("ibv_qp_attach_comp_cntr", Rdma.EBUSY());
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> counter.attach(pair, CompletionCounterOperation.SEND))
                .withMessageStartingWith("ibv_qp_attach_comp_cntr: EBUSY");
        assertThatIllegalStateException().isThrownBy(counter::close);
        counter.attach(pair, CompletionCounterOperation.SEND);
        pair.close();
        counter.close();
        assertThat(FakeVerbs.functions()).containsSubsequence("ibv_destroy_qp", "ibv_destroy_comp_cntr");
    }

    @Test
    void aRefusedAttachmentHoldsNothing() throws RdmaException {
        CompletionCounter counter = counter();
        FakeVerbs.fail("ibv_qp_attach_comp_cntr", Rdma.EOPNOTSUPP());
        assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(
                () -> counter.attach(stack.queuePair(), CompletionCounterOperation.SEND));
        counter.close();
        FakeVerbs.reset();
        assertThatIllegalStateException().isThrownBy(
                () -> counter.attach(stack.queuePair(), CompletionCounterOperation.SEND));
        assertThatIllegalStateException().isThrownBy(counter::read);
        assertThat(FakeVerbs.calls()).isEmpty();
    }

    @Test
    void whatDoesNotFitIsRefusedBeforeAnyNativeCall() throws RdmaException {
        try (FakeStack other = new FakeStack(); CompletionCounter counter = counter()) {
            FakeVerbs.reset();
            assertThatIllegalArgumentException().isThrownBy(() -> counter.attach(stack.queuePair()))
                    .withMessageContaining("at least one operation");
            assertThatIllegalArgumentException().isThrownBy(
                    () -> counter.attach(other.queuePair(), CompletionCounterOperation.SEND))
                    .withMessageContaining("another context");
            assertThat(FakeVerbs.calls()).isEmpty();
        }
        FakeVerbs.fail("ibv_create_comp_cntr", Rdma.EOPNOTSUPP());
        assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(this::counter)
                .withMessageStartingWith("ibv_create_comp_cntr (WRS): EOPNOTSUPP");
    }
}
