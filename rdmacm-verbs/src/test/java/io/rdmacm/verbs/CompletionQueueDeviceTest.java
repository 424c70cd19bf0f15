// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.flow.Counters;
import io.rdmacm.verbs.queue.CompletionQueueFlag;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import io.rdmacm.verbs.work.CompletionField;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Completion queues of both kinds on a real device. */
@RequiresRdma
class CompletionQueueDeviceTest {
    private VerbsContext context;
    private int most;

    @BeforeEach
    void open() throws RdmaException {
        context = Device.list().getFirst().open();
        most = context.queryDevice().maxCompletionQueueEntries();
    }

    @AfterEach
    void close() throws RdmaException {
        context.close();
    }

    private static void assertInvalid(RdmaException e) {
        assertThat(e.errnoName()).isEqualTo("EINVAL");
    }

    @Test
    @DisplayName("CQAPITest.test_create_cq")
    @Covers({"ibv_create_cq", "ibv_destroy_cq"})
    void create() throws RdmaException {
        for (int capacity : new int[] {1, most / 2, most}) {
            try (CompletionQueue queue = context.createCompletionQueue(capacity)) {
                assertThat(queue.capacity()).isGreaterThanOrEqualTo(capacity);
            }
        }
    }

    @Test
    @DisplayName("CQAPITest.test_create_cq_with_comp_channel")
    @Covers({"ibv_create_cq", "ibv_create_comp_channel", "ibv_destroy_comp_channel"})
    void createWithAChannel() throws RdmaException {
        for (int capacity : new int[] {1, most / 2, most}) {
            for (int vector = 0; vector < context.completionVectors(); vector++) {
                try (CompletionChannel channel = context.createCompletionChannel();
                        CompletionQueue queue = context.createCompletionQueue(capacity, channel, vector)) {
                    assertThat(queue.channel()).containsSame(channel);
                }
            }
        }
    }

