// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.List;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.CompletionCursor;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.ExtendedCompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairTransitions;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.testing.WithFakeMlx5;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendOperation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Batches on send queues that have no room: libmlx5 notices it, but writes all the same. */
@WithFakeMlx5
class Mlx5FullQueueTest {
    /** The objects below a queue pair. */
    record Base(VerbsContext context, ProtectionDomain domain, MemoryRegion region, CompletionQueue queue)
            implements AutoCloseable {
        static Base open() throws RdmaException {
            VerbsContext context = Device.list().getFirst().open();
            ProtectionDomain domain = context.allocateProtectionDomain();
            return new Base(context, domain, domain.allocate(64, AccessFlag.LOCAL_WRITE),
                    context.createCompletionQueue(64));
        }

        /** Makes a queue pair that is connected to itself. */
        QueuePair pair(int maxSends, Set<SendOperation> operations) throws RdmaException {
            QueuePair pair = domain.createQueuePair(QueuePairInitAttributes.builder().completionQueue(queue)
                    .maxSendRequests(maxSends).sendOperations(operations).build());
            connect(pair);
            return pair;
        }

        static void connect(QueuePair pair) throws RdmaException {
            pair.modify(QueuePairTransitions.Rc.resetToInit(Mlx5End.PORT, 0, AccessFlag.REMOTE_WRITE));
            pair.modify(QueuePairTransitions.Rc.initToRtr(Mlx5End.path(), 1024, pair.number(), 0, 1,
                    RnrTimer.ofCode(12)));
            pair.modify(QueuePairTransitions.Rc.rtrToRts(0, AckTimeout.ofCode(14), 7, 7, 1));
        }

        @Override
        public void close() throws RdmaException {
            queue.close();
            region.close();
            domain.close();
            context.close();
        }
    }

    /** Fills the queue without a batch: what has completed stays there until the completion is polled. */
    private static void fill(QueuePair pair, MemoryRegion region) throws RdmaException {
        SendRequest request = SendRequests.allocate(1, 1).get(0).send().data(region, 0, 8);
        for (int i = 0; i < pair.capabilities().maxSendRequests(); i++) {
            pair.postSend(request);
        }
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> pair.postSend(request))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Rdma.ENOMEM()));
    }

    @ParameterizedTest
    @EnumSource(names = {"SEND", "SEND_WITH_IMM", "RDMA_WRITE", "RDMA_WRITE_WITH_IMM", "RDMA_READ",
        "ATOMIC_FETCH_AND_ADD", "LOCAL_INV"})
    void theFirstBatchFindsItFull(SendOperation operation) throws Exception {
        try (Base base = Base.open(); QueuePair pair = base.pair(4, Set.of(operation))) {
            fill(pair, base.region());
            try (SendBatch batch = pair.startBatch()) {
                for (int i = 0; i < 3; i++) {
                    begin(batch, operation);
                }
                assertThatExceptionOfType(RdmaException.class).isThrownBy(batch::complete)
                        .satisfies(e -> assertThat(e.errno()).isEqualTo(Rdma.ENOMEM()))
                        .withMessageContaining("ibv_wr_complete");
            }
        }
    }

    private static void begin(SendBatch batch, SendOperation operation) {
        switch (operation) {
            case SEND -> batch.send();
            case SEND_WITH_IMM -> batch.sendWithImmediate(1);
            case RDMA_WRITE -> batch.rdmaWrite(0, 0);
            case RDMA_WRITE_WITH_IMM -> batch.rdmaWriteWithImmediate(0, 0, 1);
            case RDMA_READ -> batch.rdmaRead(0, 0);
            case ATOMIC_FETCH_AND_ADD -> batch.fetchAndAdd(0, 0, 1);
            default -> batch.localInvalidate(0);
        }
    }

    @Test
    void aBatchThatIsTooLargeIsRefusedAsAWhole() throws Exception {
        try (Base base = Base.open(); QueuePair pair = base.pair(4, Set.of(SendOperation.SEND))) {
            int room = pair.capabilities().maxSendRequests();
            for (int count : List.of(room + 1, room)) {
                try (SendBatch batch = pair.startBatch()) {
                    for (int i = 0; i < count; i++) {
                        batch.send(base.region(), 0, 8);
                    }
                    if (count > room) {
                        assertThatExceptionOfType(RdmaException.class).isThrownBy(batch::complete)
                                .satisfies(e -> assertThat(e.errno()).isEqualTo(Rdma.ENOMEM()));
                    } else {
                        batch.complete();
                    }
                }
            }
        }
    }

    /** libmlx5 changes its function with the state. */
    @Test
    void aBatchIsRefusedUntilTheQueuePairIsReady() throws Exception {
        try (Base base = Base.open(); QueuePair pair = base.pair(4, Set.of(SendOperation.SEND))) {
            pair.modify(QueuePairAttributes.toReset());
            try (SendBatch batch = pair.startBatch()) {
                batch.send(base.region(), 0, 8);
                assertThatExceptionOfType(RdmaException.class).isThrownBy(batch::complete)
                        .satisfies(e -> assertThat(e.errno()).isEqualTo(Rdma.EINVAL()));
            }
            Base.connect(pair);
            try (SendBatch batch = pair.startBatch()) {
                batch.send(base.region(), 0, 8);
                batch.complete();
            }
        }
    }

    /** Both would wait for the lock of the queue, which the batch has. */
    @Test
    void nothingIsCancelledWhileABatchIsOpen() throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            Mlx5QueuePair pair = end.connection();
            try (Mlx5Batch batch = pair.startBatch()) {
                batch.send();
                assertThatIllegalStateException().isThrownBy(() -> pair.cancelPostedSends(1))
                        .withMessageContaining("a batch of this queue pair is open");
            }
            assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> pair.cancelPostedSends(1))
                    .withMessageContaining("mlx5dv_qp_cancel_posted_send_wrs");
        }
    }

    /** Resetting removes completions, and would wait for the cursor. */
    @Test
    void aQueuePairIsNotResetByTheThreadThatPolls() throws Exception {
        try (Mlx5End end = new Mlx5End();
                ExtendedCompletionQueue queue = end.context.createExtendedCompletionQueue(
                        CompletionQueueInitAttributes.builder(8).build());
                QueuePair pair = end.domain.createQueuePair(QueuePairInitAttributes.builder().completionQueue(queue)
                        .sendOperations(Set.of(SendOperation.RDMA_WRITE)).build())) {
            Base.connect(pair);
            try (SendBatch batch = pair.startBatch()) {
                batch.rdmaWrite(end.region.remoteAddress(), end.region.remoteKey() + 1, end.region, 0, 8);
                batch.complete();
            }
            CompletionCursor cursor = queue.startPoll();
            while (!cursor.next()) {
                cursor.close();
                cursor = queue.startPoll();
            }
            assertThatIllegalStateException().isThrownBy(() -> pair.modify(QueuePairAttributes.toReset()))
                    .withMessageContaining("has a cursor of the completion queue open");
            cursor.close();
            pair.modify(QueuePairAttributes.toReset());
        }
    }

    @Test
    void aQueueForNoRequestsHasNoBatches() throws Exception {
        try (Base base = Base.open(); QueuePair pair = base.pair(0, Set.of(SendOperation.SEND))) {
            assertThatIllegalStateException().isThrownBy(pair::startBatch).withMessage(
                    "the queue pair was created for no send requests: it cannot post batches");
        }
    }
}
