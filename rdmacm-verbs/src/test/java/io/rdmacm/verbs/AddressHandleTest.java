// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_ah_attr;
import io.rdmacm.bindings.ibv_grh;
import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.bindings.ibv_wc;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.EthernetAddress;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.address.GlobalRoute;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.codec.AddressStructs;
import io.rdmacm.verbs.internal.life.LockGroup;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.WorkCompletionFlag;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Address handles, the datagrams that are sent with them, and multicast groups. */
@WithFakeVerbs
class AddressHandleTest {
    private static final int QUEUE_KEY = 0x87654321;

    private final Arena arena = Arena.ofAuto();
    private FakeStack stack;
    private QueuePair pair;
    private AddressAttributes way;
    private SendRequest request;

    @BeforeEach
    void open() throws IOException {
        stack = new FakeStack();
        pair = stack.domain().createQueuePair(QueuePairInitAttributes.builder().type(QueuePairType.UD)
                .completionQueue(stack.queue()).maxInlineData(64).build());
        way = AddressAttributes.ofRoute(1, Gid.ofAddress(InetAddress.getByName("10.1.2.3")), 5);
        request = SendRequests.allocate(1, 1).get(0);
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        pair.close();
        stack.close();
    }

    private WorkCompletions received(int flags) throws RdmaException {
        MemorySegment completion = ibv_wc.allocate(arena);
        ibv_wc.opcode(completion, Rdma.IBV_WC_RECV());
        ibv_wc.wc_flags(completion, flags);
        ibv_wc.sl(completion, (byte) 3);
        FakeVerbs.complete(stack.queue().handle(), completion);
        WorkCompletions completions = WorkCompletions.allocate(1);
        assertThat(stack.queue().poll(completions)).isEqualTo(1);
        completions.next();
        return completions;
    }

