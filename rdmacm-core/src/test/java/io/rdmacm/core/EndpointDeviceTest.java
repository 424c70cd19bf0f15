// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CyclicBarrier;

import com.sun.management.ThreadMXBean;
import io.rdmacm.core.testing.EndpointPair;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.CompletionChannel;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.ResourceCounts;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.RemoteMemory;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The synchronous side: connecting, the helpers that move data, and what ends with an endpoint. */
@RequiresRdma
class EndpointDeviceTest {
    private static final Set<SendFlag> SIGNALED = EnumSet.of(SendFlag.SIGNALED);
    private static final int MESSAGE = 1024;

    @Test
    @DisplayName("CMTestCase.test_rdmacm_sync_traffic")
    @Covers({"rdma_create_ep", "rdma_listen", "rdma_get_request", "rdma_accept", "rdma_connect", "rdma_disconnect",
        "rdma_reg_msgs", "rdma_post_recv", "rdma_post_send", "rdma_get_send_comp", "rdma_get_recv_comp",
        "rdma_destroy_ep"})
    void syncTraffic() throws Exception {
        CyclicBarrier turn = new CyclicBarrier(2);
        try (Endpoint listener = EndpointPair.listen(EndpointAttributes.defaults());
                Endpoint client = Endpoint.createActive(listener.localAddress(), PortSpace.TCP,
                        EndpointAttributes.defaults(), Loopback.TIMEOUT);
                Background<Void> serving = Background.run(() -> serve(listener, turn))) {
            client.connect(ConnectionParameters.defaults(), Loopback.TIMEOUT);
            MemoryRegion memory = client.registerMessages(EndpointPair.memory());
            for (int i = 0; i < 100; i++) {
                fill(memory, 'c');
                turn.await();
                client.postSend(i, memory, 0, MESSAGE, SIGNALED);
                assertThat(client.getSendCompletion(Loopback.TIMEOUT)).extracting(WorkCompletion::workRequestId,
                        WorkCompletion::status).containsExactly((long) i, WorkCompletionStatus.SUCCESS);
                client.postReceive(i, memory, 0, MESSAGE);
                turn.await();
                assertThat(client.getReceiveCompletion(Loopback.TIMEOUT).byteLength()).isEqualTo(MESSAGE);
                assertFilled(memory, 's');
            }
            client.disconnect(Loopback.TIMEOUT);
            assertThat(client.state()).isEqualTo(CmIdState.DISCONNECTED);
            serving.result();
        }
    }

    private static void serve(Endpoint listener, CyclicBarrier turn) throws Exception {
        try (Endpoint server = listener.getRequest(Loopback.TIMEOUT)) {
            server.accept(ConnectionParameters.defaults(), Loopback.TIMEOUT);
            MemoryRegion memory = server.registerMessages(EndpointPair.memory());
            for (int i = 0; i < 100; i++) {
                server.postReceive(i, memory, 0, MESSAGE);
                turn.await();
                assertThat(server.getReceiveCompletion(Loopback.TIMEOUT).workRequestId()).isEqualTo(i);
                assertFilled(memory, 'c');
                fill(memory, 's');
                turn.await();
                server.postSend(i, memory, 0, MESSAGE, SIGNALED);
                server.getSendCompletion(Loopback.TIMEOUT);
            }
            server.disconnect(Loopback.TIMEOUT);
        }
    }

