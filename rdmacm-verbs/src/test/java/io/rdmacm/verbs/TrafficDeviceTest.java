// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.MessageTraffic;
import io.rdmacm.verbs.testing.RemoteOperation;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import io.rdmacm.verbs.work.SendOperation;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Messages in both directions, with both ways of posting and both kinds of completion queues. */
@RequiresRdma
class TrafficDeviceTest {
    private static final int LENGTH = 1000;
    private static final int ROUNDS = 10;

    record Combination(QueuePairType type, boolean batches, boolean extendedQueue) {
        TrafficEnd.Builder builder() {
            return builder(MessageTraffic.OPERATIONS);
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

    private static void pingPong(TrafficEnd.Builder builder) throws Exception {
        MessageTraffic.connected(builder, (one, other) -> MessageTraffic.pingPong(one, other, LENGTH, false));
    }

    @ParameterizedTest
    @MethodSource("combinations")
    @Covers({"ibv_post_send", "ibv_post_recv", "ibv_poll_cq", "ibv_wr_start", "ibv_wr_send", "ibv_wr_set_sge",
            "ibv_wr_set_ud_addr", "ibv_wr_complete", "ibv_start_poll", "ibv_end_poll", "ibv_wc_read_byte_len"})
    void everyCombinationCarriesMessages(Combination combination) throws Exception {
        MessageTraffic.connected(combination.builder(), (one, other) -> {
            MessageTraffic.pingPong(one, other, LENGTH, false);
            MessageTraffic.pingPong(one, other, LENGTH, true);
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
        MessageTraffic.connected(combination.builder(Set.of(operation.operation())), (one, other) -> {
            for (int i = 1; i <= ROUNDS; i++) {
                operation.run(one, other, i);
            }
        });
    }

    @Test
    @DisplayName("CqEventsTestCase.test_cq_events_rc")
    @Covers({"ibv_req_notify_cq", "ibv_get_cq_event", "ibv_ack_cq_events"})
    void eventsOfConnections() throws Exception {
        pingPong(new TrafficEnd.Builder());
    }

    @Test
    @DisplayName("CqEventsTestCase.test_cq_events_ud")
    @Covers({"ibv_req_notify_cq", "ibv_get_cq_event", "ibv_ack_cq_events"})
    void eventsOfDatagrams() throws Exception {
        pingPong(new TrafficEnd.Builder().type(QueuePairType.UD));
    }

    @Test
    @DisplayName("CqExTestCase.test_rc_traffic_cq_ex")
    @Covers({"ibv_create_cq_ex", "ibv_start_poll", "ibv_end_poll"})
    void extendedQueueOfConnections() throws Exception {
        pingPong(new TrafficEnd.Builder().extendedQueue(true));
    }

    @Test
    @DisplayName("CqExTestCase.test_ud_traffic_cq_ex")
    @Covers({"ibv_create_cq_ex", "ibv_start_poll", "ibv_end_poll"})
    void extendedQueueOfDatagrams() throws Exception {
        pingPong(new TrafficEnd.Builder().type(QueuePairType.UD).extendedQueue(true));
    }

    @Test
    @Covers({"ibv_start_poll", "ibv_next_poll", "ibv_end_poll"})
    void aCursorReadsManyCompletionsAndLosesNone() throws Exception {
        MessageTraffic.connected(new TrafficEnd.Builder().extendedQueue(true), (one, other) -> {
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
