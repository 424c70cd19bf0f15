// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;

import io.rdmacm.verbs.device.DeviceAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.HandMadePair;
import io.rdmacm.verbs.testing.Measured;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.ResourceCounts;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** More than the device has is refused with the device's limit in the message, and nothing is left half made. */
@RequiresRdma
class DeviceLimitsDeviceTest {
    private static final Duration LIMIT = Duration.ofMinutes(4);

    private HandMadePair pair;
    private DeviceAttributes device;
    private ResourceCounts before;

    @BeforeEach
    void open() throws RdmaException {
        pair = HandMadePair.of(QueuePairType.RC).sharedReceiveQueue().unconnected().build();
        device = pair.context().queryDevice();
        before = ResourceCounts.now();
    }

    @AfterEach
    void close() throws Exception {
        assertThat(ResourceCounts.await(before, LIMIT)).isEqualTo(before);
        pair.close();
    }

    private static void assertRefused(ThrowingCallable request, String limit) {
        Measured asked = Measured.fromNow();
        RdmaException refused = catchThrowableOfType(RdmaException.class, request);
        Assumptions.assumeFalse(refused instanceof RdmaUnsupportedException, () -> "the driver lacks it: " + refused);
        assertThat(refused).hasMessageContaining("; the device has at most " + limit);
        assertThat(refused.errno()).isPositive();
        asked.print("more than " + limit);
    }

    private QueuePairInitAttributes.Builder attributes() {
        return QueuePairInitAttributes.builder().completionQueue(pair.a().completionQueue());
    }

    @Test
    @Covers("ibv_create_qp")
    void requestsOfAQueuePair() {
        int most = device.maxQueuePairRequests();
        assertRefused(() -> pair.domain().createQueuePair(attributes().maxSendRequests(most + 1).build()),
                most + " send requests");
        assertRefused(() -> pair.domain().createQueuePair(attributes().maxReceiveRequests(most + 1).build()),
                most + " receive requests");
    }

    @Test
    @Covers("ibv_create_qp")
    void entriesOfAQueuePair() {
        int most = device.maxScatterGather();
        assertRefused(() -> pair.domain().createQueuePair(attributes().maxSendScatterGather(most + 1).build()),
                most + " scatter/gather entries");
        assertRefused(() -> pair.domain().createQueuePair(attributes().maxReceiveScatterGather(most + 1).build()),
                most + " scatter/gather entries");
    }

    @Test
    @Covers({"ibv_create_cq", "ibv_create_cq_ex", "ibv_resize_cq"})
    void completionQueues() {
        int most = device.maxCompletionQueueEntries();
        assertRefused(() -> pair.context().createCompletionQueue(most + 1), most + " entries");
        assertRefused(() -> pair.context().createExtendedCompletionQueue(
                CompletionQueueInitAttributes.builder(most + 1).build()), most + " entries");
        assertRefused(() -> pair.a().completionQueue().resize(most + 1), most + " entries");
    }

    @Test
    @Covers({"ibv_create_srq", "ibv_modify_srq"})
    void sharedReceiveQueues() {
        int requests = device.maxSharedReceiveRequests();
        int entries = device.maxSharedReceiveScatterGather();
        assertRefused(() -> pair.domain().createSharedReceiveQueue(
                SharedReceiveQueueInitAttributes.builder().maxRequests(requests + 1).build()), requests + " requests");
        assertRefused(() -> pair.domain().createSharedReceiveQueue(
                SharedReceiveQueueInitAttributes.builder().maxScatterGather(entries + 1).build()),
                entries + " scatter/gather entries");
        assertRefused(() -> pair.a().sharedReceiveQueue().resize(requests + 1), requests + " requests");
    }

    @Test
    @Covers("ibv_create_qp")
    void receivesThatASharedQueueTakesCountNothing() throws RdmaException {
        QueuePairInitAttributes shared = attributes().sharedReceiveQueue(pair.a().sharedReceiveQueue())
                .maxReceiveRequests(device.maxQueuePairRequests() + 1)
                .maxReceiveScatterGather(device.maxScatterGather() + 1).build();
        pair.domain().createQueuePair(shared).close();
    }

    /** No device tells how much inline data it takes, and C says EINVAL. */
    @Test
    @Covers("ibv_create_qp")
    void inlineDataIsSuspectedWhereNoLimitIsExceeded() {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> pair.domain().createQueuePair(
                attributes().maxInlineData(Integer.MAX_VALUE).build())).satisfies(e ->
                assertThat(e).message().contains("maxInlineData=" + Integer.MAX_VALUE, "maxInlineData may be too large")
                        .doesNotContain("at most"));
    }
}