    @Test
    @Covers({"rdma_create_id", "rdma_bind_addr", "rdma_resolve_addr", "rdma_resolve_route", "rdma_create_qp"})
    void stepByStepWithPrivateDataBothWays() throws Exception {
        byte[] hello = "hello".getBytes(StandardCharsets.UTF_8);
        byte[] welcome = "welcome".getBytes(StandardCharsets.UTF_8);
        try (Endpoint listener = EndpointPair.listen(null); Endpoint client = Endpoint.open(PortSpace.TCP)) {
            client.resolveAddress(null, listener.localAddress(), Loopback.TIMEOUT);
            assertThat(client.state()).isEqualTo(CmIdState.ADDRESS_RESOLVED);
            client.resolveRoute(Loopback.TIMEOUT);
            assertThatThrownBy(() -> client.postReceive(1, null, 0, 1)).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("next step: createQueuePair");
            client.createQueuePair(EndpointAttributes.defaults());
            assertThatThrownBy(() -> client.createQueuePair(EndpointAttributes.defaults()))
                    .isInstanceOf(IllegalStateException.class).hasMessageContaining("already has a queue pair");
            try (Background<Void> connecting = Background.run(() -> client.connect(
                    ConnectionParameters.builder().privateData(hello).build(), Loopback.TIMEOUT));
                    Endpoint server = listener.getRequest(Loopback.TIMEOUT)) {
                assertThat(server.peerParameters()).hasValueSatisfying(
                        p -> assertThat(p.privateData()).startsWith(hello));
                assertThatThrownBy(() -> server.accept(ConnectionParameters.defaults(), Loopback.TIMEOUT))
                        .isInstanceOf(IllegalStateException.class).hasMessageContaining("createQueuePair");
                server.createQueuePair(EndpointAttributes.defaults());
                server.accept(ConnectionParameters.builder().privateData(welcome).build(), Loopback.TIMEOUT);
                connecting.result();
                assertThat(client.peerParameters()).hasValueSatisfying(
                        p -> assertThat(p.privateData()).startsWith(welcome));
                assertThat(server.peerAddress()).isEqualTo(client.localAddress());
                assertThat(server.peerParameters()).hasValueSatisfying(
                        p -> assertThat(p.privateData()).startsWith(hello));
            }
        }
    }

    @Test
    @Covers("rdma_reject")
    void aRejectionArrivesWithItsPrivateData() throws Exception {
        try (Endpoint listener = EndpointPair.listen(null);
                Endpoint client = Endpoint.createActive(listener.localAddress(), PortSpace.TCP,
                        EndpointAttributes.defaults(), Loopback.TIMEOUT);
                Background<Void> connecting = Background.run(
                        () -> client.connect(ConnectionParameters.defaults(), Loopback.TIMEOUT));
                Endpoint server = listener.getRequest(Loopback.TIMEOUT)) {
            server.reject(new byte[] {1, 2, 3});
            assertThatExceptionOfType(RejectedException.class).isThrownBy(connecting::result)
                    .satisfies(e -> assertThat(Arrays.copyOf(e.privateData(), 4)).containsExactly(1, 2, 3, 0));
        }
    }

    @Test
    void anEndpointThatIsClosedWithoutAnAnswerRejects() throws Exception {
        try (Endpoint listener = EndpointPair.listen(EndpointAttributes.defaults());
                Endpoint client = Endpoint.createActive(listener.localAddress(), PortSpace.TCP,
                        EndpointAttributes.defaults(), Loopback.TIMEOUT);
                Background<Void> connecting = Background.run(
                        () -> client.connect(ConnectionParameters.defaults(), Loopback.TIMEOUT))) {
            listener.getRequest(Loopback.TIMEOUT).close();
            assertThatThrownBy(connecting::result).isInstanceOf(RejectedException.class);
        }
    }

