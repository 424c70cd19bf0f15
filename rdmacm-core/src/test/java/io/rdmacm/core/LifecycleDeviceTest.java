// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.Set;
import java.util.stream.Stream;

import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.ModuleClasses;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.ResourceCounts;
import io.rdmacm.verbs.testing.UseAfterClose;
import io.rdmacm.verbs.work.RemoteMemory;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** The order in which the objects of a connection can be closed. */
@RequiresRdma
class LifecycleDeviceTest {
    @Test
    void anEventChannelWithAnOpenIdRefusesToClose() throws Exception {
        EventChannel channel = EventChannel.open();
        CmId id = CmId.open(channel, PortSpace.TCP);
        assertRefused(channel, id);
        id.close();
        channel.close();
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void anIdWithAnUnacknowledgedEventRefusesToClose() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open()) {
            CmId id = CmId.open(channel, PortSpace.TCP);
            id.resolveAddress(loopback.address(), Loopback.TIMEOUT);
            CmEvent event = channel.getEvent(Loopback.TIMEOUT);
            assertRefused(id, event);
            assertRefused(channel, event);
            event.close();
            id.close();
        }
    }

    @Test
    void aListenerWithAnUnacknowledgedRequestRefusesToClose() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                End client = new End(loopback.resolved(channel))) {
            client.id.connect(ConnectionParameters.defaults());
            CmEvent request = loopback.channel.getEvent(Loopback.TIMEOUT);
            assertRefused(loopback.listener, request);
            try (CmId server = request.id()) {
                request.close();
                server.reject();
            }
        }
    }

    @Test
    @Covers({"ibv_alloc_pd", "ibv_dealloc_pd", "ibv_reg_mr", "ibv_dereg_mr", "ibv_create_comp_channel",
        "ibv_destroy_comp_channel", "ibv_create_cq", "ibv_destroy_cq"})
    void whatBelongsToAConnectionClosesOnlyInOrder() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                Loopback.Pair pair = loopback.connect(channel)) {
            End end = pair.client();
            assertRefused(end.queue, end.queuePair);
            assertRefused(end.completionChannel, end.queue);
            assertRefused(end.domain, end.region);
            assertRefused(end.domain, end.queuePair);
            assertRefused(end.id, end.queuePair);
            // refused closes changed nothing
            if (!RdmaTestDevice.get().isIwarp()) {
                assertThat(end.queuePair.state()).isEqualTo(QueuePairState.RTS);
            }
            pair.server().write("still there");
            pair.client().queuePair.postReceive(pair.client().receive.data(pair.client().region, 0, 100));
            pair.server().queuePair.postSend(pair.server().send.data(pair.server().region, 0, 12));
            assertThat(pair.client().completion(Loopback.TIMEOUT).byteLength()).isEqualTo(12);
            assertThat(pair.client().read()).isEqualTo("still there");
        }
    }

    @Test
    void doubleCloseIsHarmless() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open()) {
            Loopback.Pair pair = loopback.connect(channel);
            pair.close();
            pair.close();
            assertThat(pair.client().id.isOpen()).isFalse();
            CmEvent event;
            try (CmId id = CmId.open(channel, PortSpace.TCP)) {
                id.resolveAddress(loopback.address(), Loopback.TIMEOUT);
                event = channel.getEvent(Loopback.TIMEOUT);
                event.close();
                event.close();
            }
            assertThat(event.isOpen()).isFalse();
        }
    }

    @Test
    void aFailedStepLeavesNothingBehind() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                CmId id = loopback.resolved(channel);
                ProtectionDomain domain = id.context().allocateProtectionDomain();
                CompletionQueue queue = id.context().createCompletionQueue(4)) {
            ResourceCounts before = ResourceCounts.now();
            QueuePairInitAttributes tooLarge = QueuePairInitAttributes.builder().completionQueue(queue)
                    .maxSendRequests(Integer.MAX_VALUE).build();
            assertThatThrownBy(() -> id.createQueuePair(domain, tooLarge)).isInstanceOf(RdmaException.class)
                    .hasMessageContaining("rdma_create_qp");
            QueuePairInitAttributes datagram = QueuePairInitAttributes.builder().completionQueue(queue)
                    .type(QueuePairType.UD).build();
            assertThatThrownBy(() -> id.createQueuePair(domain, datagram))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("RC, not UD");
            assertThat(ResourceCounts.await(before, Loopback.TIMEOUT)).isEqualTo(before);
            id.createQueuePair(domain, QueuePairInitAttributes.builder().completionQueue(queue).build()).close();
        }
    }

    @Test
    void aSecondQueuePairIsRefusedAndAClosedOneCanBeReplaced() throws Exception {
        try (Loopback loopback = new Loopback(); EventChannel channel = EventChannel.open();
                End end = new End(loopback.resolved(channel))) {
            QueuePairInitAttributes attributes = QueuePairInitAttributes.builder().completionQueue(end.queue).build();
            assertThatThrownBy(() -> end.id.createQueuePair(end.domain, attributes))
                    .isInstanceOf(IllegalStateException.class).hasMessageContaining("already has a queue pair");
            end.queuePair.close();
            assertThat(end.id.queuePair()).isEmpty();
            end.id.createQueuePair(end.domain, attributes).close();
        }
    }

    @TestFactory
    Stream<DynamicTest> useAfterCloseIsRefusedByEveryMethod() throws Exception {
        RdmaTestDevice.assumeNotIwarp("it has no multicast");
        EventChannel channel = EventChannel.open();
        CmId id;
        CmEvent event;
        MulticastMembership membership;
        try (channel; Loopback loopback = new Loopback()) {
            id = CmId.open(channel, PortSpace.TCP);
            try (id; CmId member = CmId.open(channel, PortSpace.UDP)) {
                member.bindAddress(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0));
                membership = member.joinMulticast(new InetSocketAddress("239.1.1.1", 0));
                membership.close();
                id.resolveAddress(loopback.address(), Loopback.TIMEOUT);
                event = channel.getEvent(Loopback.TIMEOUT);
                event.close();
            }
        }
        Endpoint endpoint = Endpoint.open(PortSpace.TCP);
        endpoint.close();
        return UseAfterClose.of(ModuleClasses.exported(CmId.class)).closed(channel).closed(id).closed(event)
                .closed(membership).closed(endpoint).argument(InetSocketAddress.class, new InetSocketAddress(0))
                .argument(EndpointAttributes.class, null).argument(ScatterGatherList.class, null)
                .argument(MemoryRegion.class, null).argument(MemorySegment.class, null).argument(Set.class, Set.of())
                .argument(WorkCompletions.class, null).argument(String.class, "").argument(AddressHandle.class, null)
                .argument(AddressInfo.Hints.class, null).argument(RemoteMemory.class, RemoteMemory.NONE)
                .argument(CmId.class, id).argument(ConnectionParameters.class, ConnectionParameters.defaults())
                .argument(SocketAddress.class, new InetSocketAddress(0)).argument(EventChannel.class, channel)
                .argument(ProtectionDomain.class, null).argument(QueuePairInitAttributes.class, null)
                .argument(QueuePair.class, null).argument(SharedReceiveQueueInitAttributes.class, null).tests();
    }

    private static void assertRefused(NativeObject parent, NativeObject child) {
        assertThatThrownBy(parent::close).isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("cannot be closed while it has open children").hasMessageContaining(
                        child.toString());
        assertThat(parent.isOpen()).isTrue();
        assertThat(child.isOpen()).isTrue();
    }
}
