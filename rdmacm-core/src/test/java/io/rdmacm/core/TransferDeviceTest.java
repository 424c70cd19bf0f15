// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.ValueLayout;
import java.util.List;

import io.rdmacm.core.testing.End;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.SharedReceiveQueueInitAttributes;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.WorkRequestException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.RdmaTestDevice;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendOperation;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionException;
import io.rdmacm.verbs.work.WorkCompletionFlag;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Every operation of the first floor, over one connection. */
@RequiresRdma
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TransferDeviceTest {
    private Loopback loopback;
    private EventChannel channel;
    private Loopback.Pair pair;
    private End server;
    private End client;

    @BeforeAll
    void connect() throws Exception {
        loopback = new Loopback();
        channel = EventChannel.open();
        pair = loopback.connect(channel);
        server = pair.server();
        client = pair.client();
    }

    @AfterAll
    void close() throws Exception {
        pair.close();
        channel.close();
        loopback.close();
    }

    @Test
    void send() throws Exception {
        server.queuePair.postReceive(server.receive.id(11).data(server.region, 100, 50));
        client.write("a message");
        client.queuePair.postSend(client.send.id(12).send().data(client.region, 0, 10));
        WorkCompletion received = server.completion(Loopback.TIMEOUT);
        assertThat(received.workRequestId()).isEqualTo(11);
        assertThat(received.opcode()).isEqualTo(WorkCompletionOpcode.RECV);
        assertThat(received.byteLength()).isEqualTo(10);
        assertThat(received.queuePairNumber()).isEqualTo(server.queuePair.number());
        assertThat(server.region.memory().getString(100)).isEqualTo("a message");
        WorkCompletion sent = client.completion(Loopback.TIMEOUT);
        assertThat(sent.workRequestId()).isEqualTo(12);
        assertThat(sent.opcode()).isEqualTo(WorkCompletionOpcode.SEND);
    }

    @Test
    void sendInlineFreesTheMemoryAtOnce() throws Exception {
        assumeTrue(client.queuePair.capabilities().maxInlineData() > 0, "the device has no inline data");
        server.queuePair.postReceive(server.receive.id(1).data(server.region, 200, 50));
        client.write("inline");
        client.queuePair.postSend(client.send.id(2).send().inline(true).data(client.region, 0, 7));
        client.write("xxxxxx");
        client.send.inline(false);
        server.completion(Loopback.TIMEOUT);
        assertThat(server.region.memory().getString(200)).isEqualTo("inline");
        client.completion(Loopback.TIMEOUT);
    }

    @Test
    void sendWithImmediate() throws Exception {
        RdmaTestDevice.assumeNotIwarp("it has no immediate values");
        server.queuePair.postReceive(server.receive.id(3).noData());
        client.queuePair.postSend(client.send.id(4).sendWithImmediate(0x01020304).noData());
        WorkCompletion received = server.completion(Loopback.TIMEOUT);
        assertThat(received.flags()).contains(WorkCompletionFlag.WITH_IMM);
        assertThat(received.immediate()).isEqualTo(0x01020304);
        client.completion(Loopback.TIMEOUT);
    }

    @Test
    void rdmaWriteAndRead() throws Exception {
        client.write("written");
        client.queuePair.postSend(client.send.id(5)
                .rdmaWrite(server.region.remoteAddress() + 300, server.region.remoteKey())
                .data(client.region, 0, 8));
        assertThat(client.completion(Loopback.TIMEOUT).opcode()).isEqualTo(WorkCompletionOpcode.RDMA_WRITE);
        assertThat(server.region.memory().getString(300)).isEqualTo("written");
        server.region.memory().setString(400, "to be read");
        client.queuePair.postSend(client.send.id(6)
                .rdmaRead(server.region.remoteAddress() + 400, server.region.remoteKey())
                .data(client.region, 1000, 11));
        assertThat(client.completion(Loopback.TIMEOUT).opcode()).isEqualTo(WorkCompletionOpcode.RDMA_READ);
        assertThat(client.region.memory().getString(1000)).isEqualTo("to be read");
    }

    @Test
    void rdmaWriteWithImmediate() throws Exception {
        RdmaTestDevice.assumeNotIwarp("it has no immediate values");
        server.queuePair.postReceive(server.receive.id(7).noData());
        client.write("told");
        client.queuePair.postSend(client.send.id(8)
                .rdmaWriteWithImmediate(server.region.remoteAddress() + 500, server.region.remoteKey(), 77)
                .data(client.region, 0, 5));
        WorkCompletion received = server.completion(Loopback.TIMEOUT);
        assertThat(received.opcode()).isEqualTo(WorkCompletionOpcode.RECV_RDMA_WITH_IMM);
        assertThat(received.immediate()).isEqualTo(77);
        assertThat(server.region.memory().getString(500)).isEqualTo("told");
        client.completion(Loopback.TIMEOUT);
    }

    @Test
    void atomics() throws Exception {
        server.region.memory().set(ValueLayout.JAVA_LONG, 600, 40);
        long address = server.region.remoteAddress() + 600;
        client.queuePair.postSend(client.send.id(9).fetchAndAdd(address, server.region.remoteKey(), 2)
                .data(client.region, 64, 8));
        assertThat(client.completion(Loopback.TIMEOUT).opcode()).isEqualTo(WorkCompletionOpcode.FETCH_ADD);
        assertThat(client.region.memory().get(ValueLayout.JAVA_LONG, 64)).isEqualTo(40);
        client.queuePair.postSend(client.send.id(10).compareAndSwap(address, server.region.remoteKey(), 42, 99)
                .data(client.region, 64, 8));
        assertThat(client.completion(Loopback.TIMEOUT).opcode()).isEqualTo(WorkCompletionOpcode.COMP_SWAP);
        assertThat(client.region.memory().get(ValueLayout.JAVA_LONG, 64)).isEqualTo(42);
        assertThat(server.region.memory().get(ValueLayout.JAVA_LONG, 600)).isEqualTo(99);
    }

    @Test
    void aBatchIsPostedWithOneCallAndCompletesInOrder() throws Exception {
        ReceiveRequests receives = ReceiveRequests.allocate(8, 1);
        SendRequests sends = SendRequests.allocate(8, 1);
        for (int i = 0; i < 8; i++) {
            receives.get(i).id(100 + i).data(server.region, 1000 + 8 * i, 8);
            client.region.memory().set(ValueLayout.JAVA_LONG, 2000 + 8 * i, i);
            sends.get(i).id(200 + i).signaled(i == 7).data(client.region, 2000 + 8 * i, 8);
        }
        server.queuePair.postReceive(receives, 0, 8);
        client.queuePair.postSend(sends, 0, 8);
        for (int i = 0; i < 8; i++) {
            assertThat(server.completion(Loopback.TIMEOUT).workRequestId()).isEqualTo(100 + i);
            assertThat(server.region.memory().get(ValueLayout.JAVA_LONG, 1000 + 8 * i)).isEqualTo(i);
        }
        assertThat(client.completion(Loopback.TIMEOUT).workRequestId()).isEqualTo(207);
    }

    @Test
    void aFullQueueRefusesTheFirstThatDoesNotFit() throws Exception {
        try (Loopback.Pair other = loopback.connect(channel)) {
            int room = other.server().queuePair.capabilities().maxReceiveRequests();
            ReceiveRequests tooMany = ReceiveRequests.allocate(2 * room + 2, 1);
            for (int i = 0; i < tooMany.capacity(); i++) {
                tooMany.get(i).id(i).data(other.server().region, 0, 8);
            }
            assertThatThrownBy(() -> other.server().queuePair.postReceive(tooMany, 0, tooMany.capacity()))
                    .isInstanceOfSatisfying(WorkRequestException.class, e -> {
                        assertThat(e.errnoName()).isEqualTo("ENOMEM");
                        assertThat(e.failedIndex()).isBetween(room, 2 * room + 1);
                    });
        }
    }

    /** Unsignaled requests have no completion that would make room. */
    @Test
    void aSendQueueThatNothingEmptiesIsCalledFull() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a message that finds no receive ends the connection");
        try (Loopback.Pair other = loopback.connect(channel)) {
            End end = other.client();
            end.send.signaled(false).send().data(end.region, 0, 8);
            assertThatThrownBy(() -> {
                while (true) {
                    end.queuePair.postSend(end.send);
                }
            }).isInstanceOf(WorkRequestException.class).hasMessageContaining("is the send queue full?")
                    .hasMessageContaining("signaled");
        }
    }

    @Test
    void aWrongKeyFailsWithItsStatusAndFlushesWhatFollows() throws Exception {
        RdmaTestDevice.assumeNotIwarp("a write is not confirmed");
        try (Loopback.Pair other = loopback.connect(channel)) {
            End end = other.client();
            end.queuePair.postReceive(end.receive.id(50).data(end.region, 0, 8));
            end.queuePair.postSend(end.send.id(51)
                    .rdmaWrite(other.server().region.remoteAddress(), other.server().region.remoteKey() + 1)
                    .data(end.region, 0, 8));
            WorkCompletions completions = WorkCompletions.allocate(1);
            end.queue.await(completions, Loopback.TIMEOUT);
            assertThat(completions.next()).isTrue();
            assertThat(completions.status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
            assertThatThrownBy(completions::check).isInstanceOfSatisfying(WorkCompletionException.class,
                    e -> assertThat(e.completion().workRequestId()).isEqualTo(51))
                    .hasMessageContaining("REM_ACCESS_ERR");
            end.queue.await(completions, Loopback.TIMEOUT);
            assertThat(completions.next()).isTrue();
            assertThat(completions.workRequestId()).isEqualTo(50);
            assertThat(completions.status()).isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
        }
    }

    @Test
    @Covers({"rdma_create_srq", "rdma_destroy_srq"})
    void theQueuePairOfAnIdUsesItsSharedReceiveQueue() throws Exception {
        CmId id = loopback.resolved(channel);
        try (ProtectionDomain domain = id.context().allocateProtectionDomain()) {
            SharedReceiveQueue shared = id.createSharedReceiveQueue(domain,
                    SharedReceiveQueueInitAttributes.builder().maxRequests(8).build());
            MemoryRegion region = domain.allocate(64, AccessFlag.LOCAL_WRITE);
            try (End end = new End(id, (unused, attributes) -> id.createQueuePair(domain, attributes))) {
                assertThatThrownBy(shared::close).isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining(end.queuePair.toString());
                end.id.connect(ConnectionParameters.defaults());
                try (End peer = new End(loopback.request())) {
                    peer.id.accept(ConnectionParameters.defaults());
                    channel.await(id, CmEventType.ESTABLISHED, Loopback.TIMEOUT).close();
                    shared.postReceive(ReceiveRequests.allocate(1, 1).get(0).id(5).data(region, 0, 64));
                    peer.write("shared");
                    peer.queuePair.postSend(peer.send.data(peer.region, 0, 7));
                    assertThat(end.completion(Loopback.TIMEOUT).workRequestId()).isEqualTo(5);
                    assertThat(region.memory().getString(0)).isEqualTo("shared");
                }
                end.queuePair.close();
                region.close();
                shared.close();
            }
        }
    }

    @Test
    @Covers("rdma_create_qp_ex")
    void anExtendedQueuePairOfAnId() throws Exception {
        RdmaTestDevice.assumeNotIwarp("its queue pairs have no batches");
        CmId id = loopback.resolved(channel);
        try (End end = new End(id, (domain, attributes) -> id.createQueuePair(domain,
                attributes.toBuilder()
                        .sendOperations(List.of(SendOperation.SEND, SendOperation.RDMA_WRITE)).build()))) {
            end.id.connect(ConnectionParameters.defaults());
            try (End peer = new End(loopback.request())) {
                peer.id.accept(ConnectionParameters.defaults());
                channel.await(id, CmEventType.ESTABLISHED, Loopback.TIMEOUT).close();
                end.sendMessagesTo(peer);
            }
        }
    }

    @Test
    void argumentsAreCheckedBeforeThePost() {
        assertThatThrownBy(() -> client.send.data(client.region, End.BYTES - 4, 8))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> client.send.data(client.region, 0, 8).data(1, client.region, 0, 8))
                .isInstanceOf(IndexOutOfBoundsException.class);
        int inline = client.queuePair.capabilities().maxInlineData();
        assertThatThrownBy(() -> client.queuePair.postSend(SendRequests.allocate(1, 1).get(0).inline(true)
                .data(client.region, 0, inline + 1))).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("inline");
        SendRequests wide = SendRequests.allocate(1, 8);
        for (int i = 0; i < 8; i++) {
            wide.get(0).data(i, client.region, 0, 1);
        }
        assertThat(client.queuePair.capabilities().maxSendScatterGather()).isLessThan(8);
        assertThatThrownBy(() -> client.queuePair.postSend(wide.get(0))).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("8 scatter/gather entries");
    }
}
