// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.Stream;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.CompletionCursor;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeMlx5;
import io.rdmacm.verbs.testing.UseAfterClose;
import io.rdmacm.verbs.testing.WithFakeMlx5;
import io.rdmacm.verbs.work.SendOperation;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Completion queues whose entries the program chooses: what the kernel is asked for, and what they deliver. */
@WithFakeMlx5
class Mlx5CompletionQueueTest {
    private static final Mlx5CompletionQueueOptions DEFAULTS = Mlx5CompletionQueueOptions.create();
    private static final CompletionQueueInitAttributes SIXTEEN = CompletionQueueInitAttributes.builder(16).build();
    private static final int PADDED = 1 << 16;
    private static final int FORMAT_SHIFT = 20;
    // numbers of requests to the kernel, from rdma/ib_user_ioctl_cmds.h
    private static final int CQ_OBJECT = 3;
    private static final int CQ_CREATE = 0;

    @ParameterizedTest
    @ValueSource(ints = {64, 128})
    @Covers("mlx5dv_create_cq")
    void entriesOfEitherSizeAreRead(int bytes) throws Exception {
        try (Mlx5End one = new Mlx5End(); Mlx5End other = new Mlx5End()) {
            Mlx5CompletionQueue queue = one.own(Mlx5CompletionQueue.create(one.context, SIXTEEN,
                    DEFAULTS.cqeSize(bytes)));
            assertThat(FakeMlx5.completionOptions()).isEqualTo(bytes);
            assertThat(queue.options().cqeSize()).hasValue(bytes);
            Mlx5QueuePair pair = one.own(Mlx5QueuePair.create(one.domain, Mlx5QueuePairAttributes.of(
                    QueuePairInitAttributes.builder().type(QueuePairType.RC).completionQueue(queue)
                            .sendOperations(List.of(SendOperation.RDMA_WRITE)).build())
                    .operations(Mlx5SendOperation.RAW_WQE)));
            Mlx5End.connect(pair, other.connection());
            one.fill(0, 32, 1);
            try (Mlx5Batch batch = pair.startBatch()) {
                for (int i = 0; i < 2; i++) {
                    batch.id(7 + i).rdmaWrite(other.region.remoteAddress(), other.region.remoteKey())
                            .data(one.region, 0, 32);
                }
                batch.complete();
            }

            for (int i = 0; i < 2; i++) {
                assertThat(next(queue)).isEqualTo(7 + i);
            }
            assertThat(other.bytes(0, 32)).isEqualTo(one.bytes(0, 32));
        }
    }

    private static long next(Mlx5CompletionQueue queue) throws RdmaException {
        while (true) {
            try (CompletionCursor completion = queue.startPoll()) {
                if (completion.next()) {
                    assertThat(completion.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                    return completion.workRequestId();
                }
            }
            Thread.onSpinWait();
        }
    }

    @Test
    @Covers("mlx5dv_create_cq")
    void entriesArePadded() throws Exception {
        try (Mlx5End one = new Mlx5End()) {
            one.own(Mlx5CompletionQueue.create(one.context, SIXTEEN, DEFAULTS.cqeSize(128).padded()));

            assertThat(FakeMlx5.completionOptions()).isEqualTo(128 | PADDED);
        }
    }

    @ParameterizedTest
    @EnumSource(CompressionFormat.class)
    @Covers("mlx5dv_create_cq")
    void aCompressedQueueIsOnlyReadAsMemory(CompressionFormat format) throws Exception {
        WorkCompletions completions = WorkCompletions.allocate(1);
        try (Mlx5End one = new Mlx5End()) {
            Mlx5CompletionQueue queue = one.own(Mlx5CompletionQueue.create(one.context, SIXTEEN,
                    DEFAULTS.compressed(format)));

            assertThat(FakeMlx5.completionOptions() >> FORMAT_SHIFT).isEqualTo(format.bit());
            assertThatThrownBy(() -> queue.poll(completions)).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("the driver cannot read");
            assertThatThrownBy(queue::startPoll).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("the driver cannot read");
            assertThat(RawQueues.of(queue).entries()).isGreaterThanOrEqualTo(16);
        }
    }

    @Test
    void optionsThatCannotBeAreRefused() {
        assertThatThrownBy(() -> DEFAULTS.cqeSize(32)).isInstanceOf(IllegalArgumentException.class)
                .hasMessage("entries have 64 or 128 bytes, not 32");
        assertThatThrownBy(DEFAULTS::padded).isInstanceOf(IllegalArgumentException.class)
                .hasMessage("only entries of 128 bytes are padded");
        assertThatThrownBy(() -> DEFAULTS.cqeSize(128).padded().cqeSize(64))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    @Covers("mlx5dv_create_cq")
    void aQueueThatTheKernelRefusesLeavesNothing() throws Exception {
        try (Mlx5End one = new Mlx5End()) {
            FakeMlx5.refuse(CQ_OBJECT, CQ_CREATE, Rdma.ENOMEM());

            assertThatThrownBy(() -> Mlx5CompletionQueue.create(one.context, SIXTEEN, DEFAULTS.cqeSize(128)))
                    .isInstanceOf(RdmaException.class).hasMessageContaining("ENOMEM");
        }
    }

    @TestFactory
    Stream<DynamicTest> aClosedQueueIsNotUsed() throws Exception {
        try (Mlx5End one = new Mlx5End()) {
            Mlx5CompletionQueue queue = Mlx5CompletionQueue.create(one.context, SIXTEEN, DEFAULTS);
            queue.close();
            return UseAfterClose.of(List.of(Mlx5CompletionQueue.class)).closed(queue)
                    .argument(WorkCompletions.class, WorkCompletions.allocate(1)).tests();
        }
    }
}
