// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigInteger;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.EncodingTest;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.NeedsFakeVerbs;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.AfterTry;
import net.jqwik.api.lifecycle.BeforeTry;

/** As {@link EncodingTest}: flow rules of any specifications, and the actions of flows. */
@AddLifecycleHook(NeedsFakeVerbs.class)
class FlowEncodingTest {
    // the parts of oracle_esp
    private static final int PARAMETERS = 1;
    private static final int KEY = 2;
    private static final int REPLAY = 4;
    private static final int NO_REPLAY = 8;
    private static final int ENCAPSULATION = 16;
    private static final int SEQUENCE = 32;

    private Arena arena;
    private FakeStack stack;
    private FlowAction action;
    private Counters counters;

    @BeforeTry
    void open() throws RdmaException {
        FakeVerbs.reset();
        arena = Arena.ofConfined();
        stack = new FakeStack();
        FakeVerbs.call("fake_equip_work_queues", stack.context().handle().address());
        FakeVerbs.call("fake_equip_flows", stack.context().handle().address());
        action = FlowAction.createEsp(stack.context(), FlowActionTest.complete());
        counters = Counters.create(stack.context());
        FakeVerbs.reset();
    }

    @AfterTry
    void close() throws RdmaException {
        counters.close();
        action.close();
        stack.close();
        arena.close();
    }

    /** A field of a header: it is matched as a whole, or in some of its bits; an address if it has as many bytes. */
    private record Member(int bits, FlowField field, int addressBytes) {
        Member(int bits, FlowField field) {
            this(bits, field, 0);
        }

        Arbitrary<Choice> choices() {
            Arbitrary<BigInteger> numbers = Arbitraries.bigIntegers().between(BigInteger.ZERO, most());
            return Combinators.combine(Arbitraries.of(Way.class), numbers, numbers).as(Choice::new);
        }

        BigInteger most() {
            return BigInteger.ONE.shiftLeft(bits).subtract(BigInteger.ONE);
        }

        FlowMatch set(FlowMatch match, Choice choice) {
            return switch (choice.way) {
                case NOT -> match;
                case WHOLE -> addressBytes == 0 ? match.with(field, choice.value.longValue())
                        : match.with(field, address(choice.value, addressBytes));
                case MASKED -> addressBytes == 0
                        ? match.with(field, choice.value.longValue(), choice.mask.longValue())
                        : match.with(field, address(choice.value, addressBytes), address(choice.mask, addressBytes));
            };
        }

        BigInteger valueInC(Choice choice) {
            return choice.way == Way.NOT ? BigInteger.ZERO : choice.value;
        }

        BigInteger maskInC(Choice choice) {
            return switch (choice.way) {
                case NOT -> BigInteger.ZERO;
                case WHOLE -> most();
                case MASKED -> choice.mask;
            };
        }
    }

    /** How a member is matched. */
    enum Way { NOT, WHOLE, MASKED }

    record Choice(Way way, BigInteger value, BigInteger mask) {
    }

    /** A specification, and the numbers of it that C gets; without a match it is what else is done with packets. */
    record Specification(int type, FlowMatch match, List<BigInteger> values, List<BigInteger> masks) {
    }

    private static Arbitrary<Specification> matches(int type, FlowMatch any, Member... fields) {
        List<Member> members = List.of(fields);
        Arbitrary<List<Choice>> choices = Combinators.combine(members.stream().map(Member::choices).toList())
                .as(chosen -> chosen);
        return Combinators.combine(choices, Arbitraries.of(true, false)).as((chosen, inner) -> {
            FlowMatch match = any;
            List<BigInteger> values = new ArrayList<>();
            List<BigInteger> masks = new ArrayList<>();
            for (int i = 0; i < members.size(); i++) {
                match = members.get(i).set(match, chosen.get(i));
                values.add(members.get(i).valueInC(chosen.get(i)));
                masks.add(members.get(i).maskInC(chosen.get(i)));
            }
            return new Specification(type | (inner ? Rdma.IBV_FLOW_SPEC_INNER() : 0), inner ? match.inner() : match,
                    values, masks);
        });
    }

