// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.device.AsyncEventType;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.error.WorkRequestException;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.queue.SharedReceiveQueueAttributes;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.HandMadePair;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.Measured;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Shared receive queues of the device; named as the cases of the peers. */
@RequiresRdma
class SharedReceiveQueueDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behind();

    private static final Duration LIMIT = Duration.ofMinutes(4);

    private static void send(HandMadePair pair, int count) throws Exception {
        for (int i = 0; i < count; i++) {
            pair.a().write(0, "shared " + i);
            pair.a().queuePair().postSend(pair.a().request(1).send().data(pair.a().region(), 0, 8));
            assertThat(pair.a().completion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            WorkCompletion received = pair.b().completion();
            assertThat(received.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(pair.b().read(received.workRequestId() * 64, 8)).isEqualTo("shared " + i);
        }
    }

    private static void post(HandMadePair.Side side, int first, int count) throws RdmaException {
        for (int i = first; i < first + count; i++) {
            side.post(side.receive(i).data(side.region(), 64L * i, 64));
        }
    }

    @Test
    @DisplayName("SrqTestCase.test_rc_srq_traffic")
    @Covers({"ibv_create_srq", "ibv_post_srq_recv", "ibv_destroy_srq", "ibv_create_qp"})
    void traffic() throws Exception {
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC).sharedReceiveQueue().build()) {
            post(pair.b(), 0, 8);
            send(pair, 8);
        }
    }

    @Test
    @DisplayName("SrqTestCase.test_resize_srq")
    @Covers({"ibv_modify_srq", "ibv_query_srq", "ibv_query_device"})
    void resize() throws Exception {
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC).sharedReceiveQueue().build()) {
            SharedReceiveQueue queue = pair.b().sharedReceiveQueue();
            SharedReceiveQueueAttributes before = queue.query();
            assertThat(before.maxRequests()).isGreaterThanOrEqualTo(16);
            post(pair.b(), 0, 2);

            queue.resize(before.maxRequests() * 2);

            assertThat(queue.query().maxRequests()).isGreaterThanOrEqualTo(before.maxRequests() * 2);
            assertThat(queue.query().maxScatterGather()).isEqualTo(before.maxScatterGather());
            post(pair.b(), 2, 6);
            send(pair, 8);
            assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> queue.resize(Integer.MAX_VALUE))
                    .withMessageStartingWith("ibv_modify_srq (");
        }
    }

    @Test
    @DisplayName("SrqTestCase.test_modify_srq_limit")
    @Covers({"ibv_modify_srq", "ibv_query_srq", "ibv_get_async_event"})
    void limit() throws Exception {
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC).sharedReceiveQueue().build()) {
            SharedReceiveQueue queue = pair.b().sharedReceiveQueue();
            post(pair.b(), 0, 8);
            queue.setLimit(7);
            assertThat(queue.query().limit()).isEqualTo(7);

            send(pair, 2);

            AsyncEventType type;
            do {
                try (AsyncEvent event = pair.context().getAsyncEvent(LIMIT)) {
                    type = event.type();
                }
            } while (type != AsyncEventType.SRQ_LIMIT_REACHED);
            // it was raised once
            assertThat(queue.query().limit()).isZero();
            assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> queue.setLimit(Integer.MAX_VALUE))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Rdma.EINVAL()));
        }
    }

    @Test
    @Covers({"ibv_post_srq_recv", "ibv_poll_cq"})
    void aQueueThatRunsDryFailsTheSenderAfterItsRetries() throws Exception {
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC).sharedReceiveQueue()
                .rtr(step -> step.toBuilder().minRnrTimer(RnrTimer.ofCode(1)).build())
                .rts(step -> step.toBuilder().rnrRetry(1).build()).build()) {
            post(pair.b(), 0, 2);
            send(pair, 2);
            Measured dry = Measured.fromNow();
            pair.a().queuePair().postSend(pair.a().request(2).send().data(pair.a().region(), 0, 8));
            WorkCompletion failed = pair.a().completion();
            dry.print("shared receive queue dry, 1 retry");
            assertThat(failed.status()).isEqualTo(WorkCompletionStatus.RNR_RETRY_EXC_ERR);
            assertThat(failed.workRequestId()).isEqualTo(2);
            assertThat(pair.a().queuePair().state()).isEqualTo(QueuePairState.ERROR);
            // the receiver has not noticed anything
            assertThat(pair.b().queuePair().state()).isEqualTo(QueuePairState.RTS);
        }
    }

    @Test
    @Covers({"ibv_post_srq_recv", "ibv_poll_cq"})
    void aSenderWithoutALimitOfRetriesWaitsUntilTheQueueIsFilledAgain() throws Exception {
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC).sharedReceiveQueue()
                .rtr(step -> step.toBuilder().minRnrTimer(RnrTimer.ofCode(1)).build())
                .rts(step -> step.toBuilder().rnrRetry(7).build()).build()) {
            pair.a().queuePair().postSend(pair.a().request(0).send().data(pair.a().region(), 0, 8));
            assertThat(pair.a().completionQueue().poll(WorkCompletions.allocate(1))).isZero();
            post(pair.b(), 0, 1);
            assertThat(pair.a().completion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(pair.b().completion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
        }
    }

    @Test
    @Covers("ibv_post_srq_recv")
    void aFullQueueRefusesTheNextReceive() throws Exception {
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC).sharedReceiveQueue().unconnected().build()) {
            SharedReceiveQueue queue = pair.b().sharedReceiveQueue();
            int limit = maxRequests(queue);
            ReceiveRequests block = ReceiveRequests.allocate(4 * limit, 1);
            assertThatExceptionOfType(WorkRequestException.class)
                    .isThrownBy(() -> queue.postReceive(block, 0, 4 * limit))
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Rdma.ENOMEM()))
                    .satisfies(e -> assertThat(e.failedIndex()).isBetween(limit, 4 * limit - 1));
        }
    }

    private static int maxRequests(SharedReceiveQueue queue) throws RdmaException {
        try {
            return queue.query().maxRequests();
        } catch (RdmaUnsupportedException e) {
            return Assumptions.abort("the driver does not tell the size of a shared receive queue: " + e.getMessage());
        }
    }
}
