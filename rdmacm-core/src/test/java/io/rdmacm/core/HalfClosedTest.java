// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.FakeStack;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What another thread has begun to close, and C has not destroyed yet: nothing may be put in its place, nothing may be
 * moved there, and it is in nobody's way. The lock of the channel keeps the closing thread where it is. And what
 * refuses to close because a part of it is in use keeps all its parts.
 */
@FakeRdmaCm.With
class HalfClosedTest {
    private static final SharedReceiveQueueInitAttributes SHARED = SharedReceiveQueueInitAttributes.builder().build();

    private FakeStack stack;
    private EventChannel channel;
    private CmId id;

    @BeforeEach
    void open() throws Exception {
        stack = new FakeStack();
        FakeRdmaCm.shareWithVerbs();
        FakeRdmaCm.call("fake_context", stack.context().handle().address());
        channel = EventChannel.open();
        id = bound(PortSpace.TCP);
    }

    @AfterEach
    void close() throws Exception {
        id.close();
        channel.close();
        FakeRdmaCm.call("fake_context", 0);
        FakeRdmaCm.call("fake_unshare");
        stack.close();
    }

    private CmId bound(PortSpace portSpace) throws Exception {
        CmId made = CmId.open(channel, portSpace);
        made.bindAddress(new InetSocketAddress(InetAddress.getByName("192.0.2.7"), 0));
        return made;
    }

    private SharedReceiveQueue sharedQueue() throws RdmaException {
        return id.createSharedReceiveQueue(id.context().allocateProtectionDomain(), SHARED);
    }

    @Test
    void noSharedReceiveQueueTakesThePlaceOfOneThatIsBeingClosed() throws Exception {
        SharedReceiveQueue first = sharedQueue();
        var domain = first.protectionDomain();
        channel.lock().lock();
        try (Background<Void> closing = Background.run(first::close)) {
            try {
                closing.awaitInside(CmIdQueues.class, "free");
                assertThat(first.isOpen()).isFalse();
                // C has one place for it in the id, and would destroy the new one in the name of the old
                assertThatThrownBy(() -> id.createSharedReceiveQueue(domain, SHARED))
                        .isInstanceOf(IllegalStateException.class);
            } finally {
                channel.lock().unlock();
            }
            closing.result();
        }
        assertThat(FakeRdmaCm.calls("rdma_create_srq")).hasSize(1);
        id.createSharedReceiveQueue(domain, SHARED).close();
        assertThat(FakeRdmaCm.calls("rdma_destroy_srq")).hasSize(2);
        domain.close();
    }

    @Test
    void noQueuePairTakesASharedReceiveQueueThatIsBeingClosed() throws Exception {
        SharedReceiveQueue shared = sharedQueue();
        var domain = shared.protectionDomain();
        var queue = id.context().createCompletionQueue(16);
        var attributes = QueuePairInitAttributes.builder().completionQueue(queue).build();
        channel.lock().lock();
        try (Background<Void> closing = Background.run(shared::close)) {
            try {
                closing.awaitInside(CmIdQueues.class, "free");
                // C would give it the one that the id has
                assertThatThrownBy(() -> id.createQueuePair(domain, attributes))
                        .isInstanceOf(IllegalStateException.class).hasMessageContaining("SharedReceiveQueue is closed");
            } finally {
                channel.lock().unlock();
            }
            closing.result();
        }
        assertThat(FakeRdmaCm.calls("rdma_create_qp")).isEmpty();
        queue.close();
        domain.close();
    }

    @Test
    void anIdDoesNotMoveToAChannelThatIsBeingClosed() throws Exception {
        EventChannel target = EventChannel.open();
        target.lock().lock();
        try (Background<Void> moving = Background.run(() -> id.migrate(target));
                Background<Void> closing = Background.run(() -> {
                    moving.awaitInside(CmIdMigration.class, "run");
                    target.close();
                })) {
            try {
                closing.awaitInside(EventChannel.class, "wakeWaiters");
            } finally {
                target.lock().unlock();
            }
            assertThatThrownBy(moving::result).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("EventChannel is closed");
            closing.result();
        }
        assertThat(FakeRdmaCm.calls("rdma_migrate_id")).isEmpty();
        assertThat(id.channel()).isSameAs(channel);
    }

