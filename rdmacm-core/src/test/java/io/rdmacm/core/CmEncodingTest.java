// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_ece;
import io.rdmacm.bindings.rdma_addrinfo;
import io.rdmacm.bindings.rdma_conn_param;
import io.rdmacm.bindings.rdma_ud_param;
import io.rdmacm.bindings.sockaddr_storage;
import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.queue.Ece;
import io.rdmacm.verbs.testing.NeedsFakeVerbs;
import io.rdmacm.verbs.testing.Paths;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.AfterTry;
import net.jqwik.api.lifecycle.BeforeTry;

/** What is written for librdmacm, and read from it, is what a C program makes of the same values: for any values. */
@AddLifecycleHook(NeedsFakeVerbs.class)
class CmEncodingTest {
    private static final int MOST = 255;

    private Arena arena;

    @BeforeTry
    void open() {
        arena = Arena.ofConfined();
        FakeRdmaCm.call("fake_reset");
    }

    @AfterTry
    void close() {
        arena.close();
    }

    private static byte[] bytes(MemorySegment segment) {
        return segment.toArray(ValueLayout.JAVA_BYTE);
    }

    @Property(tries = 300)
    void connectionParameters(@ForAll @Size(max = MOST) byte[] data, @ForAll @IntRange(max = MOST) int resources,
            @ForAll @IntRange(max = MOST) int depth, @ForAll boolean flowControl,
            @ForAll @IntRange(max = 7) int retries, @ForAll @IntRange(max = 7) int rnrRetries, @ForAll boolean shared,
            @ForAll @IntRange(max = 0xffffff) int number) {
        ConnectionParameters parameters = ConnectionParameters.builder().privateData(data)
                .responderResources(resources).initiatorDepth(depth).flowControl(flowControl).retryCount(retries)
                .rnrRetryCount(rnrRetries).sharedReceiveQueue(shared).queuePairNumber(number).build();
        MemorySegment ours = rdma_conn_param.allocate(arena);
        MemorySegment theirs = rdma_conn_param.allocate(arena);
        long copy = arena.allocateFrom(ValueLayout.JAVA_BYTE, data).address();
        parameters.write(ours.address(), copy);
        FakeRdmaCm.call("oracle_conn_param", theirs.address(), resources, depth, flowControl ? 1 : 0, retries,
                rnrRetries, shared ? 1 : 0, number);
        Memory.putLong(theirs.address() + rdma_conn_param.private_data$offset(), copy);
        Memory.putByte(theirs.address() + rdma_conn_param.private_data_len$offset(), (byte) data.length);

        assertThat(bytes(ours)).isEqualTo(bytes(theirs));
        assertThat(ConnectionParameters.read(ours.address())).isEqualTo(parameters);
    }

    @Provide
    Arbitrary<AddressAttributes> paths() {
        return Paths.any();
    }

    @Property(tries = 300)
    void datagramParameters(@ForAll("paths") AddressAttributes path, @ForAll @Size(max = MOST) byte[] data,
            @ForAll @IntRange(max = 0xffffff) int number, @ForAll int key) {
        MemorySegment theirs = rdma_ud_param.allocate(arena);
        FakeRdmaCm.call("oracle_ud_param", theirs.address(),
                arena.allocateFrom(ValueLayout.JAVA_BYTE, data).address(), data.length,
                Paths.oracle(path, arena).address(), number, key);

        DatagramParameters ours = DatagramParameters.read(theirs.address(), true, true);
        assertThat(ours.privateData()).isEqualTo(data);
        assertThat(ours.address()).contains(path);
        assertThat(ours.queuePairNumber()).isEqualTo(number);
        assertThat(ours.queueKey()).isEqualTo(key);

        DatagramParameters little = DatagramParameters.read(theirs.address(), false, false);
        assertThat(little.privateData()).isEmpty();
        assertThat(little.address()).isEmpty();
    }

    @Provide
    Arbitrary<InetSocketAddress> addresses() {
        Arbitrary<Integer> ports = Arbitraries.integers().between(0, 0xffff);
        Arbitrary<byte[]> bytes = Arbitraries.bytes().array(byte[].class).ofSize(4);
        Arbitrary<byte[]> more = Arbitraries.bytes().array(byte[].class).ofSize(16);
        Arbitrary<InetAddress> four = bytes.map(CmEncodingTest::address);
        Arbitrary<InetAddress> six = Combinators.combine(more, Arbitraries.integers().greaterOrEqual(0))
                .as(CmEncodingTest::scoped).filter(address -> address instanceof Inet6Address);
        return Combinators.combine(Arbitraries.oneOf(four, six), ports).as(InetSocketAddress::new);
    }

