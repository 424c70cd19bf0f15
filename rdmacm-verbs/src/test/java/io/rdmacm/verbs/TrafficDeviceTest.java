// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RemoteOperation;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import io.rdmacm.verbs.work.SendOperation;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Messages to and fro, over both kinds of posting and both kinds of completion queues. */
@RequiresRdma
class TrafficDeviceTest {
    static final Set<SendOperation> MESSAGES = EnumSet.of(SendOperation.SEND, SendOperation.SEND_WITH_IMM);
    private static final int ITERATIONS = 100;
    private static final int LENGTH = 1000;
    private static final int ROUNDS = 10;

    record Combination(QueuePairType type, boolean batches, boolean extendedQueue) {
        TrafficEnd.Builder builder() {
            return builder(MESSAGES);
        }

        TrafficEnd.Builder builder(Set<SendOperation> operations) {
            return new TrafficEnd.Builder().type(type).extendedQueue(extendedQueue)
                    .operations(batches ? operations : Set.of());
        }

        @Override
        public String toString() {
            return type + ", " + (batches ? "QP_EX" : "QP") + ", " + (extendedQueue ? "CQ_EX" : "CQ");
        }
    }

    static List<Combination> combinations() {
        return combinations(QueuePairType.RC, QueuePairType.UC, QueuePairType.UD);
    }

    private static List<Combination> combinations(QueuePairType... types) {
        return Stream.of(types)
                .flatMap(type -> Stream.of(new Combination(type, false, false), new Combination(type, false, true),
                        new Combination(type, true, false), new Combination(type, true, true)))
                .toList();
    }

    @FunctionalInterface
    interface Exchange {
        void between(TrafficEnd one, TrafficEnd other) throws Exception;
    }

    static void connected(TrafficEnd.Builder builder, Exchange exchange) throws Exception {
        TrafficEnd[] ends = TrafficEnd.connected(builder);
        try (TrafficEnd one = ends[0]; TrafficEnd other = ends[1]) {
            exchange.between(one, other);
        }
    }

    /** A message one way. */
    static void message(TrafficEnd from, TrafficEnd to, int number, int length, boolean withImmediate)
            throws Exception {
        to.postReceive(number, length);
        from.fill(0, Math.max(length, 1), number);
        from.postSend(1000 + number, length, withImmediate, ~number);
        WorkCompletion sent = from.success();
        assertThat(sent.workRequestId()).isEqualTo(1000 + number);
        assertThat(sent.opcode()).isEqualTo(WorkCompletionOpcode.SEND);
        WorkCompletion received = to.success();
        int header = to.isDatagram() ? TrafficEnd.HEADER : 0;
        assertThat(received.workRequestId()).isEqualTo(number);
        assertThat(received.opcode()).isEqualTo(WorkCompletionOpcode.RECV);
        assertThat(received.byteLength()).isEqualTo(header + length);
        assertThat(received.queuePairNumber()).isEqualTo(to.pair.number());
        assertThat(received.hasImmediate()).isEqualTo(withImmediate);
        if (withImmediate) {
            assertThat(received.immediate()).isEqualTo(~number);
        }
        if (length > 0) {
            assertThat(to.bytes(header, length)).containsOnly(number);
        }
    }

    static void pingPong(TrafficEnd one, TrafficEnd other, int length, boolean withImmediate) throws Exception {
        for (int i = 0; i < ITERATIONS; i++) {
            message(one, other, i, length, withImmediate);
            message(other, one, i, length, withImmediate);
        }
    }

    @ParameterizedTest
    @MethodSource("combinations")
    @Covers({"ibv_post_send", "ibv_post_recv", "ibv_poll_cq", "ibv_wr_start", "ibv_wr_send", "ibv_wr_set_sge",
            "ibv_wr_set_ud_addr", "ibv_wr_complete", "ibv_start_poll", "ibv_end_poll", "ibv_wc_read_byte_len"})
    void everyCombinationCarriesMessages(Combination combination) throws Exception {
        connected(combination.builder(), (one, other) -> {
            pingPong(one, other, LENGTH, false);
            pingPong(one, other, LENGTH, true);
        });
    }