    @Test
    void aRequestThatCannotMoveIsDroppedAndItsListenerMovesAllTheSame() throws Exception {
        try (EventChannel target = EventChannel.open(); CmId listener = bound(PortSpace.TCP)) {
            listener.listen(4);
            FakeRdmaCm.event(listener, CmEventType.CONNECT_REQUEST);
            FakeRdmaCm.event(listener, CmEventType.CONNECT_REQUEST);
            // that of the listener succeeds, and that of the first request fails
            FakeRdmaCm.failAfter(1, "rdma_migrate_id", Rdma.ENXIO());
            listener.migrate(target);
            assertThat(listener.channel()).isSameAs(target);
            assertThat(FakeRdmaCm.calls("rdma_migrate_id")).hasSize(3);
            try (CmEvent request = target.pollEvent().orElseThrow()) {
                assertThat(request.listener()).contains(listener);
            }
            assertThat(target.pollEvent()).isEmpty();
            assertThat(FakeRdmaCm.call("fake_unacknowledged")).isZero();
        }
    }

    @Test
    void aMembershipThatIsBeingClosedIsInNobodysWay() throws Exception {
        try (CmId datagrams = bound(PortSpace.UDP)) {
            MulticastMembership leaving = datagrams.joinMulticast(group(3), MulticastMembership.Role.SEND_ONLY);
            channel.lock().lock();
            try (Background<Void> closing = Background.run(leaving::close)) {
                try {
                    closing.awaitInside(MulticastMembership.class, "destroy");
                    datagrams.joinMulticast(group(4), MulticastMembership.Role.SEND_ONLY).close();
                    assertThatThrownBy(() -> datagrams.joinMulticast(group(3), MulticastMembership.Role.SEND_ONLY))
                            .isInstanceOf(IllegalStateException.class).hasMessageContaining("is already a member of");
                } finally {
                    channel.lock().unlock();
                }
                closing.result();
            }
        }
    }

    /** An endpoint that refuses to close is whole. */
    private void assertRefused(Endpoint endpoint, NativeObject because, NativeObject... whole) {
        assertThatThrownBy(endpoint::close).isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(because.toString());
        assertThat(endpoint.isOpen()).isTrue();
        assertThat(whole).allMatch(NativeObject::isOpen);
    }

    private static Endpoint endpoint(PortSpace portSpace) throws Exception {
        return Endpoint.createPassive(new InetSocketAddress(InetAddress.getByName("192.0.2.7"), 0), portSpace, null);
    }

    @Test
    void anEndpointWhoseIdIsAMemberOfAGroupStaysWhole() throws Exception {
        try (Endpoint endpoint = endpoint(PortSpace.UDP)) {
            var region = endpoint.registerMessages(Arena.ofAuto().allocate(64));
            try (var membership = endpoint.id().joinMulticast(group(3), MulticastMembership.Role.SEND_ONLY)) {
                assertRefused(endpoint, membership, region, endpoint.protectionDomain());
            }
        }
    }

    @Test
    void anEndpointWithAnEventThatAProgramTookStaysWhole() throws Exception {
        try (Endpoint endpoint = endpoint(PortSpace.TCP)) {
            endpoint.createQueuePair(EndpointAttributes.defaults());
            FakeRdmaCm.event(endpoint.id(), CmEventType.ADDR_CHANGE);
            try (CmEvent event = endpoint.id().channel().pollEvent().orElseThrow()) {
                assertRefused(endpoint, event, endpoint.queuePair().orElseThrow());
            }
        }
    }

    @Test
    void anEndpointWhoseCompletionQueueIsUsedElsewhereStaysWhole() throws Exception {
        try (Endpoint endpoint = endpoint(PortSpace.TCP)) {
            endpoint.createQueuePair(EndpointAttributes.defaults());
            var queuePair = endpoint.queuePair().orElseThrow();
            var attributes = QueuePairInitAttributes.builder().completionQueue(queuePair.sendQueue()).build();
            try (var domain = endpoint.context().allocateProtectionDomain();
                    var other = domain.createQueuePair(attributes)) {
                assertRefused(endpoint, other, queuePair);
            }
        }
    }

    @Test
    void anEndpointEndsTheSharedReceiveQueueOfItsId() throws Exception {
        Endpoint endpoint = endpoint(PortSpace.TCP);
        try (var domain = endpoint.context().allocateProtectionDomain()) {
            SharedReceiveQueue shared = endpoint.id().createSharedReceiveQueue(domain, SHARED);
            endpoint.createQueuePair(EndpointAttributes.defaults());
            assertThatThrownBy(shared::close).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(endpoint.queuePair().orElseThrow().toString());
            endpoint.close();
            assertThat(shared.isOpen()).isFalse();
        }
    }

    private static InetSocketAddress group(int last) throws Exception {
        return new InetSocketAddress(InetAddress.getByName("239.1.2." + last), 0);
    }
}