    private MemorySegment header() {
        byte[] bytes = new byte[(int) ibv_grh.sizeof()];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (0x80 + i);
        }
        return MemorySegment.ofArray(bytes);
    }

    @Test
    @Covers({"ibv_create_ah", "ibv_destroy_ah"})
    void isMadeWithItsAttributes() throws RdmaException {
        MemorySegment expected = ibv_ah_attr.allocate(arena);
        AddressStructs.write(way, expected.address());
        try (AddressHandle handle = stack.domain().createAddressHandle(way)) {
            FakeVerbs.Call call = FakeVerbs.calls("ibv_create_ah").getFirst();
            assertThat(call.arguments().getFirst()).isEqualTo(stack.domain().handle().address());
            assertThat(call.data()).isEqualTo(expected.toArray(ValueLayout.JAVA_BYTE));
            assertThat(handle.protectionDomain()).isSameAs(stack.domain());
            assertThatIllegalStateException().isThrownBy(stack.domain()::close)
                    .withMessageContaining(handle.toString());
        }
        assertThat(FakeVerbs.calls("ibv_destroy_ah")).hasSize(1);
    }

    @Test
    void aFailedCreationLeavesNothingBehindAndAFailedCloseIsRepeated() throws RdmaException {
        FakeVerbs.fail("ibv_create_ah", Rdma.EINVAL());
        assertThatThrownBy(() -> stack.domain().createAddressHandle(way)).isInstanceOf(RdmaException.class)
                .hasMessageStartingWith("ibv_create_ah").hasMessageContaining("EINVAL");
        AddressHandle handle = stack.domain().createAddressHandle(way);
        FakeVerbs.fail("ibv_destroy_ah", Rdma.EBUSY());
        assertThatThrownBy(handle::close).isInstanceOf(RdmaException.class).hasMessageContaining("EBUSY");
        assertThat(handle.isOpen()).isTrue();
        handle.close();
    }

    @Test
    @Covers("ibv_create_ah_from_wc")
    void isMadeOfACompletion() throws RdmaException {
        WorkCompletions received = received(WorkCompletionFlag.GRH.bit());
        try (AddressHandle handle = stack.domain().createAddressHandle(received, header(), 2)) {
            FakeVerbs.Call call = FakeVerbs.calls("ibv_create_ah_from_wc").getFirst();
            assertThat(call.arguments()).startsWith(stack.domain().handle().address(), 2L);
            int size = (int) ibv_wc.sizeof();
            assertThat(Arrays.copyOf(call.data(), size)).isEqualTo(received.memory().toArray(ValueLayout.JAVA_BYTE));
            assertThat(Arrays.copyOfRange(call.data(), size, call.data().length))
                    .isEqualTo(header().toArray(ValueLayout.JAVA_BYTE));
            assertThat(handle.isOpen()).isTrue();
        }
    }

    @Test
    @Covers("ibv_init_ah_from_wc")
    void theWayBackIsReadOfACompletion() throws RdmaException {
        Gid sender = Gid.of(Arrays.copyOfRange(header().toArray(ValueLayout.JAVA_BYTE), 8, 24));

        AddressAttributes back = stack.context().initAddressAttributes(
                received(WorkCompletionFlag.GRH.bit()), header(), 2);

        assertThat(back.globalRoute().map(GlobalRoute::destination)).contains(sender);
        assertThat(back.serviceLevel()).isEqualTo(3);
        assertThat(back.port()).isEqualTo(2);
        FakeVerbs.fail("ibv_init_ah_from_wc", Rdma.ENOENT());
        WorkCompletions again = received(WorkCompletionFlag.GRH.bit());
        assertThatThrownBy(() -> stack.context().initAddressAttributes(again, header(), 2))
                .isInstanceOf(RdmaException.class).hasMessageContaining("ENOENT");
    }

    @Test
    void completionsThatNameNobodyAreRefused() throws RdmaException {
        MemorySegment completion = ibv_wc.allocate(arena);
        FakeVerbs.complete(stack.queue().handle(), completion);
        WorkCompletions sent = WorkCompletions.allocate(1);
        stack.queue().poll(sent);
        assertThatIllegalStateException().isThrownBy(() -> stack.domain().createAddressHandle(sent, header(), 1))
                .withMessageContaining("no current completion");
        sent.next();
        WorkCompletions received = received(0);
        FakeVerbs.reset();
        assertThatIllegalArgumentException().isThrownBy(() -> stack.domain().createAddressHandle(sent, header(), 1))
                .withMessageContaining("not the completion of a received message");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> stack.domain().createAddressHandle(received, header().asSlice(1), 1))
                .withMessageContaining("40 bytes, not 39");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> stack.context().initAddressAttributes(received, header(), 256))
                .withMessageContaining("not 256");
        assertThat(FakeVerbs.calls()).isEmpty();
    }

    @Test
    @Covers("ibv_resolve_eth_l2_from_gid")
    void theEthernetAddressIsResolved() throws RdmaException {
        FakeVerbs.result(0xffff_0200_0000_0a0bL);
        assertThat(stack.context().resolveEthernetAddress(way))
                .isEqualTo(new EthernetAddress(0x0200_0000_0a0bL, OptionalInt.empty()))
                .hasToString("02:00:00:00:0a:0b");
        FakeVerbs.result(0x0007_fe00_0000_0a0bL);
        assertThat(stack.context().resolveEthernetAddress(way)).hasToString("fe:00:00:00:0a:0b vlan 7");
        FakeVerbs.fail("ibv_resolve_eth_l2_from_gid", Rdma.EHOSTUNREACH());
        assertThatThrownBy(() -> stack.context().resolveEthernetAddress(way)).isInstanceOf(RdmaException.class)
                .hasMessageContaining("EHOSTUNREACH");
    }

    @Test
    void aDatagramHasTheBytesOfC() throws RdmaException {
        MemorySegment expected = ibv_send_wr.allocate(arena);
        try (AddressHandle handle = stack.domain().createAddressHandle(way)) {
            FakeVerbs.call("oracle_datagram", expected.address(), handle.handle().address(), 0xabcdef, QUEUE_KEY);
            ibv_send_wr.opcode(expected, Rdma.IBV_WR_SEND());
            ibv_send_wr.send_flags(expected, Rdma.IBV_SEND_SIGNALED());
            pair.postSend(request.datagram(handle, 0xabcdef, QUEUE_KEY));
            MemorySegment posted = MemorySegment.ofArray(FakeVerbs.calls("post_send").getFirst().data());
            long list = ibv_send_wr.sg_list$offset();
            assertThat(posted.asSlice(list + 8).mismatch(expected.asSlice(list + 8))).isEqualTo(-1);
            assertThatIllegalArgumentException().isThrownBy(() -> request.datagram(handle, 1 << 24, 0))
                    .withMessageContaining("queue pair number");
        }
    }

    @Test
    void aRequestWithoutAnOpenHandleOfTheDomainNeverReachesTheDriver() throws RdmaException {
        assertThatIllegalArgumentException().isThrownBy(() -> pair.postSend(request))
                .withMessageContaining("needs an address handle");
        AddressHandle handle = stack.domain().createAddressHandle(way);
        request.datagram(handle, 1, QUEUE_KEY).rdmaWrite(8, 1).send();
        assertThatIllegalArgumentException().describedAs("the address overwrote the handle")
                .isThrownBy(() -> pair.postSend(request));
        request.datagram(handle, 1, QUEUE_KEY).fetchAndAdd(8, 1, 1).send();
        assertThatIllegalArgumentException().isThrownBy(() -> pair.postSend(request));
        request.datagram(handle, 1, QUEUE_KEY).sendWithImmediate(7);
        handle.close();
        assertThatIllegalStateException().isThrownBy(() -> pair.postSend(request))
                .withMessageContaining("AddressHandle is closed");
        assertThatIllegalStateException().isThrownBy(() -> request.datagram(handle, 1, QUEUE_KEY))
                .withMessageContaining("AddressHandle is closed");
        try (ProtectionDomain other = stack.context().allocateProtectionDomain();
                AddressHandle foreign = other.createAddressHandle(way)) {
            request.datagram(foreign, 1, QUEUE_KEY);
            assertThatIllegalArgumentException().isThrownBy(() -> pair.postSend(request))
                    .withMessageContaining("another protection domain");
        }
        assertThat(FakeVerbs.calls("post_send")).isEmpty();
    }

    @Test
    void aCloseOfTheHandleWaitsForThePostThatReadsIt() throws Exception {
        AddressHandle handle = stack.domain().createAddressHandle(way);
        request.datagram(handle, 1, QUEUE_KEY);
        FakeVerbs.hold("post_send");
        try (Background<Void> poster = Background.run(() -> pair.postSend(request))) {
            FakeVerbs.awaitHeld();
            try (Background<Void> closer = Background.run(handle::close)) {
                closer.awaitInside(LockGroup.class, "await");
                assertThat(FakeVerbs.calls("ibv_destroy_ah")).isEmpty();
                FakeVerbs.release();
                closer.result();
                poster.result();
            }
        }
    }

    @Test
    @Covers({"ibv_attach_mcast", "ibv_detach_mcast"})
    void aQueuePairIsAttachedToAGroupOnceAndClosesAfterIt() throws Exception {
        Gid group = Gid.ofAddress(InetAddress.getByName("ff0e::1:2:3"));
        MulticastAttachment attachment = pair.attachMulticast(group, 0xc001);
        FakeVerbs.Call call = FakeVerbs.calls("ibv_attach_mcast").getFirst();
        assertThat(call.arguments()).startsWith(pair.handle().address(), 0xc001L);
        assertThat(call.data()).isEqualTo(group.toBytes());
        assertThat(attachment.gid()).isEqualTo(group);
        assertThat(attachment.lid()).isEqualTo(0xc001);
        assertThat(attachment.queuePair()).isSameAs(pair);
        assertThat(attachment.handle().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(group.toBytes());
        assertThatIllegalStateException().isThrownBy(() -> pair.attachMulticast(group, 0xc001))
                .withMessageContaining("attached to");
        assertThatIllegalStateException().isThrownBy(pair::close).withMessageContaining(attachment.toString());
        FakeVerbs.fail("ibv_detach_mcast", Rdma.EBUSY());
        assertThatThrownBy(attachment::close).isInstanceOf(RdmaException.class);
        attachment.close();
        attachment.close();
        assertThat(FakeVerbs.calls("ibv_detach_mcast")).hasSize(2)
                .allSatisfy(detach -> assertThat(detach.data()).isEqualTo(group.toBytes()));
        pair.attachMulticast(group, 0xc001).close();
    }

    @Test
    void whatIsNoGroupIsRefused() throws Exception {
        Gid group = Gid.ofAddress(InetAddress.getByName("239.1.2.3"));
        FakeVerbs.fail("ibv_attach_mcast", Rdma.ENOMEM());
        assertThatThrownBy(() -> pair.attachMulticast(group, 0)).isInstanceOf(RdmaException.class)
                .hasMessageContaining("ENOMEM");
        FakeVerbs.reset();
        assertThatIllegalArgumentException().isThrownBy(() -> pair.attachMulticast(group, 1 << 16));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> pair.attachMulticast(way.globalRoute().map(GlobalRoute::destination).get(), 0))
                .withMessageContaining("not the GID of a multicast group");
        assertThatIllegalArgumentException().isThrownBy(() -> stack.queuePair().attachMulticast(group, 0))
                .withMessageContaining("only a queue pair of type UD");
        assertThat(FakeVerbs.calls()).isEmpty();
        pair.attachMulticast(group, 0).close();
        assertThat(Optional.of(pair)).get().satisfies(QueuePair::close);
    }
}
