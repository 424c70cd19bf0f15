// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.rdma_addrinfo;
import io.rdmacm.core.AddressInfo.Flag;
import io.rdmacm.core.AddressInfo.Hints;
import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.core.testing.Loopback;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Look-ups of an id: what reaches C, what comes back, and the order of the calls. */
@FakeRdmaCm.With
class AddressLookupTest {
    private static final Hints ACTIVE = Hints.active(PortSpace.TCP);
    private static final Hints SERVICE = new Hints(Set.of(Flag.SA), PortSpace.IB, Optional.empty());

    private EventChannel channel;
    private CmId id;

    @BeforeEach
    void open() throws Exception {
        channel = EventChannel.open();
        id = CmId.open(channel, PortSpace.TCP);
    }

    @AfterEach
    void close() throws Exception {
        id.close();
        assertThat(FakeRdmaCm.call("fake_unacknowledged")).isZero();
        channel.close();
    }

    @Test
    @Covers({"rdma_resolve_addrinfo", "rdma_query_addrinfo", "rdma_freeaddrinfo"})
    void aNameIsLookedUp() throws Exception {
        id.resolveAddressInfo("n\u00f6de", "7174", new Hints(EnumSet.of(Flag.DNS, Flag.NUMERICHOST), PortSpace.UDP,
                Optional.empty()));
        FakeRdmaCm.Call call = FakeRdmaCm.calls("rdma_resolve_addrinfo").getFirst();
        assertThat(call.arguments()).startsWith(id.handle().address());
        ByteBuffer hints = ByteBuffer.wrap(call.data()).order(ByteOrder.nativeOrder());
        assertThat(hints.getInt((int) rdma_addrinfo.ai_flags$offset())).isEqualTo(0x20 | 2);
        assertThat(hints.getInt((int) rdma_addrinfo.ai_port_space$offset())).isEqualTo(PortSpace.UDP.value());
        assertThat(hints.getInt((int) rdma_addrinfo.ai_qp_type$offset())).isEqualTo(QueuePairType.UD.value());
        ByteArrayOutputStream texts = new ByteArrayOutputStream();
        texts.writeBytes("n\u00f6de".getBytes(StandardCharsets.UTF_8));
        texts.write(0);
        texts.writeBytes("7174".getBytes(StandardCharsets.UTF_8));
        texts.write(0);
        assertThat(call.data()).endsWith(texts.toByteArray());

        channel.await(id, CmEventType.ADDRINFO_RESOLVED, Loopback.TIMEOUT).close();
        assertThat(id.state()).isEqualTo(CmIdState.IDLE);
        assertThat(id.queryAddressInfo()).singleElement().satisfies(info -> {
            assertThat(info.flags()).containsExactlyInAnyOrder(Flag.DNS, Flag.NUMERICHOST);
            assertThat(info.portSpace()).isEqualTo(PortSpace.UDP);
            assertThat(info.queuePairType()).isEqualTo(QueuePairType.UD);
        });
        assertThat(FakeRdmaCm.calls("rdma_query_addrinfo").getFirst().arguments()).startsWith(id.handle().address());
    }

    @Test
    void oneLookUpAtATimeAndItsResultOnce() throws Exception {
        assertRefused(() -> id.queryAddressInfo(), "next step: resolveAddressInfo");
        id.resolveAddressInfo(null, "1", ACTIVE);
        // librdmacm would give the result away, and then report the look-up as failed
        assertRefused(() -> id.queryAddressInfo(), "next step: wait for ADDRINFO_RESOLVED");
        assertRefused(() -> id.resolveAddressInfo(null, "2", ACTIVE), "next step: wait for ADDRINFO_RESOLVED");
        channel.await(id, CmEventType.ADDRINFO_RESOLVED, Loopback.TIMEOUT).close();
        assertRefused(() -> id.resolveAddressInfo(null, "2", ACTIVE), "next step: queryAddressInfo");
        assertThat(id.queryAddressInfo()).hasSize(1);
        assertRefused(() -> id.queryAddressInfo(), "next step: resolveAddressInfo");
        id.resolveAddressInfo(null, "2", ACTIVE);
        assertThat(FakeRdmaCm.calls("rdma_resolve_addrinfo")).hasSize(2);
        assertThat(FakeRdmaCm.calls("rdma_query_addrinfo")).hasSize(1);
        // what was found, and its event, go with the id
    }

    private static void assertRefused(ThrowingCallable call, String step) {
        assertThatThrownBy(call).isInstanceOf(IllegalStateException.class).hasMessageContaining(step);
    }