    static List<Arguments> operations() {
        List<Arguments> rows = new ArrayList<>();
        for (Combination combination : combinations(QueuePairType.RC, QueuePairType.UC)) {
            for (RemoteOperation operation : RemoteOperation.values()) {
                if (combination.type == QueuePairType.RC || operation.isSeenWhenUnreliable()) {
                    rows.add(Arguments.of(combination, operation));
                }
            }
        }
        return rows;
    }

    @ParameterizedTest
    @MethodSource("operations")
    @Covers({"ibv_post_send", "ibv_poll_cq", "ibv_wr_rdma_write", "ibv_wr_rdma_write_imm", "ibv_wr_rdma_read",
            "ibv_wr_atomic_cmp_swp", "ibv_wr_atomic_fetch_add", "ibv_start_poll"})
    void everyCombinationReachesThePeersMemory(Combination combination, RemoteOperation operation) throws Exception {
        connected(combination.builder(Set.of(operation.operation())), (one, other) -> {
            for (int i = 1; i <= ROUNDS; i++) {
                operation.run(one, other, i);
            }
        });
    }

    @Test
    @DisplayName("CqEventsTestCase.test_cq_events_rc")
    @Covers({"ibv_req_notify_cq", "ibv_get_cq_event", "ibv_ack_cq_events"})
    void eventsOfConnections() throws Exception {
        connected(new TrafficEnd.Builder(), (one, other) -> pingPong(one, other, LENGTH, false));
    }

    @Test
    @DisplayName("CqEventsTestCase.test_cq_events_ud")
    @Covers({"ibv_req_notify_cq", "ibv_get_cq_event", "ibv_ack_cq_events"})
    void eventsOfDatagrams() throws Exception {
        connected(new TrafficEnd.Builder().type(QueuePairType.UD), (one, other) -> pingPong(one, other, LENGTH, false));
    }

    @Test
    @DisplayName("CqExTestCase.test_rc_traffic_cq_ex")
    @Covers({"ibv_create_cq_ex", "ibv_start_poll", "ibv_end_poll"})
    void extendedQueueOfConnections() throws Exception {
        connected(new TrafficEnd.Builder().extendedQueue(true), (one, other) -> pingPong(one, other, LENGTH, false));
    }

    @Test
    @DisplayName("CqExTestCase.test_ud_traffic_cq_ex")
    @Covers({"ibv_create_cq_ex", "ibv_start_poll", "ibv_end_poll"})
    void extendedQueueOfDatagrams() throws Exception {
        connected(new TrafficEnd.Builder().type(QueuePairType.UD).extendedQueue(true),
                (one, other) -> pingPong(one, other, LENGTH, false));
    }

    @Test
    @Covers({"ibv_start_poll", "ibv_next_poll", "ibv_end_poll"})
    void aCursorReadsManyCompletionsAndLosesNone() throws Exception {
        connected(new TrafficEnd.Builder().extendedQueue(true), (one, other) -> {
            ExtendedCompletionQueue queue = (ExtendedCompletionQueue) other.queue;
            int rounds = 20;
            int batch = 8;
            for (int round = 0; round < rounds; round++) {
                for (int i = 0; i < batch; i++) {
                    other.postReceive(round * batch + i, 8);
                }
                for (int i = 0; i < batch; i++) {
                    one.postSend(i, 8, false, 0);
                    one.success();
                }
                int seen = 0;
                while (seen < batch) {
                    try (CompletionCursor completion = queue.awaitPoll(TrafficEnd.TIMEOUT)) {
                        while (completion.next()) {
                            completion.check();
                            assertThat(completion.workRequestId()).isEqualTo(round * batch + seen);
                            assertThat(completion.byteLength()).isEqualTo(8);
                            assertThat(completion.hasImmediate()).isFalse();
                            assertThat(completion.queuePairNumber()).isEqualTo(other.pair.number());
                            seen++;
                        }
                    }
                }
                try (CompletionCursor completion = queue.startPoll()) {
                    assertThat(completion.next()).isFalse();
                }
            }
        });
    }
}
