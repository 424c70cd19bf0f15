// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_counter_attach_attr;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Flow rules reach the driver with the bytes that C gives them, and what they name closes after them only. */
@WithFakeVerbs
class FlowRuleTest {
    private final Arena arena = Arena.ofAuto();
    private FakeStack stack;
    private QueuePair pair;
    private FlowAction action;
    private Counters counters;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        FakeVerbs.call("fake_equip_work_queues", stack.context().handle().address());
        FakeVerbs.call("fake_equip_flows", stack.context().handle().address());
        pair = stack.domain().createQueuePair(QueuePairInitAttributes.builder().type(QueuePairType.RAW_PACKET)
                .completionQueue(stack.queue()).build());
        action = FlowAction.createEsp(stack.context(), FlowActionTest.complete());
        counters = Counters.create(stack.context());
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        pair.close();
        action.close();
        counters.close();
        stack.close();
    }

    private static Inet4Address ipv4(String address) {
        return Inet4Address.ofLiteral(address);
    }

    private static Inet6Address ipv6(String address) {
        return (Inet6Address) Inet6Address.ofLiteral(address);
    }

    /** The matches of {@code oracle_every_spec}. */
    private static List<FlowMatch> everyMatch() {
        return List.of(
                FlowMatch.ethernet().with(FlowField.ETH_DST_MAC, 0x0150_5619_20a7L)
                        .with(FlowField.ETH_SRC_MAC, 0x248a_07a5_28c8L, 0xffff_ff00_0001L)
                        .with(FlowField.ETH_ETHER_TYPE, 0x86dd).with(FlowField.ETH_VLAN_TAG, 0xbc0c, 0xfff),
                FlowMatch.ipv4().with(FlowField.IPV4_SRC_IP, ipv4("1.2.3.4"), ipv4("255.255.255.0"))
                        .with(FlowField.IPV4_DST_IP, ipv4("250.6.7.8")),
                FlowMatch.ipv4Extended().with(FlowField.IPV4_EXT_SRC_IP, ipv4("9.10.11.12"))
                        .with(FlowField.IPV4_EXT_DST_IP, ipv4("13.14.15.16"), ipv4("255.0.0.0"))
                        .with(FlowField.IPV4_EXT_PROTO, 17).with(FlowField.IPV4_EXT_TOS, 0xa0, 0xf0)
                        .with(FlowField.IPV4_EXT_TTL, 64).with(FlowField.IPV4_EXT_FLAGS, 2, 7),
                FlowMatch.ipv6().with(FlowField.IPV6_SRC_IP, ipv6("a0a1::a2a3:a4a5:a6a7:a8a9"))
                        .with(FlowField.IPV6_DST_IP, ipv6("::b8b9"), ipv6("ffff:ffff::ffff"))
                        .with(FlowField.IPV6_FLOW_LABEL, 0xabcde).with(FlowField.IPV6_NEXT_HDR, 6)
                        .with(FlowField.IPV6_TRAFFIC_CLASS, 0x81, 0xfe).with(FlowField.IPV6_HOP_LIMIT, 255),
                FlowMatch.esp().with(FlowField.ESP_SPI, 0x89abcdefL).with(FlowField.ESP_SEQ, 0x01020304, 0xff00ff00L),
                FlowMatch.tcp().with(FlowField.TCP_UDP_DST_PORT, 5678).with(FlowField.TCP_UDP_SRC_PORT, 0x1200, 0xff00),
                FlowMatch.udp().with(FlowField.TCP_UDP_DST_PORT, 4791),
                FlowMatch.vxlan().with(FlowField.TUNNEL_ID, 7777777),
                FlowMatch.gre().with(FlowField.GRE_C_KS_RES0_VER, 0x2001, 0xb007).with(FlowField.GRE_PROTOCOL, 0x6558)
                        .with(FlowField.GRE_KEY, 0xdeadbeefL),
                FlowMatch.mpls().with(FlowField.MPLS_LABEL, 0x9abcd000L, 0xfffff000L));
    }

    private FlowAttributes.Builder everything(List<FlowMatch> matches) {
        return FlowAttributes.builder().flags(FlowFlag.values()).priority(0xfedc).port(0xfb)
                .match(matches.toArray(FlowMatch[]::new)).tag(0xfedcba).action(action).count(counters).drop();
    }

    private byte[] everySpecOfC(int typeFlag) {
        MemorySegment rule = arena.allocate(4096, Long.BYTES);
        long size = FakeVerbs.call("oracle_every_spec", rule.address(), typeFlag, action.handle().address(),
                counters.handle().address());
        return rule.asSlice(0, size).toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    @Covers({"ibv_create_flow", "ibv_destroy_flow"})
    void everySpecificationHasTheBytesOfC() throws RdmaException {
        FlowAttributes rule = everything(everyMatch()).build();
        try (Flow flow = Flow.create(pair, rule)) {
            FakeVerbs.Call call = FakeVerbs.calls("create_flow").getFirst();
            assertThat(call.arguments().getFirst()).isEqualTo(pair.handle().address());
            assertThat(call.data()).isEqualTo(everySpecOfC(0));
            assertThat(flow.attributes()).isEqualTo(rule);
            assertThat(flow.queuePair()).isSameAs(pair);
            assertThat(flow.context()).isSameAs(stack.context());
            assertThat(flow).hasToString("Flow[NORMAL of port 251: ETH, IPV4, IPV4_EXT, IPV6, ESP, TCP, UDP,"
                    + " VXLAN_TUNNEL, GRE, MPLS, ACTION_TAG, ACTION_HANDLE, ACTION_COUNT, ACTION_DROP]");
        }
        assertThat(FakeVerbs.functions()).containsExactly("create_flow", "destroy_flow");
    }

    @Test
    @Covers("ibv_create_flow")
    void theHeadersInsideATunnelHaveTheFlagOfC() throws RdmaException {
        List<FlowMatch> matches = everyMatch().stream().map(FlowMatch::inner).toList();
        Flow.create(pair, everything(matches).build()).close();
        assertThat(FakeVerbs.calls("create_flow").getFirst().data())
                .isEqualTo(everySpecOfC(Rdma.IBV_FLOW_SPEC_INNER()));
        assertThat(matches).allMatch(FlowMatch::isInner);
    }

    @Test
    @Covers("ibv_create_flow")
    void aRuleNeedsNoSpecifications() throws RdmaException {
        for (FlowType type : FlowType.values()) {
            FakeVerbs.reset();
            Flow.create(pair, FlowAttributes.builder().type(type).flags(FlowFlag.EGRESS).priority(7).port(2).build())
                    .close();
            MemorySegment struct = arena.allocate(64, Long.BYTES);
            long size = FakeVerbs.call("oracle_flow", struct.address(), type.value(),
                    Rdma.IBV_FLOW_ATTR_FLAGS_EGRESS(), 7, 2);
            assertThat(FakeVerbs.calls("create_flow").getFirst().data())
                    .isEqualTo(struct.asSlice(0, size).toArray(ValueLayout.JAVA_BYTE));
        }
        try (QueuePair datagrams = stack.domain().createQueuePair(QueuePairInitAttributes.builder()
                .type(QueuePairType.UD).completionQueue(stack.queue()).build())) {
            Flow.create(datagrams, FlowAttributes.builder().build()).close();
        }
    }

    @Test
    void whatAFlowNamesClosesAfterIt() throws RdmaException {
        Flow flow = Flow.create(pair, FlowAttributes.builder().action(action).count(counters).build());
        FakeVerbs.reset();
        for (NativeObject named : List.of(pair, action, counters)) {
            assertThatIllegalStateException().isThrownBy(named::close).withMessageContaining(flow.toString());
            assertThat(named.isOpen()).isTrue();
        }
        assertThat(FakeVerbs.functions()).isEmpty();
        FakeVerbs.fail("destroy_flow", Rdma.EBUSY());
        assertThatExceptionOfType(RdmaException.class).isThrownBy(flow::close)
                .withMessageStartingWith("ibv_destroy_flow: EBUSY");
        assertThat(flow.isOpen()).isTrue();
        assertThatIllegalStateException().isThrownBy(action::close);
        flow.close();
        action.close();
        assertThatIllegalStateException().isThrownBy(() -> Flow.create(pair, FlowAttributes.builder().action(action)
                .build())).withMessage("FlowAction is closed");
    }

    @Test
    void aFailedCreationLeavesNothingBehind() throws RdmaException {
        FlowAttributes rule = FlowAttributes.builder().match(FlowMatch.udp().with(FlowField.TCP_UDP_SRC_PORT, 5))
                .action(action).count(counters).build();
        FakeVerbs.fail("create_flow", Rdma.EPERM());
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> Flow.create(pair, rule))
                .withMessageStartingWith("ibv_create_flow (NORMAL, specifications [UDP[src_port=0x5], ")
                .withMessageContaining("EPERM");
        FakeVerbs.setExtendedOp(stack.context().handle(), "ibv_create_flow", 0);
        assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(() -> Flow.create(pair, rule))
                .satisfies(e -> assertThat(e.function()).isEqualTo("ibv_create_flow"));
        pair.close();
        action.close();
        counters.close();
    }

    @Test
    void whatCannotBeSteeredToIsRefused() throws RdmaException {
        for (QueuePairType type : EnumSet.of(QueuePairType.RC, QueuePairType.UC, QueuePairType.DRIVER)) {
            try (QueuePair other = stack.domain().createQueuePair(QueuePairInitAttributes.builder().type(type)
                    .completionQueue(stack.queue()).build())) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> Flow.create(other, FlowAttributes.builder().build()))
                        .withMessage("flows are steered to queue pairs of type UD or RAW_PACKET, not " + type);
            }
        }
        try (FakeStack other = new FakeStack(); QueuePair datagrams = other.domain().createQueuePair(
                QueuePairInitAttributes.builder().type(QueuePairType.UD).completionQueue(other.queue()).build())) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Flow.create(datagrams, FlowAttributes.builder().action(action).build()))
                    .withMessageStartingWith("the flow action belongs to another context than the queue pair");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Flow.create(datagrams, FlowAttributes.builder().count(counters).build()))
                    .withMessageStartingWith("the counters object belongs to another context than the queue pair");
        }
        assertThat(FakeVerbs.calls("create_flow")).isEmpty();
    }

    @Test
    void numbersThatDoNotFitAreRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> FlowAttributes.builder().priority(1 << 16).build())
                .withMessage("the priority must be from 0 to 65535, not 65536");
        assertThatIllegalArgumentException().isThrownBy(() -> FlowAttributes.builder().port(256).build())
                .withMessage("the port must be from 0 to 255, not 256");
        assertThatIllegalArgumentException().isThrownBy(() -> FlowAttributes.builder().port(0).build())
                .withMessage("ports are numbered from 1, not 0");
        for (FlowType type : EnumSet.complementOf(EnumSet.of(FlowType.NORMAL))) {
            assertThatIllegalArgumentException().isThrownBy(
                    () -> FlowAttributes.builder().type(type).flags(FlowFlag.DONT_TRAP).build())
                    .withMessage("DONT_TRAP is for rules of type NORMAL only, not " + type);
        }
        assertThatIllegalArgumentException().isThrownBy(() -> new FlowAttributes(FlowType.NORMAL, Set.of(), 0, 1,
                Collections.nCopies(256, new FlowSpecification.Drop())))
                .withMessage("a flow has at most 255 specifications, not 256");
        assertThatIllegalArgumentException().isThrownBy(() -> FlowMatch.ethernet()
                .with(FlowField.ETH_DST_MAC, 1L << 48))
                .withMessage("the value of dst_mac must be from 0 to 0xffffffffffff, not 0x1000000000000");
        assertThatIllegalArgumentException().isThrownBy(() -> FlowMatch.tcp().with(FlowField.TCP_UDP_SRC_PORT, -1))
                .withMessage("the value of src_port must be from 0 to 0xffff, not -1");
        assertThatIllegalArgumentException().isThrownBy(() -> FlowMatch.udp()
                .with(FlowField.TCP_UDP_DST_PORT, 0, 0x10000))
                .withMessage("the mask of dst_port must be from 0 to 0xffff, not 0x10000");
        assertThatIllegalArgumentException().isThrownBy(() -> FlowMatch.ipv6()
                .with(FlowField.IPV6_FLOW_LABEL, 1 << 20));
        assertThatIllegalArgumentException().isThrownBy(() -> FlowMatch.ipv4Extended()
                .with(FlowField.IPV4_EXT_PROTO, 256));
        assertThatIllegalArgumentException().isThrownBy(() -> FlowMatch.vxlan().with(FlowField.TUNNEL_ID, 1 << 24));
        assertThatNullPointerException().isThrownBy(() -> FlowAttributes.builder().action(null)).withMessage("action");
        assertThatNullPointerException().isThrownBy(() -> FlowAttributes.builder().count(null))
                .withMessage("counters");
    }

    @Test
    void aFieldBelongsToItsHeader() {
        assertThatIllegalArgumentException().isThrownBy(() -> FlowMatch.ipv4().with(FlowField.IPV6_HOP_LIMIT, 1))
                .withMessage("IPV4 has no field IPV6_HOP_LIMIT");
        assertThatIllegalArgumentException().isThrownBy(() -> FlowMatch.ipv6()
                .with(FlowField.IPV6_SRC_IP, ipv4("1.2.3.4"))).withMessage("IPV6_SRC_IP cannot be 1.2.3.4");
        assertThatIllegalArgumentException().isThrownBy(() -> FlowMatch.gre()
                .with(FlowField.GRE_KEY, ipv4("1.2.3.4"))).withMessage("GRE_KEY cannot be 1.2.3.4");
    }

    @Test
    void aMatchIsAValueWithAReadableText() {
        FlowMatch any = FlowMatch.ethernet();
        FlowMatch one = any.with(FlowField.ETH_ETHER_TYPE, 0x800).with(FlowField.ETH_SRC_MAC, 1, 0xff);
        FlowMatch same = any.with(FlowField.ETH_SRC_MAC, 1, 0xff).with(FlowField.ETH_ETHER_TYPE, 0x800);
        assertThat(any).hasToString("ETH[]");
        assertThat(one).hasToString("ETH[src_mac=0x1/0xff, ether_type=0x800]").isNotEqualTo(any)
                .isEqualTo(same).hasSameHashCodeAs(same);
        assertThat(one.inner()).hasToString("inner ETH[src_mac=0x1/0xff, ether_type=0x800]").isNotEqualTo(one);
        assertThat(one.with(FlowField.ETH_ETHER_TYPE, 5)).hasToString("ETH[src_mac=0x1/0xff, ether_type=0x5]");
        assertThat(FlowMatch.tcp()).isNotEqualTo(FlowMatch.udp());
        assertThat(FlowMatch.ipv6().with(FlowField.IPV6_DST_IP, ipv6("a::1")))
                .hasToString("IPV6[dst_ip=a:0:0:0:0:0:0:1]");
        assertThat(FlowMatch.ipv4().with(FlowField.IPV4_SRC_IP, ipv4("0.0.0.1"), ipv4("0.0.0.255")))
                .hasToString("IPV4[src_ip=0.0.0.1/0.0.0.255]");
        assertThat(FlowMatch.mpls().with(FlowField.MPLS_LABEL, 0xffffffffL)).hasToString("MPLS[label=0xffffffff]");
    }

    private byte[] attachOfC(CounterDescription description, int index) {
        MemorySegment struct = ibv_counter_attach_attr.allocate(arena);
        FakeVerbs.call("oracle_counter_attach", struct.address(), description.value(), index);
        return struct.toArray(ValueLayout.JAVA_BYTE);
    }

    @Test
    @Covers("ibv_attach_counters_point_flow")
    void countersAreToldBeforeWhatToCount() throws RdmaException {
        counters.attachPointFlow(CounterDescription.PACKETS, 0);
        counters.attachPointFlow(CounterDescription.BYTES, 0x7fffffff);
        assertThat(FakeVerbs.calls("attach_counters_point_flow")).extracting(FakeVerbs.Call::data)
                .containsExactly(attachOfC(CounterDescription.PACKETS, 0),
                        attachOfC(CounterDescription.BYTES, 0x7fffffff));
        assertThat(FakeVerbs.calls("attach_counters_point_flow")).allSatisfy(call -> assertThat(call.arguments())
                .startsWith(counters.handle().address(), 0L));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> counters.attachPointFlow(CounterDescription.PACKETS, -1));
        FakeVerbs.fail("attach_counters_point_flow", Rdma.EOPNOTSUPP());
        assertThatExceptionOfType(RdmaUnsupportedException.class)
                .isThrownBy(() -> counters.attachPointFlow(CounterDescription.BYTES, 1))
                .withMessageStartingWith("ibv_attach_counters_point_flow: EOPNOTSUPP");
        FakeVerbs.setExtendedOp(stack.context().handle(), "attach_counters_point_flow", 0);
        assertThatExceptionOfType(RdmaUnsupportedException.class)
                .isThrownBy(() -> counters.attachPointFlow(CounterDescription.BYTES, 1));
    }

    @Test
    @Covers("ibv_attach_counters_point_flow")
    void aFlowKeepsTheCountersThatAreAttachedToIt() throws RdmaException {
        List<Counters> attached = new ArrayList<>();
        try (Flow flow = Flow.create(pair, FlowAttributes.builder().build())) {
            FakeVerbs.fail("attach_counters_point_flow", Rdma.EINVAL());
            try (Counters refused = Counters.create(stack.context())) {
                assertThatExceptionOfType(RdmaException.class)
                        .isThrownBy(() -> refused.attachPointFlow(CounterDescription.PACKETS, 1, flow));
            }
            FakeVerbs.reset();
            attached.add(Counters.create(stack.context()));
            attached.getFirst().attachPointFlow(CounterDescription.PACKETS, 1, flow);
            attached.getFirst().attachPointFlow(CounterDescription.BYTES, 2, flow);
            FakeVerbs.Call call = FakeVerbs.calls("attach_counters_point_flow").getFirst();
            assertThat(call.arguments()).startsWith(attached.getFirst().handle().address(), flow.handle().address());
            assertThat(call.data()).isEqualTo(attachOfC(CounterDescription.PACKETS, 1));
            assertThatIllegalStateException().isThrownBy(attached.getFirst()::close)
                    .withMessageContaining(flow.toString());
        }
        attached.getFirst().close();
        try (FakeStack other = new FakeStack()) {
            FakeVerbs.call("fake_equip_work_queues", other.context().handle().address());
            try (Counters foreign = Counters.create(other.context());
                    Flow flow = Flow.create(pair, FlowAttributes.builder().build())) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> foreign.attachPointFlow(CounterDescription.PACKETS, 0, flow))
                        .withMessageStartingWith("the flow belongs to another context than the counters");
            }
        }
    }

    @Test
    void theRuleOfTheTestHasEverySpecificationAndEveryField() {
        Set<FlowSpecificationType> used = EnumSet.noneOf(FlowSpecificationType.class);
        everything(everyMatch()).build().specifications().forEach(part -> used.add(part.type()));
        assertThat(used).containsExactly(FlowSpecificationType.values());
        Set<FlowField> fields = EnumSet.noneOf(FlowField.class);
        everyMatch().forEach(match -> fields.addAll(match.fields()));
        assertThat(fields).containsExactly(FlowField.values());
    }
}