    @Test
    void servicesOfInfiniband() throws Exception {
        assertRefused(() -> id.resolveAddressInfo(null, "storage", SERVICE), "next step: bindAddress");
        try (FakeStack stack = new FakeStack()) {
            FakeRdmaCm.call("fake_context", stack.context().handle().address());
            try (CmId bound = CmId.open(channel, PortSpace.IB)) {
                bound.bindAddress(new InetSocketAddress(InetAddress.getByName("192.0.2.7"), 0));
                bound.resolveAddressInfo(null, "storage", SERVICE);
                FakeRdmaCm.Call call = FakeRdmaCm.calls("rdma_resolve_addrinfo").getFirst();
                assertThat(call.arguments().get(1)).isZero();
                assertThat(call.data()).startsWith(Rdma.RAI_SA())
                        .endsWith("\0storage\0".getBytes(StandardCharsets.UTF_8));
                assertThat(channel.pollEvent()).isEmpty();
                FakeRdmaCm.event(bound, CmEventType.ADDRINFO_ERROR);
                assertThatThrownBy(() -> channel.await(bound, CmEventType.ADDRINFO_RESOLVED, Loopback.TIMEOUT))
                        .isInstanceOf(UnreachableException.class).hasMessageContaining("ADDRINFO_ERROR");
                assertRefused(bound::queryAddressInfo, "next step: resolveAddressInfo");

                bound.resolveAddressInfo(null, "0x17", SERVICE);
                FakeRdmaCm.event(bound, CmEventType.ADDRINFO_RESOLVED);
                channel.await(bound, CmEventType.ADDRINFO_RESOLVED, Loopback.TIMEOUT).close();
                List<AddressInfo> found = bound.queryAddressInfo();
                assertThat(found).hasSize(2).allSatisfy(info -> {
                    assertThat(info.flags()).containsExactly(Flag.SA);
                    assertThat(info.portSpace()).isEqualTo(PortSpace.IB);
                    assertThat(info.queuePairType()).isEqualTo(QueuePairType.RC);
                    assertThat(info.source()).isEmpty();
                });
                assertThat(found).extracting(info -> ((IbSocketAddress) info.destination().orElseThrow()).bytes()[23])
                        .containsExactly((byte) 1, (byte) 2);
            } finally {
                FakeRdmaCm.call("fake_context", 0);
            }
        }
    }

    @Test
    void aBoundIdWithoutADeviceAsksNoSubnet() throws Exception {
        id.bindAddress(new InetSocketAddress(0));
        assertRefused(() -> id.resolveAddressInfo(null, "storage", SERVICE), "not bound to a device");
    }

    @Test
    void argumentsThatCWouldTakeForOthersAreRefused() {
        Hints both = new Hints(Set.of(Flag.SA, Flag.DNS), PortSpace.IB, Optional.empty());
        assertThatThrownBy(() -> id.resolveAddressInfo(null, null, ACTIVE))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> id.resolveAddressInfo(null, null, SERVICE))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> id.resolveAddressInfo("127.0.0.1\0.example", null, ACTIVE))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("NUL");
        assertThatThrownBy(() -> id.resolveAddressInfo("node", "storage", SERVICE))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("node");
        assertThatThrownBy(() -> id.resolveAddressInfo(null, "storage", both))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("DNS");
        assertThatThrownBy(() -> id.resolveAddressInfo(null, "\u00f6".repeat(32), SERVICE))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("63");
        assertThatThrownBy(() -> AddressInfo.resolve("node", "storage", SERVICE))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(FakeRdmaCm.calls("rdma_resolve_addrinfo")).isEmpty();
    }

    @Test
    void failuresLeaveNothingBehind() throws Exception {
        // librdmacm sets errno to the error of getaddrinfo(3), and to -1 when the kernel has refused
        FakeRdmaCm.fail("rdma_resolve_addrinfo", Rdma.EAI_NONAME());
        assertThatThrownBy(() -> id.resolveAddressInfo("x", null, ACTIVE)).isExactlyInstanceOf(RdmaException.class)
                .hasMessageContainingAll("rdma_resolve_addrinfo", "node x, service null", "EAI_NONAME");
        FakeRdmaCm.fail("rdma_resolve_addrinfo", -1);
        assertThatThrownBy(() -> id.resolveAddressInfo("x", null, ACTIVE))
                .isInstanceOfSatisfying(RdmaUnsupportedException.class, e -> assertThat(e.errno()).isZero())
                .hasMessageContainingAll("rdma_resolve_addrinfo", "node x, service null", "the kernel refused");
        FakeRdmaCm.fail("rdma_resolve_addrinfo", Rdma.ENOMEM());
        assertThatThrownBy(() -> id.resolveAddressInfo("x", null, ACTIVE)).isExactlyInstanceOf(RdmaException.class)
                .hasMessageContainingAll("rdma_resolve_addrinfo", "ENOMEM");
        id.resolveAddressInfo("x", null, ACTIVE);
        channel.await(id, CmEventType.ADDRINFO_RESOLVED, Loopback.TIMEOUT).close();
        FakeRdmaCm.fail("rdma_query_addrinfo", Rdma.ENOMEM());
        assertThatThrownBy(() -> id.queryAddressInfo()).isExactlyInstanceOf(RdmaException.class)
                .hasMessageContaining("rdma_query_addrinfo");
        assertThat(id.queryAddressInfo()).hasSize(1);
    }

    @Test
    void theIdOfARequestLooksNothingUpBeforeItIsAccepted() throws Exception {
        id.bindAddress(new InetSocketAddress(InetAddress.getByName("192.0.2.7"), 0));
        id.listen(1);
        FakeRdmaCm.event(id, CmEventType.CONNECT_REQUEST);
        CmEvent request = channel.getEvent(Loopback.TIMEOUT);
        try (CmId requested = request.id(); request) {
            assertRefused(() -> requested.resolveAddressInfo("x", null, ACTIVE), "not accepted");
        }
    }

    @Test
    void anEventThatNobodyAskedForGivesNoResult() throws Exception {
        FakeRdmaCm.event(id, CmEventType.ADDRINFO_RESOLVED);
        channel.await(id, CmEventType.ADDRINFO_RESOLVED, Loopback.TIMEOUT).close();
        assertRefused(() -> id.queryAddressInfo(), "next step: resolveAddressInfo");
    }
}