    private static InetAddress address(byte[] bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    // those of IPv4 in disguise become those of IPv4
    private static InetAddress scoped(byte[] bytes, int scope) {
        try {
            return scope == 0 ? InetAddress.getByAddress(bytes) : Inet6Address.getByAddress(null, bytes, scope);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    private MemorySegment oracle(InetSocketAddress address) {
        MemorySegment theirs = sockaddr_storage.allocate(arena);
        byte[] bytes = address.getAddress().getAddress();
        long size = FakeRdmaCm.call("oracle_inet", theirs.address(),
                arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes).address(), bytes.length, address.getPort(),
                address.getAddress() instanceof Inet6Address six ? six.getScopeId() : 0);
        return theirs.asSlice(0, size);
    }

    @Property(tries = 500)
    void internetAddresses(@ForAll("addresses") InetSocketAddress address) {
        SocketAddresses.Native ours = SocketAddresses.allocate(address, arena);
        MemorySegment theirs = oracle(address);

        assertThat((long) ours.length()).isEqualTo(theirs.byteSize());
        assertThat(Memory.bytes(ours.address(), ours.length())).isEqualTo(bytes(theirs));
        assertThat(SocketAddresses.read(theirs.address())).isEqualTo(address);
    }

    @Property(tries = 200)
    void infinibandAddresses(@ForAll @Size(48) byte[] bytes) {
        bytes[0] = (byte) Rdma.AF_IB();
        bytes[1] = 0;
        SocketAddresses.Native ours = SocketAddresses.allocate(IbSocketAddress.ofBytes(bytes), arena);

        assertThat(Memory.bytes(ours.address(), ours.length())).isEqualTo(bytes);
        assertThat(SocketAddresses.readAny(ours.address())).isEqualTo(IbSocketAddress.ofBytes(bytes));
    }

    @Property(tries = 200)
    void boundAndResolved(@ForAll("addresses") InetSocketAddress local, @ForAll("addresses") InetSocketAddress peer,
            @ForAll @IntRange(min = 1) int milliseconds) throws Exception {
        try (EventChannel channel = EventChannel.open(); CmId bound = CmId.open(channel, PortSpace.TCP);
                CmId resolving = CmId.open(channel, PortSpace.TCP)) {
            bound.bindAddress(local);
            resolving.resolveAddress(peer, Duration.ofMillis(milliseconds));
            assertThat(FakeRdmaCm.calls("rdma_bind_addr").getFirst().data()).isEqualTo(bytes(oracle(local)));
            FakeRdmaCm.Call call = FakeRdmaCm.calls("rdma_resolve_addr").getFirst();
            assertThat(call.data()).isEqualTo(bytes(oracle(peer)));
            assertThat(call.arguments()).containsExactly(resolving.handle().address(), 0L, (long) milliseconds, 0L, 0L);
        }
    }

    @Property(tries = 200)
    void enhancedConnectionEstablishment(@ForAll @IntRange(min = 1) int vendor, @ForAll int options) throws Exception {
        MemorySegment theirs = ibv_ece.allocate(arena);
        FakeRdmaCm.call("oracle_ece", theirs.address(), vendor, Integer.toUnsignedLong(options));
        try (EventChannel channel = EventChannel.open(); CmId id = CmId.open(channel, PortSpace.TCP)) {
            id.options().localEce(new Ece(vendor, options));
        }
        assertThat(FakeRdmaCm.calls("rdma_set_local_ece").getFirst().data()).isEqualTo(bytes(theirs));
    }

    @Provide
    Arbitrary<Set<AddressInfo.Flag>> flagsOfNodes() {
        return Arbitraries.of(EnumSet.complementOf(EnumSet.of(AddressInfo.Flag.SA))).set();
    }

    @Property(tries = 200)
    void hints(@ForAll("flagsOfNodes") Set<AddressInfo.Flag> flags, @ForAll PortSpace portSpace,
            @ForAll Optional<AddressInfo.Family> family, @ForAll("addresses") InetSocketAddress source,
            @ForAll boolean withSource) throws Exception {
        Optional<SocketAddress> wanted = withSource ? Optional.of(source) : Optional.empty();
        AddressInfo found = AddressInfo.resolve("x", "1", new AddressInfo.Hints(flags, portSpace, wanted, family))
                .getFirst();

        byte[] ours = FakeRdmaCm.calls("rdma_getaddrinfo").getFirst().data();
        MemorySegment written = arena.allocate(rdma_addrinfo.layout()).copyFrom(MemorySegment.ofArray(ours));
        MemorySegment theirs = rdma_addrinfo.allocate(arena);
        FakeRdmaCm.call("oracle_hints", theirs.address(), arena.allocateFrom(ValueLayout.JAVA_INT,
                Flags.mask(flags, AddressInfo.Flag::bit), family.map(AddressInfo.Family::value).orElse(0),
                portSpace.queuePairType().value(), portSpace.value(),
                withSource ? (int) oracle(source).byteSize() : 0).address(),
                rdma_addrinfo.ai_src_addr(written).address());
        assertThat(ours).isEqualTo(bytes(theirs));
        // the stand-in gives the source back as the destination, too
        assertThat(found.source()).isEqualTo(wanted);
        assertThat(found.destination()).isEqualTo(wanted);
        assertThat(found.flags()).isEqualTo(flags);
        assertThat(found.portSpace()).isEqualTo(portSpace);
        assertThat(found.queuePairType()).isEqualTo(portSpace.queuePairType());
    }
}