    @Test
    @DisplayName("CQAPITest.test_create_cq_bad_flow")
    @Covers("ibv_create_cq")
    void createRefused() throws RdmaException {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> context.createCompletionQueue(most + 1))
                .satisfies(CompletionQueueDeviceTest::assertInvalid);
        try (CompletionChannel channel = context.createCompletionChannel()) {
            assertThatIllegalArgumentException().isThrownBy(
                    () -> context.createCompletionQueue(100, channel, context.completionVectors() + 1));
        }
    }

    @Test
    @DisplayName("CQTest.test_resize_cq")
    @Covers("ibv_resize_cq")
    void resize() throws Exception {
        TrafficEnd[] ends = TrafficEnd.connected(new TrafficEnd.Builder().type(QueuePairType.UD));
        try (TrafficEnd one = ends[0]; TrafficEnd other = ends[1]) {
            assertThat(other.pair.isOpen()).isTrue();
            try {
                one.queue.resize(1);
            } catch (RdmaUnsupportedException e) {
                Assumptions.abort("the device cannot resize completion queues: " + e.getMessage());
            }
            assertThat(one.queue.capacity()).isGreaterThanOrEqualTo(1);
            one.queue.resize(7);
            assertThat(one.queue.capacity()).isGreaterThanOrEqualTo(7);
            int sent = 0;
            one.queue.requestNotification(false);
            for (; sent < one.queue.capacity() - 1; sent++) {
                one.pair.postSend(one.addressed().id(sent).send().data(one.region, 0, 4));
                one.channel.getEvent(TrafficEnd.TIMEOUT);
                one.queue.requestNotification(false);
            }
            assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> one.queue.resize(1))
                    .satisfies(CompletionQueueDeviceTest::assertInvalid);
            one.queue.resize(100);
            for (int i = 0; i < sent; i++) {
                assertThat(one.success().workRequestId()).isEqualTo(i);
            }
        }
    }

    @Test
    @Covers("ibv_modify_cq")
    void moderationIsRefusedWhereTheDeviceHasNone() throws RdmaException {
        try (CompletionQueue queue = context.createCompletionQueue(1)) {
            try {
                queue.modifyModeration(4, Duration.ofNanos(10_000));
            } catch (RdmaUnsupportedException e) {
                assertThat(e).hasMessageStartingWith("ibv_modify_cq");
            }
        }
    }

    private void requireExtended() throws RdmaException {
        try {
            extended(CompletionQueueInitAttributes.builder(10)).close();
        } catch (RdmaUnsupportedException e) {
            Assumptions.abort("the device has no extended completion queues: " + e.getMessage());
        }
    }

    private ExtendedCompletionQueue extended(CompletionQueueInitAttributes.Builder builder) throws RdmaException {
        return context.createExtendedCompletionQueue(builder.build());
    }

    @Test
    @DisplayName("CQEXAPITest.test_create_cq_ex")
    @Covers("ibv_create_cq_ex")
    void createExtended() throws RdmaException {
        requireExtended();
        List<CompletionField> unsupported = new ArrayList<>();
        for (CompletionField field : CompletionField.values()) {
            try (ExtendedCompletionQueue queue = extended(CompletionQueueInitAttributes.builder(10).fields(field))) {
                assertThat(queue.fields()).containsExactly(field);
            } catch (RdmaUnsupportedException e) {
                unsupported.add(field);
            }
        }
        assertThat(unsupported).doesNotContain(CompletionField.BYTE_LEN, CompletionField.IMM, CompletionField.QP_NUM,
                CompletionField.SRC_QP, CompletionField.SLID, CompletionField.SL, CompletionField.DLID_PATH_BITS);
        for (CompletionQueueFlag flag : CompletionQueueFlag.values()) {
            try (ExtendedCompletionQueue queue = extended(CompletionQueueInitAttributes.builder(10).flags(flag))) {
                assertThat(queue.capacity()).isGreaterThanOrEqualTo(10);
            } catch (RdmaUnsupportedException e) {
                assertThat(e).hasMessageStartingWith("ibv_create_cq_ex");
            }
        }
    }

    @Test
    @DisplayName("CQEXAPITest.test_create_cq_ex_bad_flow")
    @Covers("ibv_create_cq_ex")
    void createExtendedRefused() throws RdmaException {
        requireExtended();
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> extended(CompletionQueueInitAttributes.builder(most + 1)))
                .satisfies(CompletionQueueDeviceTest::assertInvalid);
        try (CompletionChannel channel = context.createCompletionChannel()) {
            assertThatIllegalArgumentException().isThrownBy(() -> extended(CompletionQueueInitAttributes.builder(10)
                    .channel(channel).completionVector(context.completionVectors() + 1)));
        }
    }

    @Test
    @Covers({"ibv_get_cq_event", "ibv_ack_cq_events", "ibv_req_notify_cq"})
    void severalQueuesShareAChannel() throws Exception {
        TrafficEnd[] ends = TrafficEnd.connected(new TrafficEnd.Builder());
        try (TrafficEnd one = ends[0]; TrafficEnd other = ends[1];
                CompletionQueue idle = one.context.createCompletionQueue(4, one.channel)) {
            idle.requestNotification(false);
            one.queue.requestNotification(false);
            other.postReceive(1, 4);
            one.pair.postSend(one.send.id(2).send().data(one.region, 0, 4));
            assertThat(one.channel.getEvent(TrafficEnd.TIMEOUT)).isSameAs(one.queue);
            assertThat(one.channel.pollEvent()).isEmpty();
            one.success();
            other.success();
        }
    }

    @Test
    @Covers("ibv_req_notify_cq")
    void solicitedMessagesOnlyWhenAskedFor() throws Exception {
        TrafficEnd[] ends = TrafficEnd.connected(new TrafficEnd.Builder());
        try (TrafficEnd one = ends[0]; TrafficEnd other = ends[1]) {
            other.queue.requestNotification(true);
            other.postReceive(1, 4);
            other.postReceive(2, 4);
            one.pair.postSend(one.send.id(3).send().solicited(false).data(one.region, 0, 4));
            one.success();
            assertThat(other.channel.pollEvent()).describedAs("not solicited").isEmpty();
            one.pair.postSend(one.send.id(4).send().solicited(true).data(one.region, 0, 4));
            assertThat(other.channel.getEvent(TrafficEnd.TIMEOUT)).isSameAs(other.queue);
            assertThat(other.success().workRequestId()).isEqualTo(1);
            assertThat(other.success().workRequestId()).isEqualTo(2);
            one.success();
        }
    }

    @Test
    @Covers({"ibv_create_wq", "ibv_create_counters"})
    void workQueuesAndCountersAreRefusedWhereTheDeviceHasNone() throws RdmaException {
        try (ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(8)) {
            try {
                domain.createWorkQueue(queue, 8, 1).close();
            } catch (RdmaUnsupportedException e) {
                assertThat(e).hasMessageStartingWith("ibv_create_wq");
            }
            try {
                Counters.create(context).close();
            } catch (RdmaUnsupportedException e) {
                assertThat(e).hasMessageStartingWith("ibv_create_counters");
            }
        }
    }

    @Test
    void aCloseWithACursorOpenEndsThePoll() throws Exception {
        TrafficEnd[] ends = TrafficEnd.connected(new TrafficEnd.Builder().extendedQueue(true));
        try (TrafficEnd one = ends[0]; TrafficEnd other = ends[1]) {
            other.postReceive(1, 4);
            one.pair.postSend(one.send.id(2).send().data(one.region, 0, 4));
            CompletionCursor cursor = ((ExtendedCompletionQueue) one.queue).awaitPoll(TrafficEnd.TIMEOUT);
            assertThat(cursor.next()).isTrue();
            assertThatThrownBy(one.pair::close).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("this thread has a cursor");
            cursor.close();
            one.pair.close();
            one.queue.close();
            assertThatThrownBy(cursor::next).isInstanceOf(IllegalStateException.class);
            other.success();
        }
    }
}