    @Test
    @Covers({"rdma_reg_read", "rdma_reg_write", "rdma_post_read", "rdma_post_write", "rdma_dereg_mr"})
    void readsAndWrites() throws Exception {
        try (EndpointPair pair = EndpointPair.connect(EndpointAttributes.defaults())) {
            MemoryRegion readable = pair.server.registerRead(EndpointPair.memory());
            MemoryRegion writable = pair.server.registerWrite(EndpointPair.memory());
            assertThat(readable.access()).containsExactlyInAnyOrder(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
            assertThat(writable.access()).containsExactlyInAnyOrder(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
            readable.memory().setString(10, "read me");
            pair.client.postRead(1, pair.clientMemory, 100, 8, SIGNALED, readable.remoteMemory().slice(10));
            assertThat(pair.client.getSendCompletion(Loopback.TIMEOUT).opcode())
                    .isEqualTo(WorkCompletionOpcode.RDMA_READ);
            assertThat(pair.clientMemory.memory().getString(100)).isEqualTo("read me");
            pair.clientMemory.memory().setString(200, "written");
            pair.client.postWrite(2, pair.clientMemory, 200, 8, SIGNALED, writable.remoteMemory().slice(20));
            assertThat(pair.client.getSendCompletion(Loopback.TIMEOUT).opcode())
                    .isEqualTo(WorkCompletionOpcode.RDMA_WRITE);
            assertThat(writable.memory().getString(20)).isEqualTo("written");
            pair.server.deregister(writable);
            assertThat(writable.isOpen()).isFalse();
            RdmaTestDevice.assumeNotIwarp("the one who writes is not told that the peer refuses");
            pair.client.postWrite(3, pair.clientMemory, 200, 8, SIGNALED, readable.remoteMemory());
            assertThat(pair.client.getSendCompletion(Loopback.TIMEOUT).status())
                    .isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        }
    }

    @Test
    @Covers({"rdma_post_recvv", "rdma_post_sendv", "rdma_post_readv", "rdma_post_writev"})
    void theVectorFormsTakeSeveralParts() throws Exception {
        EndpointAttributes attributes = EndpointAttributes.builder().maxSendScatterGather(3)
                .maxReceiveScatterGather(3).signalAll(true).build();
        try (EndpointPair pair = EndpointPair.connect(attributes)) {
            ScatterGatherList parts = ScatterGatherList.allocate(16);
            MemorySegment source = pair.clientMemory.memory();
            source.setString(0, "abc");
            source.setString(1000, "defg");
            source.setString(2000, "h");
            ScatterGatherList targets = ScatterGatherList.allocate(3).add(pair.serverMemory, 3000, 5)
                    .add(pair.serverMemory, 100, 1).add(pair.serverMemory, 0, 50);
            pair.server.postReceive(1, targets);
            pair.client.postSend(2, parts.add(pair.clientMemory, 0, 3).add(pair.clientMemory, 1000, 4)
                    .add(pair.clientMemory, 2000, 2), Set.of());
            assertThat(pair.client.getSendCompletion(Loopback.TIMEOUT).status())
                    .isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(pair.server.getReceiveCompletion(Loopback.TIMEOUT).byteLength()).isEqualTo(9);
            assertThat(text(pair.serverMemory, 3000, 5)).isEqualTo("abcde");
            assertThat(text(pair.serverMemory, 100, 1)).isEqualTo("f");
            assertThat(text(pair.serverMemory, 0, 2)).isEqualTo("gh");

            MemoryRegion remote = pair.server.protectionDomain().register(EndpointPair.memory(),
                    AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE);
            pair.client.postWrite(3, parts, Set.of(), remote.remoteMemory());
            pair.client.getSendCompletion(Loopback.TIMEOUT);
            assertThat(remote.memory().getString(0)).isEqualTo("abcdefgh");
            assertThat(parts.bytes()).isEqualTo(9);
            assertThatThrownBy(() -> pair.client.postWrite(4, parts, Set.of(), remote.remoteMemory().slice(0, 8)))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            RdmaTestDevice.assumeNotIwarp("a read has one entry");
            parts.clear().add(pair.clientMemory, 3001, 4).add(pair.clientMemory, 3000, 1);
            pair.client.postRead(4, parts, Set.of(), remote.remoteMemory());
            assertThat(pair.client.getSendCompletion(Loopback.TIMEOUT).workRequestId()).isEqualTo(4);
            assertThat(text(pair.clientMemory, 3000, 5)).isEqualTo("eabcd");

            int limit = pair.client.queuePair().orElseThrow().capabilities().maxSendScatterGather();
            ScatterGatherList tooLong = ScatterGatherList.allocate(limit + 1);
            for (int i = 0; i <= limit; i++) {
                tooLong.add(pair.clientMemory, i, 1);
            }
            assertThatThrownBy(() -> pair.client.postSend(5, tooLong, Set.of()))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("allows at most " + limit);
            assertThatThrownBy(() -> tooLong.add(pair.clientMemory, 0, 1)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> parts.add(pair.clientMemory, EndpointPair.BYTES, 1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            // what was made in the endpoint's domain without the endpoint must go before it
            assertThatThrownBy(pair.server::close).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(remote.toString());
            assertThat(pair.server.isOpen()).isTrue();
            remote.close();
        }
    }

    @Test
    void completionsComeInABufferToo() throws Exception {
        try (EndpointPair pair = EndpointPair.connect(EndpointAttributes.defaults())) {
            WorkCompletions completions = WorkCompletions.allocate(8);
            for (int i = 0; i < 5; i++) {
                pair.server.postReceive(i, pair.serverMemory, 100 * i, 100);
            }
            for (int i = 0; i < 5; i++) {
                pair.client.postSend(10 + i, pair.clientMemory, 0, i, i == 4 ? SIGNALED : Set.of());
            }
            assertThat(pair.client.getSendCompletions(completions, Loopback.TIMEOUT)).isEqualTo(1);
            assertThat(completions.at(0).workRequestId()).isEqualTo(14);
            int received = 0;
            while (received < 5) {
                pair.server.getReceiveCompletions(completions, Loopback.TIMEOUT);
                while (completions.next()) {
                    completions.check();
                    assertThat(completions.byteLength()).isEqualTo(received);
                    assertThat(completions.workRequestId()).isEqualTo(received++);
                }
            }
        }
    }

    @Test
    void postsAllocateNothing() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        Set<SendFlag> none = EnumSet.noneOf(SendFlag.class);
        try (EndpointPair pair = EndpointPair.connect(EndpointAttributes.defaults())) {
            MemoryRegion remote = pair.server.registerWrite(EndpointPair.memory());
            RemoteMemory target = remote.remoteMemory();
            ScatterGatherList list = ScatterGatherList.allocate(1).add(pair.clientMemory, 0, 8);
            long allocated = -1;
            // the first rounds load classes and run in the interpreter
            for (int round = 0; round < 300 && allocated != 0; round++) {
                allocated = 0;
                for (int batch = 0; batch < 10; batch++) {
                    long before = threads.getCurrentThreadAllocatedBytes();
                    for (int i = 0; i < 4; i++) {
                        pair.client.postWrite(i, list, none, target);
                        pair.client.postWrite(i, pair.clientMemory, 0, 8, i == 3 ? SIGNALED : none, target);
                    }
                    allocated += threads.getCurrentThreadAllocatedBytes() - before;
                    pair.client.getSendCompletion(Loopback.TIMEOUT);
                }
            }
            assertThat(allocated).describedAs("bytes allocated by 80 posts").isZero();
        }
    }

    @Test
    void takingCompletionsThatAreThereAllocatesNothing() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        WorkCompletions completions = WorkCompletions.allocate(4);
        try (EndpointPair pair = EndpointPair.connect(EndpointAttributes.defaults())) {
            long allocated = -1;
            // the first rounds load classes and run in the interpreter
            for (int round = 0; round < 3000 && allocated != 0; round++) {
                pair.server.postReceive(round, pair.serverMemory, 0, 8);
                pair.client.postSend(round, pair.clientMemory, 0, 8, SIGNALED);
                pair.client.getSendCompletion(Loopback.TIMEOUT);
                // the peer acknowledges a message after it has completed its receive
                long before = threads.getCurrentThreadAllocatedBytes();
                int taken = pair.server.getReceiveCompletions(completions, Loopback.TIMEOUT);
                allocated = threads.getCurrentThreadAllocatedBytes() - before;
                assertThat(taken).isEqualTo(1);
            }
            assertThat(allocated).describedAs("bytes allocated by taking a completion").isZero();
        }
    }

    @Test
    void lookingForCompletionsLeavesNoEventsBehind() throws Exception {
        try (EndpointPair pair = EndpointPair.connect(EndpointAttributes.defaults())) {
            CompletionChannel channel = pair.server.queuePair().orElseThrow().receiveCompletionQueue().channel()
                    .orElseThrow();
            for (int i = 0; i < 10; i++) {
                // arms the queue, so that the message raises an event
                assertThatThrownBy(() -> pair.server.getReceiveCompletion(Duration.ZERO))
                        .isInstanceOf(RdmaTimeoutException.class);
                pair.server.postReceive(i, pair.serverMemory, 0, 8);
                pair.client.postSend(i, pair.clientMemory, 0, 8, SIGNALED);
                pair.client.getSendCompletion(Loopback.TIMEOUT);
                assertThat(pair.server.getReceiveCompletion(Loopback.TIMEOUT).workRequestId()).isEqualTo(i);
            }
            assertThatThrownBy(() -> pair.server.getReceiveCompletion(Duration.ZERO))
                    .isInstanceOf(RdmaTimeoutException.class);
            assertThat(channel.pollEvent()).isEmpty();
        }
    }

    @Test
    void acceptedEndpointsLiveOnWhenTheListenerIsClosed() throws Exception {
        Endpoint listener = EndpointPair.listen(EndpointAttributes.defaults());
        try (EndpointPair first = EndpointPair.connect(listener, EndpointAttributes.defaults());
                EndpointPair second = EndpointPair.connect(listener, EndpointAttributes.defaults())) {
            listener.close();
            for (EndpointPair pair : new EndpointPair[] {first, second}) {
                pair.server.postReceive(1, pair.serverMemory, 0, 10);
                pair.client.postSend(1, pair.clientMemory, 0, 10, Set.of());
                assertThat(pair.server.getReceiveCompletion(Loopback.TIMEOUT).status())
                        .isEqualTo(WorkCompletionStatus.SUCCESS);
            }
        }
    }

    @Test
    void completionQueuesAndDomainCanBeTheCallers() throws Exception {
        try (Endpoint listener = EndpointPair.listen(null);
                Endpoint first = Endpoint.createActive(listener.localAddress(), PortSpace.TCP, null,
                        Loopback.TIMEOUT);
                var domain = first.context().allocateProtectionDomain();
                var queue = first.context().createCompletionQueue(8);
                Endpoint client = Endpoint.createActive(listener.localAddress(), PortSpace.TCP,
                        EndpointAttributes.builder().protectionDomain(domain).sendCompletionQueue(queue)
                                .receiveCompletionQueue(queue)
                                .build(), Loopback.TIMEOUT)) {
            assertThat(client.protectionDomain()).isSameAs(domain);
            assertThat(client.queuePair().orElseThrow().sendCompletionQueue()).isSameAs(queue);
            assertThatThrownBy(() -> client.getSendCompletion(Loopback.TIMEOUT))
                    .isInstanceOf(IllegalStateException.class).hasMessageContaining("CompletionQueue.await");
        }
    }

    @Test
    @Covers({"rdma_post_ud_send", "rdma_create_ep"})
    void datagramsGoBothWays() throws Exception {
        RdmaTestDevice.assumeNotIwarp("it has no datagrams");
        EndpointAttributes attributes = EndpointAttributes.builder().signalAll(true).build();
        try (Endpoint listener = Endpoint.createPassive(new InetSocketAddress(RdmaTestDevice.get().ipv4(), 0),
                PortSpace.UDP, attributes)) {
            listener.listen(1);
            try (Endpoint client = Endpoint.createActive(listener.localAddress(), PortSpace.UDP, attributes,
                    Loopback.TIMEOUT); Background<Void> connecting = Background.run(
                            () -> client.connect(ConnectionParameters.defaults(), Loopback.TIMEOUT));
                    Endpoint server = listener.getRequest(Loopback.TIMEOUT)) {
                MemoryRegion serverMemory = server.registerMessages(EndpointPair.memory());
                MemoryRegion clientMemory = client.registerMessages(EndpointPair.memory());
                server.postReceive(1, serverMemory, 0, 140);
                server.accept(ConnectionParameters.defaults(), Loopback.TIMEOUT);
                connecting.result();
                DatagramParameters peer = client.datagramParameters().orElseThrow();
                assertThat(peer.queuePairNumber()).isEqualTo(server.queuePair().orElseThrow().number());
                clientMemory.memory().setString(0, "ping");
                try (AddressHandle there = client.protectionDomain().createAddressHandle(
                        peer.address().orElseThrow())) {
                    client.postDatagram(2, clientMemory, 0, 5, Set.of(), there, peer.queuePairNumber());
                    assertThat(client.getSendCompletion(Loopback.TIMEOUT).status())
                            .isEqualTo(WorkCompletionStatus.SUCCESS);
                }
                WorkCompletions received = WorkCompletions.allocate(1);
                server.getReceiveCompletions(received, Loopback.TIMEOUT);
                assertThat(received.at(0).byteLength()).isEqualTo(45);
                assertThat(serverMemory.memory().getString(40)).isEqualTo("ping");
                client.postReceive(3, clientMemory, 1000, 140);
                try (AddressHandle back = server.protectionDomain().createAddressHandle(received,
                        serverMemory.memory().asSlice(0, 40), 1)) {
                    server.postDatagram(4, serverMemory, 40, 5, Set.of(), back, received.sourceQueuePair());
                    server.getSendCompletion(Loopback.TIMEOUT);
                }
                assertThat(client.getReceiveCompletion(Loopback.TIMEOUT).byteLength()).isEqualTo(45);
                assertThat(clientMemory.memory().getString(1040)).isEqualTo("ping");
            }
        }
    }

    @Test
    @Covers({"rdma_create_srq", "rdma_post_recv", "rdma_destroy_srq"})
    void receivesGoToTheSharedReceiveQueue() throws Exception {
        SharedReceiveQueue made;
        try (Endpoint listener = EndpointPair.listen(null);
                Endpoint client = Endpoint.createActive(listener.localAddress(), PortSpace.TCP,
                        EndpointAttributes.defaults(), Loopback.TIMEOUT);
                Background<Void> connecting = Background.run(
                        () -> client.connect(ConnectionParameters.defaults(), Loopback.TIMEOUT));
                Endpoint server = listener.getRequest(Loopback.TIMEOUT)) {
            SharedReceiveQueue shared = server.createSharedReceiveQueue(
                    SharedReceiveQueueInitAttributes.builder().maxRequests(4).build());
            made = shared;
            server.createQueuePair(EndpointAttributes.defaults());
            assertThat(server.queuePair().orElseThrow().sharedReceiveQueue()).contains(shared);
            MemoryRegion serverMemory = server.registerMessages(EndpointPair.memory());
            server.postReceive(5, serverMemory, 0, 100);
            server.accept(ConnectionParameters.defaults(), Loopback.TIMEOUT);
            connecting.result();
            client.postSend(6, client.registerMessages(EndpointPair.memory()), 0, 33, Set.of());
            assertThat(server.getReceiveCompletion(Loopback.TIMEOUT)).extracting(WorkCompletion::workRequestId,
                    WorkCompletion::byteLength).containsExactly(5L, 33);
        }
        assertThat(made.isOpen()).isFalse();
    }

    @Test
    @Covers({"rdma_create_ep", "rdma_getaddrinfo"})
    void endpointsAreMadeOfAddressInfo() throws Exception {
        String host = RdmaTestDevice.get().ipv4().getHostAddress();
        AddressInfo passive = AddressInfo.resolve(host, "0", AddressInfo.Hints.passive(PortSpace.TCP)).getFirst();
        try (Endpoint listener = Endpoint.create(passive, EndpointAttributes.defaults(), Loopback.TIMEOUT)) {
            listener.listen(1);
            AddressInfo active = AddressInfo.resolve(host, "" + listener.localAddress().getPort(),
                    AddressInfo.Hints.active(PortSpace.TCP)).getFirst();
            try (Endpoint client = Endpoint.create(active, EndpointAttributes.defaults(), Loopback.TIMEOUT);
                    Background<Void> connecting = Background.run(
                            () -> client.connect(ConnectionParameters.defaults(), Loopback.TIMEOUT));
                    Endpoint server = listener.getRequest(Loopback.TIMEOUT)) {
                server.accept(ConnectionParameters.defaults(), Loopback.TIMEOUT);
                connecting.result();
                assertThat(client.peerAddress()).isEqualTo(listener.localAddress());
            }
        }
    }

    @Test
    void nothingIsLeftOfManyConnections() throws Exception {
        ResourceCounts before;
        try (Endpoint listener = EndpointPair.listen(EndpointAttributes.defaults())) {
            // The first sleep opens what this thread is woken with; a request that is there at once needs none.
            assertThatThrownBy(() -> listener.getRequest(Duration.ofMillis(1)))
                    .isInstanceOf(RdmaTimeoutException.class);
            EndpointPair.connect(listener, EndpointAttributes.defaults()).close();
            before = ResourceCounts.settled(Loopback.TIMEOUT);
            for (int i = 0; i < 20; i++) {
                EndpointPair pair = EndpointPair.connect(listener, EndpointAttributes.defaults());
                pair.server.postReceive(1, pair.serverMemory, 0, 10);
                if (i % 2 == 0) {
                    try (Background<Void> ending = Background.run(() -> pair.client.disconnect(Loopback.TIMEOUT))) {
                        pair.server.disconnect(Loopback.TIMEOUT);
                        ending.result();
                    }
                }
                pair.close();
                pair.close();
            }
            assertThatThrownBy(() -> Endpoint.createActive(listener.localAddress(), PortSpace.TCP,
                    EndpointAttributes.builder().maxSendScatterGather(Integer.MAX_VALUE).build(), Loopback.TIMEOUT))
                    .hasMessageContaining("rdma_create_qp");
            assertThat(ResourceCounts.await(before, Loopback.TIMEOUT)).isEqualTo(before);
        }
    }

    private static void fill(MemoryRegion region, char letter) {
        region.memory().asSlice(0, MESSAGE).fill((byte) letter);
    }

    private static void assertFilled(MemoryRegion region, char letter) {
        byte[] expected = new byte[MESSAGE];
        Arrays.fill(expected, (byte) letter);
        assertThat(region.memory().asSlice(0, MESSAGE).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(expected);
    }

    private static String text(MemoryRegion region, long offset, int length) {
        return new String(region.memory().asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE),
                StandardCharsets.UTF_8);
    }
}