    private static InetAddress address(BigInteger number, int bytes) {
        byte[] all = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            all[i] = number.shiftRight(8 * (bytes - 1 - i)).byteValue();
        }
        try {
            return bytes == 4 ? InetAddress.getByAddress(all) : Inet6Address.getByAddress(null, all, -1);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    /** In the order of the members of the structs in C. */
    @Provide
    Arbitrary<Specification> specifications() {
        Arbitrary<Specification> ethernet = matches(Rdma.IBV_FLOW_SPEC_ETH(), FlowMatch.ethernet(),
                new Member(48, FlowField.ETH_DST_MAC), new Member(48, FlowField.ETH_SRC_MAC),
                new Member(16, FlowField.ETH_ETHER_TYPE), new Member(16, FlowField.ETH_VLAN_TAG));
        Arbitrary<Specification> four = matches(Rdma.IBV_FLOW_SPEC_IPV4(), FlowMatch.ipv4(),
                new Member(32, FlowField.IPV4_SRC_IP, 4), new Member(32, FlowField.IPV4_DST_IP, 4));
        Arbitrary<Specification> extended = matches(Rdma.IBV_FLOW_SPEC_IPV4_EXT(), FlowMatch.ipv4Extended(),
                new Member(32, FlowField.IPV4_EXT_SRC_IP, 4), new Member(32, FlowField.IPV4_EXT_DST_IP, 4),
                new Member(8, FlowField.IPV4_EXT_PROTO), new Member(8, FlowField.IPV4_EXT_TOS),
                new Member(8, FlowField.IPV4_EXT_TTL), new Member(8, FlowField.IPV4_EXT_FLAGS));
        Arbitrary<Specification> six = matches(Rdma.IBV_FLOW_SPEC_IPV6(), FlowMatch.ipv6(),
                new Member(128, FlowField.IPV6_SRC_IP, 16), new Member(128, FlowField.IPV6_DST_IP, 16),
                new Member(20, FlowField.IPV6_FLOW_LABEL), new Member(8, FlowField.IPV6_NEXT_HDR),
                new Member(8, FlowField.IPV6_TRAFFIC_CLASS), new Member(8, FlowField.IPV6_HOP_LIMIT));
        return Arbitraries.oneOf(ethernet, four, extended, six, transports(Rdma.IBV_FLOW_SPEC_TCP()),
                transports(Rdma.IBV_FLOW_SPEC_UDP()), smallHeaders(), actions());
    }

    private static Arbitrary<Specification> transports(int type) {
        return matches(type, type == Rdma.IBV_FLOW_SPEC_TCP() ? FlowMatch.tcp() : FlowMatch.udp(),
                new Member(16, FlowField.TCP_UDP_DST_PORT), new Member(16, FlowField.TCP_UDP_SRC_PORT));
    }

    private static Arbitrary<Specification> smallHeaders() {
        Arbitrary<Specification> esp = matches(Rdma.IBV_FLOW_SPEC_ESP(), FlowMatch.esp(),
                new Member(32, FlowField.ESP_SPI), new Member(32, FlowField.ESP_SEQ));
        Arbitrary<Specification> vxlan = matches(Rdma.IBV_FLOW_SPEC_VXLAN_TUNNEL(), FlowMatch.vxlan(),
                new Member(24, FlowField.TUNNEL_ID));
        Arbitrary<Specification> gre = matches(Rdma.IBV_FLOW_SPEC_GRE(), FlowMatch.gre(),
                new Member(16, FlowField.GRE_C_KS_RES0_VER), new Member(16, FlowField.GRE_PROTOCOL),
                new Member(32, FlowField.GRE_KEY));
        Arbitrary<Specification> mpls = matches(Rdma.IBV_FLOW_SPEC_MPLS(), FlowMatch.mpls(),
                new Member(32, FlowField.MPLS_LABEL));
        return Arbitraries.oneOf(esp, vxlan, gre, mpls);
    }

    private static Arbitrary<Specification> actions() {
        return Combinators.combine(Arbitraries.of(Rdma.IBV_FLOW_SPEC_ACTION_TAG(), Rdma.IBV_FLOW_SPEC_ACTION_DROP(),
                Rdma.IBV_FLOW_SPEC_ACTION_HANDLE(), Rdma.IBV_FLOW_SPEC_ACTION_COUNT()), Arbitraries.integers())
                .as((type, tag) -> new Specification(type, null, List.of(BigInteger.valueOf(tag)), List.of()));
    }

    private void add(FlowAttributes.Builder rule, Specification part) {
        if (part.match != null) {
            rule.match(part.match);
        } else if (part.type == Rdma.IBV_FLOW_SPEC_ACTION_TAG()) {
            rule.tag(part.values.getFirst().intValue());
        } else if (part.type == Rdma.IBV_FLOW_SPEC_ACTION_DROP()) {
            rule.drop();
        } else if (part.type == Rdma.IBV_FLOW_SPEC_ACTION_HANDLE()) {
            rule.action(action);
        } else {
            rule.count(counters);
        }
    }

    private void addInC(MemorySegment rule, Specification part) {
        List<BigInteger> values = part.values;
        if (part.type == Rdma.IBV_FLOW_SPEC_ACTION_HANDLE()) {
            values = List.of(BigInteger.valueOf(action.handle().address()));
        } else if (part.type == Rdma.IBV_FLOW_SPEC_ACTION_COUNT()) {
            values = List.of(BigInteger.valueOf(counters.handle().address()));
        }
        FakeVerbs.call("oracle_flow_spec", rule.address(), part.type, numbers(values), numbers(part.masks));
    }

    private long numbers(List<BigInteger> numbers) {
        long[] halves = numbers.stream().flatMap(n -> List.of(n.shiftRight(Long.SIZE), n).stream())
                .mapToLong(BigInteger::longValue).toArray();
        return arena.allocateFrom(ValueLayout.JAVA_LONG, halves).address();
    }

    private static String text(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    @Property(tries = 300)
    void rules(@ForAll @Size(max = 6) List<@From("specifications") Specification> parts,
            @ForAll @IntRange(max = 0xffff) int priority, @ForAll @IntRange(min = 1, max = 0xff) int port)
            throws RdmaException {
        FlowAttributes.Builder rule = FlowAttributes.builder().priority(priority).port(port);
        parts.forEach(part -> add(rule, part));
        try (QueuePair pair = stack.domain().createQueuePair(QueuePairInitAttributes.builder()
                .type(QueuePairType.RAW_PACKET).completionQueue(stack.queue()).build())) {
            Flow.create(pair, rule.build()).close();
        }
        MemorySegment expected = arena.allocate(1024, Long.BYTES);
        FakeVerbs.call("oracle_flow", expected.address(), FlowType.NORMAL.value(), 0, priority, port);
        parts.forEach(part -> addInC(expected, part));
        byte[] written = FakeVerbs.calls("create_flow").getFirst().data();

        assertThat(text(written)).isEqualTo(text(expected.asSlice(0, written.length).toArray(ValueLayout.JAVA_BYTE)));
    }

    @Provide
    Arbitrary<byte[]> keys() {
        return Arbitraries.of(16, 24, 32).flatMap(size -> Arbitraries.bytes().array(byte[].class).ofSize(size));
    }

    @Provide
    Arbitrary<EspParameters> parameters() {
        return Combinators.combine(Arbitraries.of(EspFlag.class).set(), Arbitraries.integers(), Arbitraries.integers(),
                Arbitraries.integers(), Arbitraries.longs()).as(EspParameters::new);
    }

    @Provide
    Arbitrary<EspKeyMaterial> materials() {
        return Combinators.combine(Arbitraries.longs(), Arbitraries.integers(), Arbitraries.of(8, 12, 16), keys())
                .as(EspKeyMaterial::new);
    }

    @Property(tries = 200)
    void encryption(@ForAll("parameters") EspParameters parameters, @ForAll("materials") EspKeyMaterial material,
            @ForAll Set<@IntRange(max = 4) Integer> given, @ForAll @IntRange int window, @ForAll int source,
            @ForAll int destination, @ForAll @Size(2) List<@IntRange(max = 0xffff) Integer> ports,
            @ForAll int sequence) throws RdmaException {
        EspAttributes.Builder builder = EspAttributes.builder();
        int parts = 0;
        if (given.contains(0)) {
            builder.parameters(parameters);
            parts |= PARAMETERS;
        }
        if (given.contains(1)) {
            builder.keyMaterial(material);
            parts |= KEY;
        }
        if (given.contains(2)) {
            builder.replayWindow(window);
            parts |= window == 0 ? NO_REPLAY : REPLAY;
        }
        if (given.contains(3)) {
            builder.encapsulation(FlowMatch.ipv4()
                    .with(FlowField.IPV4_SRC_IP, address(BigInteger.valueOf(source), 4))
                    .with(FlowField.IPV4_DST_IP, address(BigInteger.valueOf(destination), 4)),
                    FlowMatch.udp().with(FlowField.TCP_UDP_SRC_PORT, ports.get(0))
                            .with(FlowField.TCP_UDP_DST_PORT, ports.get(1)));
            parts |= ENCAPSULATION;
        }
        if (given.contains(4)) {
            builder.extendedSequence(sequence);
            parts |= SEQUENCE;
        }
        action.modifyEsp(builder.build());
        byte[] key = material.key();
        long numbers = arena.allocateFrom(ValueLayout.JAVA_LONG, Flags.mask(parameters.flags(), EspFlag::bit),
                parameters.securityParametersIndex(), parameters.sequence(), parameters.paddingLength(),
                parameters.hardLimitPackets(), material.initializationVector(), material.salt(),
                material.checkLength(), window, source, destination, ports.get(0), ports.get(1), sequence).address();
        MemorySegment expected = arena.allocate(1024, Long.BYTES);
        long size = FakeVerbs.call("oracle_esp", expected.address(), parts, numbers,
                arena.allocateFrom(ValueLayout.JAVA_BYTE, key).address(), key.length);

        assertThat(text(FakeVerbs.calls("modify_flow_action_esp").getFirst().data()))
                .isEqualTo(text(expected.asSlice(0, size).toArray(ValueLayout.JAVA_BYTE)));
    }
}
