// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.time.Duration;
import java.util.List;
import java.util.Set;

import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.WorkRequestException;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.QueuePairTransitions;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.HandMadePair;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.Measured;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.MemoryWindowType;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Failed completions, each made by a real fault. Where the specification names one status and SoftRoCE gives another,
 * both are taken. SoftRoCE of Linux 6.1 never gives LOC_LEN_ERR: a receive that is too small ends with LOC_QP_OP_ERR,
 * and messages longer than the port's maximum arrive.
 */
@RequiresRdma
class CompletionStatusDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behind();

    private static final Duration LIMIT = Duration.ofMinutes(4);
    /**
     * What SoftRoCE of Linux 7.2 gives a request of its own side that it refuses: there, the queue pair fails first,
     * and the request is flushed like all behind it. Linux 6.1 names the fault.
     */
    private static final WorkCompletionStatus REFUSED_BY_LINUX_7_2 = WorkCompletionStatus.WR_FLUSH_ERR;

    /** A send of some bytes. */
    private static SendRequest send(HandMadePair.Side side, int bytes) throws RdmaException {
        return side.request(1).send().data(side.region(), 0, bytes);
    }

    private static void assertStatus(HandMadePair.Side side, WorkCompletionStatus... expected) throws Exception {
        WorkCompletion completion = side.completion();
        assertThat(completion.status()).isIn((Object[]) expected);
        assertThat(completion.workRequestId()).isEqualTo(1);
        assertThat(completion.queuePairNumber()).isEqualTo(side.queuePair().number());
        // SoftRoCE of Linux 7.2 may report the failure before it changes the state
        long end = System.nanoTime() + LIMIT.toNanos();
        while (side.queuePair().state() != QueuePairState.ERROR && System.nanoTime() < end) {
            Thread.onSpinWait();
        }
        assertThat(side.queuePair().state()).isEqualTo(QueuePairState.ERROR);
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairType.class, names = {"RC", "UC"})
    @Covers("ibv_poll_cq")
    void aReceiveThatIsTooSmall(QueuePairType type) throws Exception {
        try (HandMadePair pair = HandMadePair.of(type).build()) {
            pair.b().post(pair.b().receive(1).data(pair.b().region(), 0, 8));
            pair.a().queuePair().postSend(send(pair.a(), 100));

            // SoftRoCE does not tell it from other faults of the receive
            assertStatus(pair.b(), WorkCompletionStatus.LOC_LEN_ERR, WorkCompletionStatus.LOC_QP_OP_ERR);
            if (type == QueuePairType.RC) {
                assertStatus(pair.a(), WorkCompletionStatus.REM_INV_REQ_ERR, WorkCompletionStatus.REM_OP_ERR);
            } else {
                assertThat(pair.a().completion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            }
        }
    }

    @Test
    @Covers("ibv_poll_cq")
    void aDatagramThatIsLongerThanAPacketNeverArrives() throws Exception {
        try (HandMadePair pair = HandMadePair.of(QueuePairType.UD).build()) {
            int mtu = pair.context().queryPort(HandMadePair.PORT).activeMtu();
            pair.b().post(pair.b().receive(1).data(pair.b().region(), 0, HandMadePair.ROUTE_HEADER + mtu));
            WorkCompletion sent;
            try {
                pair.a().queuePair().postSend(send(pair.a(), mtu + 1));
                sent = pair.a().completion();
            } catch (WorkRequestException e) {
                // drivers may see it themselves
                assertThat(e.errnoName()).isIn("EINVAL", "EMSGSIZE");
                return;
            }
            // SoftRoCE drops it and says nothing
            assertThat(sent.status()).isIn(WorkCompletionStatus.LOC_LEN_ERR, WorkCompletionStatus.SUCCESS);
            if (sent.status() == WorkCompletionStatus.SUCCESS) {
                pair.a().queuePair().postSend(send(pair.a(), mtu));
                assertThat(pair.b().completion().byteLength()).isEqualTo(HandMadePair.ROUTE_HEADER + mtu);
            }
        }
    }

    @Test
    @Covers("ibv_poll_cq")
    void aWindowThatIsBoundAlready() throws Exception {
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC).build()) {
            MemoryWindow window = pair.own(pair.domain().allocateMemoryWindow(MemoryWindowType.TYPE_2));
            MemoryWindowBinding binding = MemoryWindowBinding.of(pair.a().region(), 0, 64, AccessFlag.REMOTE_READ);
            for (Set<WorkCompletionStatus> expected : List.of(Set.of(WorkCompletionStatus.SUCCESS),
                    Set.of(WorkCompletionStatus.MW_BIND_ERR, REFUSED_BY_LINUX_7_2))) {
                pair.a().queuePair().postSend(pair.a().request(1).bindMemoryWindow(window,
                        MemoryWindow.incrementKey(window.remoteKey()), binding));
                assertThat(pair.a().completion().status()).isIn(expected);
            }
            assertThat(pair.a().queuePair().state()).isEqualTo(QueuePairState.ERROR);
        }
    }

    @Test
    @Covers("ibv_poll_cq")
    void aKeyThatIsNoneInvalidated() throws Exception {
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC).build()) {
            MemoryWindow window = pair.domain().allocateMemoryWindow(MemoryWindowType.TYPE_2);
            int key = window.remoteKey();
            window.close();
            pair.a().queuePair().postSend(pair.a().request(1).localInvalidate(key));

            assertStatus(pair.a(), WorkCompletionStatus.LOC_QP_OP_ERR, WorkCompletionStatus.LOC_PROT_ERR,
                    WorkCompletionStatus.MW_BIND_ERR, REFUSED_BY_LINUX_7_2);
        }
    }

    @Test
    @Covers("ibv_poll_cq")
    void aReceiveIntoARegionThatIsGone() throws Exception {
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC).build()) {
            MemoryRegion gone = pair.domain().allocate(64, AccessFlag.LOCAL_WRITE);
            pair.b().post(pair.b().receive(1).data(gone, 0, 64));
            gone.close();
            pair.a().queuePair().postSend(send(pair.a(), 10));

            assertStatus(pair.b(), WorkCompletionStatus.LOC_PROT_ERR, WorkCompletionStatus.LOC_QP_OP_ERR);
            assertStatus(pair.a(), WorkCompletionStatus.REM_OP_ERR);
        }
    }

    @Test
    @Covers("ibv_poll_cq")
    void aSendFromARegionThatIsGone() throws Exception {
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC).build()) {
            MemoryRegion gone = pair.domain().allocate(64);
            SendRequest request = pair.a().request(1).send().data(gone, 0, 64);
            gone.close();
            pair.b().post(pair.b().receive(1).data(pair.b().region(), 0, 100));
            pair.a().queuePair().postSend(request);

            assertStatus(pair.a(), WorkCompletionStatus.LOC_PROT_ERR, WorkCompletionStatus.LOC_QP_OP_ERR,
                    REFUSED_BY_LINUX_7_2);
        }
    }

    @Test
    @Covers("ibv_poll_cq")
    void aReadIntoARegionThatMustNotBeWritten() throws Exception {
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC).build()) {
            MemoryRegion region = pair.own(pair.domain().allocate(64));
            pair.a().queuePair().postSend(pair.a().request(1).data(region, 0, 64)
                    .rdmaRead(pair.b().region().remoteAddress(), pair.b().region().remoteKey()));

            assertStatus(pair.a(), WorkCompletionStatus.LOC_PROT_ERR);
        }
    }

    @Test
    @Covers("ibv_poll_cq")
    void aWriteWithAKeyThatThePeerDoesNotHave() throws Exception {
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC).build()) {
            MemoryRegion gone = pair.domain().allocate(64, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            SendRequest request = pair.a().request(1).data(pair.a().region(), 0, 8)
                    .rdmaWrite(gone.remoteAddress(), gone.remoteKey());
            gone.close();
            pair.a().queuePair().postSend(request);

            assertStatus(pair.a(), WorkCompletionStatus.REM_ACCESS_ERR);
        }
    }

    @Test
    @Covers("ibv_poll_cq")
    void aReadBeyondTheEndOfThePeersRegion() throws Exception {
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC).build()) {
            pair.a().queuePair().postSend(pair.a().request(1).data(pair.a().region(), 0, 8).rdmaRead(
                    pair.b().region().remoteAddress() + HandMadePair.REGION - 4, pair.b().region().remoteKey()));

            assertStatus(pair.a(), WorkCompletionStatus.REM_ACCESS_ERR);
        }
    }

    @Test
    @Covers({"ibv_poll_cq", "ibv_modify_qp"})
    void aWriteToAQueuePairThatTakesNone() throws Exception {
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC).unconnected().build()) {
            pair.a().queuePair().modify(pair.toInit());
            pair.b().queuePair().modify(QueuePairTransitions.Rc.resetToInit(HandMadePair.PORT, 0));
            pair.a().queuePair().modify(pair.toRtr(pair.b().queuePair().number()));
            pair.b().queuePair().modify(pair.toRtr(pair.a().queuePair().number()));
            pair.a().queuePair().modify(pair.toRts());
            pair.a().queuePair().postSend(pair.a().request(1).data(pair.a().region(), 0, 8)
                    .rdmaWrite(pair.b().region().remoteAddress(), pair.b().region().remoteKey()));

            assertStatus(pair.a(), WorkCompletionStatus.REM_INV_REQ_ERR, WorkCompletionStatus.REM_ACCESS_ERR);
        }
    }

    @Test
    @Covers({"ibv_poll_cq", "ibv_modify_qp"})
    void aPeerWithoutAReceive() throws Exception {
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC)
                .rtr(step -> step.toBuilder().minRnrTimer(RnrTimer.ofCode(1)).build())
                .rts(step -> step.toBuilder().rnrRetry(1).build()).build()) {
            Measured unready = Measured.fromNow();
            pair.a().queuePair().postSend(send(pair.a(), 8));

            assertStatus(pair.a(), WorkCompletionStatus.RNR_RETRY_EXC_ERR);
            unready.print("receiver not ready, 1 retry");
        }
    }

    @Test
    @Covers({"ibv_poll_cq", "ibv_modify_qp"})
    void aPeerThatDoesNotAnswer() throws Exception {
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC)
                .rts(step -> step.toBuilder().timeout(AckTimeout.ofCode(8)).retryCount(1).build()).build()) {
            pair.b().queuePair().modify(QueuePairAttributes.toReset());
            pair.a().queuePair().postSend(send(pair.a(), 8));

            assertStatus(pair.a(), WorkCompletionStatus.RETRY_EXC_ERR);
        }
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairType.class, names = {"RC", "UC", "UD"})
    @Covers({"ibv_poll_cq", "ibv_modify_qp"})
    void workThatIsLeftWhenTheQueuePairFails(QueuePairType type) throws Exception {
        try (HandMadePair pair = HandMadePair.of(type).build()) {
            for (int i = 0; i < 3; i++) {
                pair.b().post(pair.b().receive(i).data(pair.b().region(), 0, 64));
            }
            pair.b().queuePair().modifyToError();
            pair.b().queuePair().postSend(pair.b().request(3).send().noData());

            // the two queues are flushed side by side
            long ids = 0;
            for (int i = 0; i < 4; i++) {
                WorkCompletion completion = pair.b().completion();
                assertThat(completion.status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
                ids |= 1L << completion.workRequestId();
            }
            assertThat(ids).isEqualTo(0b1111);
        }
    }

    @Test
    @Covers("ibv_poll_cq")
    void theExceptionNamesStatusAndQueuePair() throws Exception {
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC).build()) {
            WorkCompletions completions = WorkCompletions.allocate(1);
            pair.b().post(pair.b().receive(4).data(pair.b().region(), 0, 64));
            pair.b().queuePair().modifyToError();
            pair.b().completionQueue().await(completions, LIMIT);
            completions.next();

            assertThatExceptionOfType(WorkCompletionException.class).isThrownBy(completions::check)
                    .withMessageContaining("WR_FLUSH_ERR")
                    .withMessageContaining("queue pair " + pair.b().queuePair().number());
        }
    }
}
