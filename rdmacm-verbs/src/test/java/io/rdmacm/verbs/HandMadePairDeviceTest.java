// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;

import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.Rate;
import io.rdmacm.verbs.device.AsyncEventType;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.HandMadePair;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages between queue pairs that were brought to RTS by hand, over each transport. */
@RequiresRdma
class HandMadePairDeviceTest {
    @ParameterizedTest
    @CsvSource({"RC, false", "UC, false", "UD, false", "RC, true", "UD, true"})
    @Covers({"ibv_modify_qp", "ibv_post_send", "ibv_post_recv", "ibv_post_srq_recv", "ibv_create_srq"})
    void messagesGoBothWays(QueuePairType type, boolean shared) throws Exception {
        HandMadePair.Builder builder = HandMadePair.of(type);
        try (HandMadePair pair = (shared ? builder.sharedReceiveQueue() : builder).build()) {
            for (int round = 0; round < 4; round++) {
                HandMadePair.Side from = round % 2 == 0 ? pair.a() : pair.b();
                HandMadePair.Side to = round % 2 == 0 ? pair.b() : pair.a();
                String text = "message " + round;
                to.post(to.receive(round).data(to.region(), 0, 100));
                from.write(8192, text);
                from.queuePair().postSend(from.request(5).sendWithImmediate(round).data(from.region(), 8192,
                        text.length()));

                WorkCompletion received = to.completion();
                assertThat(received.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(received.workRequestId()).isEqualTo(round);
                assertThat(received.immediate()).isEqualTo(round);
                assertThat(received.queuePairNumber()).isEqualTo(to.queuePair().number());
                assertThat(to.read(to.dataOffset(0), text.length())).isEqualTo(text);
                WorkCompletion sent = from.completion();
                assertThat(sent.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(sent.workRequestId()).isEqualTo(5);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 0x8000_0000L, 1L << 32, Long.MAX_VALUE})
    void everyBitOfAnIdComesBack(long id) throws Exception {
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC).build()) {
            pair.b().post(pair.b().receive(0).id(id).data(pair.b().region(), 0, 8));
            pair.b().post(pair.b().receive(1).id(~id).data(pair.b().region(), 0, 8));
            pair.a().queuePair().postSend(pair.a().request(0).id(id).data(pair.a().region(), 0, 8));
            assertThat(pair.a().completion().workRequestId()).isEqualTo(id);
            assertThat(pair.b().completion().workRequestId()).isEqualTo(id);

            pair.b().queuePair().modifyToError();
            assertThat(pair.b().completion()).satisfies(
                    flushed -> assertThat(flushed.status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR),
                    flushed -> assertThat(flushed.workRequestId()).isEqualTo(~id));
        }
    }

    @Test
    void aRefusedChangeIsToldWithItsAttributes() throws Exception {
        RdmaTestDevice.assumeConnectedByHand();
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC).unconnected().build()) {
            QueuePair queuePair = pair.a().queuePair();
            queuePair.modify(pair.toInit());
            AddressAttributes noGid = AddressAttributes.builder().port(HandMadePair.PORT).build();
            QueuePairAttributes rtr = pair.toRtr(pair.b().queuePair().number()).toBuilder().path(noGid).build();
            assertThatThrownBy(() -> queuePair.modify(rtr)).isInstanceOf(RdmaException.class)
                    .hasMessageStartingWith("ibv_modify_qp (").hasMessageContainingAll("STATE=RTR", "PATH_MTU=1024",
                            "globalRoute=Optional.empty", "): EINVAL");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Covers("ibv_post_send")
    void writesReachTheMemoryOfThePeer(boolean reliable) throws Exception {
        try (HandMadePair pair = HandMadePair.of(reliable ? QueuePairType.RC : QueuePairType.UC).build()) {
            pair.b().post(pair.b().receive(3).noData());
            pair.a().write(0, "written");
            pair.a().queuePair().postSend(pair.a().request(1).data(pair.a().region(), 0, 7)
                    .rdmaWriteWithImmediate(pair.b().region().remoteAddress() + 4096, pair.b().region().remoteKey(),
                            77));

            assertThat(pair.b().completion().immediate()).isEqualTo(77);
            assertThat(pair.a().completion().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(pair.b().read(4096, 7)).isEqualTo("written");
        }
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairType.class, names = {"RC", "UC", "UD"})
    @Covers({"ibv_modify_qp", "ibv_query_qp"})
    void theWayToRtsCanBeFollowedByQueries(QueuePairType type) throws Exception {
        RdmaTestDevice.assumeConnectedByHand();
        try (HandMadePair pair = HandMadePair.of(type).unconnected().build()) {
            QueuePair queuePair = pair.a().queuePair();
            assertThat(queuePair.state()).isEqualTo(QueuePairState.RESET);
            queuePair.modify(pair.toInit());
            assertThat(queuePair.query().attributes().port()).isEqualTo(HandMadePair.PORT);
            queuePair.modify(pair.toRtr(pair.b().queuePair().number()));
            assertThat(queuePair.state()).isEqualTo(QueuePairState.RTR);
            queuePair.modify(pair.toRts());

            QueuePairStatus status = queuePair.query();
            assertThat(status.attributes().state()).isEqualTo(QueuePairState.RTS);
            assertThat(status.initAttributes().type()).isEqualTo(type);
            assertThat(status.initAttributes().capabilities().maxSendScatterGather()).isGreaterThanOrEqualTo(2);
            if (type == QueuePairType.UD) {
                assertThat(status.attributes().queueKey()).isEqualTo(HandMadePair.QUEUE_KEY);
            } else {
                assertThat(status.attributes().destinationQueuePair()).isEqualTo(pair.b().queuePair().number());
                assertThat(status.attributes().pathMtu()).isEqualTo(1024);
                assertThat(status.attributes().path().globalRoute().orElseThrow().destination())
                        .isEqualTo(pair.route().globalRoute().orElseThrow().destination());
            }
            queuePair.modify(QueuePairAttributes.toError());
            assertThat(queuePair.state()).isEqualTo(QueuePairState.ERROR);
            queuePair.modify(QueuePairAttributes.toReset());
            assertThat(queuePair.state()).isEqualTo(QueuePairState.RESET);
        }
    }

    @Test
    @Covers({"ibv_modify_qp", "ibv_query_qp"})
    void timesAndRatesAreReadBack() throws Exception {
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC).unconnected().build()) {
            QueuePair queuePair = pair.a().queuePair();
            AddressAttributes route = pair.route();
            AddressAttributes slow = new AddressAttributes(route.globalRoute(), 0, 0, 0, Rate.RATE_2_5_GBPS,
                    route.port());
            queuePair.modify(pair.toInit());
            queuePair.modify(pair.toRtr(pair.b().queuePair().number()).toBuilder()
                    .minRnrTimer(Duration.ofMillis(5)).path(slow).build());
            queuePair.modify(pair.toRts().toBuilder().timeout(Duration.ofMillis(500)).build());

            QueuePairAttributes found = queuePair.query().attributes();
            assertThat(found.minRnrTimer()).isEqualTo(RnrTimer.ofCode(18));
            assertThat(found.minRnrTimer().duration()).contains(Duration.ofNanos(5_120_000));
            assertThat(found.timeout()).isEqualTo(AckTimeout.ofCode(17));
            assertThat(found.timeout().duration()).contains(Duration.ofNanos(536_870_912));
            // SoftRoCE takes a rate and does not keep it
            assertThat(found.path().staticRate()).isIn(Rate.RATE_2_5_GBPS, Rate.RATE_MAX);

            queuePair.modify(QueuePairAttributes.builder().minRnrTimer(RnrTimer.ofCode(0)).build());
            assertThat(queuePair.query().attributes().minRnrTimer()).isEqualTo(RnrTimer.ofCode(0));
        }
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC)
                .rts(step -> step.toBuilder().timeout(AckTimeout.INFINITE).build()).build()) {
            assertThat(pair.a().queuePair().query().attributes().timeout().isInfinite()).isTrue();
        }
    }

    @Test
    @Covers({"ibv_modify_qp", "ibv_get_async_event"})
    void sendsWaitWhileTheQueueIsDrained() throws Exception {
        try (HandMadePair pair = HandMadePair.of(QueuePairType.RC).build()) {
            QueuePair queuePair = pair.a().queuePair();
            pair.b().post(pair.b().receive(1).data(pair.b().region(), 0, 64));
            pair.b().post(pair.b().receive(2).data(pair.b().region(), 0, 64));
            queuePair.modify(QueuePairAttributes.rtsToSqd(true));
            AsyncEventType type;
            do {
                try (AsyncEvent event = pair.context().getAsyncEvent(Duration.ofMinutes(4))) {
                    type = event.type();
                }
            } while (type != AsyncEventType.SQ_DRAINED);
            assertThat(queuePair.query().sendQueueDraining()).isFalse();
            assertThat(queuePair.state()).isEqualTo(QueuePairState.SQD);

            queuePair.postSend(pair.a().request(2).send().data(pair.a().region(), 0, 8));
            assertThat(pair.a().completionQueue().poll(WorkCompletions.allocate(1))).isZero();
            queuePair.modify(QueuePairAttributes.sqdToRts());
            // SoftRoCE looks at its queue again when something is posted
            queuePair.postSend(pair.a().request(3).send().data(pair.a().region(), 0, 8));

            for (int i = 2; i < 4; i++) {
                WorkCompletion sent = pair.a().completion();
                assertThat(sent.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
                assertThat(sent.workRequestId()).isEqualTo(i);
            }
        }
    }
}
