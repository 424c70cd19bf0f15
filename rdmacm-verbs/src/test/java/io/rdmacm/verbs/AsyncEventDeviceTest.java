// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.device.AsyncEventType;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairTransitions;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.Measured;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Asynchronous events that a real device raises. */
@RequiresRdma(connectedByHand = true)
class AsyncEventDeviceTest {
    @RegisterExtension
    static final LeavesNothing NOTHING = LeavesNothing.behind();

    private TrafficEnd client;
    private TrafficEnd server;
    private SharedReceiveQueue shared;
    private QueuePair sharing;

    @BeforeEach
    void connect() throws RdmaException {
        client = new TrafficEnd.Builder().build();
        server = new TrafficEnd.Builder().build();
        shared = server.domain.createSharedReceiveQueue(
                SharedReceiveQueueInitAttributes.builder().maxRequests(16).build());
        sharing = server.domain.createQueuePair(QueuePairInitAttributes.builder().completionQueue(server.queue)
                .sharedReceiveQueue(shared).build());
        client.connect(client.pair, sharing, server.gid);
        server.connect(sharing, client.pair, client.gid);
    }

    @AfterEach
    void close() throws RdmaException {
        sharing.close();
        shared.close();
        client.close();
        server.close();
    }

    private void message() throws Exception {
        client.pair.postSend(client.send.id(1).send().data(client.region, 0, 4));
        client.success();
        server.success();
    }

    /** The next event of a type; what else is reported on the way is acknowledged. */
    private AsyncEvent await(AsyncEventType type) throws Exception {
        while (true) {
            AsyncEvent event = server.context.getAsyncEvent(TrafficEnd.TIMEOUT);
            if (event.type() == type) {
                return event;
            }
            event.close();
        }
    }

    @Test
    @DisplayName("SrqTestCase.test_srq_limit_event")
    @Covers({"ibv_get_async_event", "ibv_ack_async_event", "ibv_modify_srq"})
    void theLimitOfASharedReceiveQueueIsReported() throws Exception {
        for (int i = 0; i < 4; i++) {
            shared.postReceive(server.receive.id(i).data(server.region, 0, 16));
        }
        shared.setLimit(3);
        message();
        Measured limit = Measured.fromNow();
        message();
        try (AsyncEvent event = await(AsyncEventType.SRQ_LIMIT_REACHED)) {
            limit.print("shared receive queue at its limit");
            assertThat(event.sharedReceiveQueue()).isSameAs(shared);
            sharing.close();
            assertThatIllegalStateException().isThrownBy(shared::close).withMessageContaining(event.toString());
        }
        assertThat(shared.isOpen()).isTrue();
        shared.close();
    }

    @Test
    @Covers({"ibv_get_async_event", "ibv_ack_async_event"})
    void anEventThatNobodyTookDoesNotKeepItsObject() throws Exception {
        assertThat(server.context.pollAsyncEvent()).isEmpty();
        shared.postReceive(server.receive.id(1).data(server.region, 0, 16));
        shared.postReceive(server.receive.id(2).data(server.region, 0, 16));
        shared.setLimit(2);
        message();
        sharing.close();
        shared.close();
        assertThat(server.context.pollAsyncEvent()).isEmpty();
    }

    @Test
    @Covers({"ibv_get_async_event", "ibv_ack_async_event"})
    void theOverrunOfACompletionQueueIsReported() throws Exception {
        try (CompletionQueue small = client.context.createCompletionQueue(1);
                AddressHandle anywhere = client.domain.createAddressHandle(
                        AddressAttributes.ofRoute(TrafficEnd.PORT, server.gid, client.gidIndex));
                QueuePair pair = client.domain.createQueuePair(QueuePairInitAttributes.builder()
                        .type(QueuePairType.UD).completionQueue(small).maxSendRequests(64).build())) {
            pair.modify(QueuePairTransitions.Ud.resetToInit(TrafficEnd.PORT, 0, TrafficEnd.QUEUE_KEY));
            pair.modify(QueuePairTransitions.Ud.initToRtr());
            pair.modify(QueuePairTransitions.Ud.rtrToRts(0));
            Measured overrun = Measured.fromNow();
            for (int i = 0; i <= small.capacity(); i++) {
                pair.postSend(client.send.datagram(anywhere, server.pair.number(), TrafficEnd.QUEUE_KEY).send()
                        .data(client.region, 0, 4));
            }
            try (AsyncEvent event = client.context.getAsyncEvent(TrafficEnd.TIMEOUT)) {
                overrun.print("completion queue overrun");
                assertThat(event.type()).isEqualTo(AsyncEventType.CQ_ERR);
                assertThat(event.completionQueue()).isSameAs(small);
                pair.modifyToError();
            }
        }
    }
}
