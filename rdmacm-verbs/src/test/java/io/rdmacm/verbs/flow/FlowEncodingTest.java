// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigInteger;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.function.BiFunction;

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

    private interface Masked<M> {
        M set(M match, BigInteger value, BigInteger mask);
    }

    /** A member of a header: how it is matched as a whole, and in some of its bits. */
    private record Member<M>(int bits, BiFunction<M, BigInteger, M> whole, Masked<M> masked) {
        Arbitrary<Choice> choices() {
            Arbitrary<BigInteger> numbers = Arbitraries.bigIntegers().between(BigInteger.ZERO, most());
            return Combinators.combine(Arbitraries.of(Way.class), numbers, numbers).as(Choice::new);
        }

        BigInteger most() {
            return BigInteger.ONE.shiftLeft(bits).subtract(BigInteger.ONE);
        }

        M set(M match, Choice choice) {
            return switch (choice.way) {
                case NOT -> match;
                case WHOLE -> whole.apply(match, choice.value);
                case MASKED -> masked.set(match, choice.value, choice.mask);
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

    private static <M extends FlowMatch> Arbitrary<Specification> matches(int type, M any, List<Member<M>> members) {
        Arbitrary<List<Choice>> choices = Combinators.combine(members.stream().map(Member::choices).toList())
                .as(chosen -> chosen);
        return Combinators.combine(choices, Arbitraries.of(true, false)).as((chosen, inner) -> {
            M match = any;
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

    private static <M> Member<M> member(int bits, BiFunction<M, BigInteger, M> whole, Masked<M> masked) {
        return new Member<>(bits, whole, masked);
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

    private static Inet4Address ipv4(BigInteger number) {
        return (Inet4Address) address(number, 4);
    }

    private static Inet6Address ipv6(BigInteger number) {
        return (Inet6Address) address(number, 16);
    }

    /** In the order of the members of the structs in C. */
    @Provide
    Arbitrary<Specification> specifications() {
        Arbitrary<Specification> ethernet = matches(Rdma.IBV_FLOW_SPEC_ETH(), FlowMatch.ethernet(), List.of(
                member(48, (m, v) -> m.destination(v.longValue()),
                        (m, v, b) -> m.destination(v.longValue(), b.longValue())),
                member(48, (m, v) -> m.source(v.longValue()), (m, v, b) -> m.source(v.longValue(), b.longValue())),
                member(16, (m, v) -> m.etherType(v.intValue()),
                        (m, v, b) -> m.etherType(v.intValue(), b.intValue())),
                member(16, (m, v) -> m.vlanTag(v.intValue()),
                        (m, v, b) -> m.vlanTag(v.intValue(), b.intValue()))));
        Arbitrary<Specification> four = matches(Rdma.IBV_FLOW_SPEC_IPV4(), FlowMatch.ipv4(), List.of(
                member(32, (m, v) -> m.source(ipv4(v)), (m, v, b) -> m.source(ipv4(v), ipv4(b))),
                member(32, (m, v) -> m.destination(ipv4(v)), (m, v, b) -> m.destination(ipv4(v), ipv4(b)))));
        Arbitrary<Specification> extended = matches(Rdma.IBV_FLOW_SPEC_IPV4_EXT(), FlowMatch.ipv4Extended(), List.of(
                member(32, (m, v) -> m.source(ipv4(v)), (m, v, b) -> m.source(ipv4(v), ipv4(b))),
                member(32, (m, v) -> m.destination(ipv4(v)), (m, v, b) -> m.destination(ipv4(v), ipv4(b))),
                member(8, (m, v) -> m.protocol(v.intValue()), (m, v, b) -> m.protocol(v.intValue(), b.intValue())),
                member(8, (m, v) -> m.typeOfService(v.intValue()),
                        (m, v, b) -> m.typeOfService(v.intValue(), b.intValue())),
                member(8, (m, v) -> m.timeToLive(v.intValue()),
                        (m, v, b) -> m.timeToLive(v.intValue(), b.intValue())),
                member(8, (m, v) -> m.flags(v.intValue()), (m, v, b) -> m.flags(v.intValue(), b.intValue()))));
        Arbitrary<Specification> six = matches(Rdma.IBV_FLOW_SPEC_IPV6(), FlowMatch.ipv6(), List.of(
                member(128, (m, v) -> m.source(ipv6(v)), (m, v, b) -> m.source(ipv6(v), ipv6(b))),
                member(128, (m, v) -> m.destination(ipv6(v)), (m, v, b) -> m.destination(ipv6(v), ipv6(b))),
                member(20, (m, v) -> m.flowLabel(v.intValue()), (m, v, b) -> m.flowLabel(v.intValue(), b.intValue())),
                member(8, (m, v) -> m.nextHeader(v.intValue()),
                        (m, v, b) -> m.nextHeader(v.intValue(), b.intValue())),
                member(8, (m, v) -> m.trafficClass(v.intValue()),
                        (m, v, b) -> m.trafficClass(v.intValue(), b.intValue())),
                member(8, (m, v) -> m.hopLimit(v.intValue()), (m, v, b) -> m.hopLimit(v.intValue(), b.intValue()))));
        return Arbitraries.oneOf(ethernet, four, extended, six, transports(Rdma.IBV_FLOW_SPEC_TCP()),
                transports(Rdma.IBV_FLOW_SPEC_UDP()), smallHeaders(), actions());
    }

    private static Arbitrary<Specification> transports(int type) {
        return matches(type, type == Rdma.IBV_FLOW_SPEC_TCP() ? FlowMatch.tcp() : FlowMatch.udp(), List.of(
                member(16, (m, v) -> m.destinationPort(v.intValue()),
                        (m, v, b) -> m.destinationPort(v.intValue(), b.intValue())),
                member(16, (m, v) -> m.sourcePort(v.intValue()),
                        (m, v, b) -> m.sourcePort(v.intValue(), b.intValue()))));
    }

    private static Arbitrary<Specification> smallHeaders() {
        Arbitrary<Specification> esp = matches(Rdma.IBV_FLOW_SPEC_ESP(), FlowMatch.esp(), List.of(
                member(32, (m, v) -> m.securityParametersIndex(v.intValue()),
                        (m, v, b) -> m.securityParametersIndex(v.intValue(), b.intValue())),
                member(32, (m, v) -> m.sequence(v.intValue()), (m, v, b) -> m.sequence(v.intValue(), b.intValue()))));
        Arbitrary<Specification> vxlan = matches(Rdma.IBV_FLOW_SPEC_VXLAN_TUNNEL(), FlowMatch.vxlan(), List.of(
                member(24, (m, v) -> m.tunnelId(v.intValue()), (m, v, b) -> m.tunnelId(v.intValue(), b.intValue()))));
        Arbitrary<Specification> gre = matches(Rdma.IBV_FLOW_SPEC_GRE(), FlowMatch.gre(), List.of(
                member(16, (m, v) -> m.flagsAndVersion(v.intValue()),
                        (m, v, b) -> m.flagsAndVersion(v.intValue(), b.intValue())),
                member(16, (m, v) -> m.protocol(v.intValue()), (m, v, b) -> m.protocol(v.intValue(), b.intValue())),
                member(32, (m, v) -> m.key(v.intValue()), (m, v, b) -> m.key(v.intValue(), b.intValue()))));
        Arbitrary<Specification> mpls = matches(Rdma.IBV_FLOW_SPEC_MPLS(), FlowMatch.mpls(), List.of(
                member(32, (m, v) -> m.entry(v.intValue()), (m, v, b) -> m.entry(v.intValue(), b.intValue()))));
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
            builder.encapsulation(FlowMatch.ipv4().source(ipv4(BigInteger.valueOf(source)))
                    .destination(ipv4(BigInteger.valueOf(destination))),
                    FlowMatch.udp().sourcePort(ports.get(0)).destinationPort(ports.get(1)));
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
