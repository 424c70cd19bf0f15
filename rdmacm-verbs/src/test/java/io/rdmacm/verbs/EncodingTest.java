// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_ah_attr;
import io.rdmacm.bindings.ibv_modify_cq_attr;
import io.rdmacm.bindings.ibv_mw_bind;
import io.rdmacm.bindings.ibv_ops_wr;
import io.rdmacm.bindings.ibv_qp_attr;
import io.rdmacm.bindings.ibv_recv_wr;
import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.bindings.ibv_sge;
import io.rdmacm.bindings.ibv_srq_init_attr_ex;
import io.rdmacm.bindings.ibv_wc;
import io.rdmacm.verbs.address.AckTimeout;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.AlternatePath;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.codec.AddressStructs;
import io.rdmacm.verbs.internal.codec.QueuePairStructs;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.queue.PathMigrationState;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairCapabilities;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.RnrTimer;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.NeedsFakeVerbs;
import io.rdmacm.verbs.testing.Paths;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.MemoryWindowType;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.SendOpcode;
import io.rdmacm.verbs.work.WorkCompletionStatus;
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

/** What is written for C, and read from it, is what a C program makes of the same values: for any values. */
@AddLifecycleHook(NeedsFakeVerbs.class)
@SuppressWarnings("restricted")
public class EncodingTest {
    // struct oracle_send, see oracle.c
    private static final MemoryLayout SEND = MemoryLayout.structLayout(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG,
            ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_INT,
            ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT,
            MemoryLayout.paddingLayout(4));

    private Arena arena;
    private FakeStack stack;

    @BeforeTry
    void open() throws RdmaException {
        FakeVerbs.reset();
        arena = Arena.ofConfined();
        stack = new FakeStack();
        FakeVerbs.call("fake_equip_completion", stack.context().handle().address());
        FakeVerbs.call("fake_equip_receive", stack.context().handle().address());
        FakeVerbs.call("fake_equip_queue_pairs", stack.context().handle().address());
        FakeVerbs.call("fake_serve_memory", stack.context().handle().address());
    }

    @AfterTry
    void close() throws RdmaException {
        stack.close();
        arena.close();
    }

    /** A part of the region of the stack, which has 4096 bytes. */
    record Part(int offset, int length) {
        static Part of(int offset, int length) {
            return new Part(offset, Math.min(length, 4096 - offset));
        }
    }

    @Provide
    Arbitrary<Part> parts() {
        return Combinators.combine(Arbitraries.integers().between(0, 4096), Arbitraries.integers().between(0, 4096))
                .as(Part::of);
    }

    @Provide
    Arbitrary<AddressAttributes> paths() {
        return Paths.any();
    }

    private void assertList(MemorySegment list, List<Part> parts) {
        for (int i = 0; i < parts.size(); i++) {
            MemorySegment expected = ibv_sge.allocate(arena);
            FakeVerbs.call("oracle_entry", expected.address(), stack.region().memory().address() + parts.get(i).offset,
                    parts.get(i).length, Integer.toUnsignedLong(stack.region().localKey()));
            assertSame(list.asSlice(i * ibv_sge.sizeof(), ibv_sge.sizeof()), expected);
        }
    }

    private static void assertSame(MemorySegment written, MemorySegment expected) {
        assertThat(written.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(expected.toArray(ValueLayout.JAVA_BYTE));
    }

    private static SendRequest set(SendRequest request, SendOpcode opcode, long address, int key, int immediate,
            long compare, long swap) {
        return switch (opcode) {
            case SEND -> request.send();
            case SEND_WITH_IMM -> request.sendWithImmediate(immediate);
            case SEND_WITH_INV -> request.sendWithInvalidate(immediate);
            case RDMA_WRITE -> request.rdmaWrite(address, key);
            case RDMA_WRITE_WITH_IMM -> request.rdmaWriteWithImmediate(address, key, immediate);
            case RDMA_READ -> request.rdmaRead(address, key);
            case ATOMIC_CMP_AND_SWP -> request.compareAndSwap(address, key, compare, swap);
            case ATOMIC_FETCH_AND_ADD -> request.fetchAndAdd(address, key, compare);
            case LOCAL_INV -> request.localInvalidate(immediate);
            case BIND_MW, TSO, FLUSH, ATOMIC_WRITE -> throw new AssertionError(opcode);
        };
    }

    @Provide
    Arbitrary<SendOpcode> opcodes() {
        // BIND_MW below; TSO has one value, the header; the others are for batches only
        return Arbitraries.of(EnumSet.complementOf(EnumSet.of(SendOpcode.BIND_MW, SendOpcode.TSO, SendOpcode.FLUSH,
                SendOpcode.ATOMIC_WRITE)));
    }

    @Property(tries = 400)
    void sendRequests(@ForAll("opcodes") SendOpcode opcode, @ForAll long id, @ForAll long address,
            @ForAll int key, @ForAll int immediate, @ForAll long compare, @ForAll long swap,
            @ForAll Set<SendFlag> flags, @ForAll @Size(max = 4) List<@From("parts") Part> parts) {
        SendRequests block = SendRequests.allocate(2, 4);
        SendRequest request = block.get(1);
        set(request, opcode, address, key, immediate, compare, swap).id(id).flags(flags).noData();
        for (int i = 0; i < parts.size(); i++) {
            request.data(i, stack.region(), parts.get(i).offset, parts.get(i).length);
        }
        MemorySegment struct = block.memory().asSlice(ibv_send_wr.sizeof(), ibv_send_wr.sizeof());
        MemorySegment list = ibv_send_wr.sg_list(struct);
        MemorySegment values = arena.allocate(SEND);
        MemorySegment.copy(new long[] {id, list.address()}, 0, values, ValueLayout.JAVA_LONG, 0, 2);
        MemorySegment.copy(new int[] {parts.size(), opcode.value(), Flags.mask(flags, SendFlag::bit), immediate}, 0,
                values, ValueLayout.JAVA_INT, 16, 4);
        MemorySegment.copy(new long[] {address, compare, swap}, 0, values, ValueLayout.JAVA_LONG, 32, 3);
        values.set(ValueLayout.JAVA_INT, 56, key);
        MemorySegment expected = ibv_send_wr.allocate(arena);
        FakeVerbs.call("oracle_send", expected.address(), values.address());

        assertSame(struct, expected);
        assertList(list.reinterpret(4 * ibv_sge.sizeof()), parts);
    }

    @Property(tries = 200)
    void receiveRequests(@ForAll long id, @ForAll @Size(max = 4) List<@From("parts") Part> parts) {
        ReceiveRequests block = ReceiveRequests.allocate(2, 4);
        ReceiveRequest request = block.get(1).id(id);
        for (int i = 0; i < parts.size(); i++) {
            request.data(i, stack.region(), parts.get(i).offset, parts.get(i).length);
        }
        MemorySegment struct = block.memory().asSlice(ibv_recv_wr.sizeof(), ibv_recv_wr.sizeof());
        MemorySegment list = ibv_recv_wr.sg_list(struct);
        MemorySegment expected = ibv_recv_wr.allocate(arena);
        FakeVerbs.call("oracle_receive", expected.address(), id, list.address(), parts.size());

        assertSame(struct, expected);
        assertList(list.reinterpret(4 * ibv_sge.sizeof()), parts);
    }

    @Property(tries = 200)
    void tagOperations(@ForAll long id, @ForAll long receive, @ForAll long tag, @ForAll long mask,
            @ForAll boolean signaled) {
        TagOperations block = TagOperations.allocate(1, 1);
        block.get(0).id(id).add(receive, tag, mask).signaled(signaled);
        MemorySegment struct = block.memory().asSlice(0, ibv_ops_wr.sizeof());
        MemorySegment expected = ibv_ops_wr.allocate(arena);
        FakeVerbs.call("oracle_tag", expected.address(), Rdma.IBV_WR_TAG_ADD(),
                arena.allocateFrom(ValueLayout.JAVA_LONG, id, signaled ? Rdma.IBV_OPS_SIGNALED() : 0, 0, receive, tag,
                        mask, 0).address(),
                struct.address() + ibv_ops_wr.sizeof(), 0);

        assertSame(struct, expected);
    }

    @Property(tries = 200)
    void windowBindings(@ForAll long id, @ForAll("parts") Part part, @ForAll boolean signaled,
            @ForAll boolean fence, @ForAll boolean write) throws RdmaException {
        AccessFlag[] access = write ? new AccessFlag[] {AccessFlag.REMOTE_WRITE} : new AccessFlag[0];
        try (MemoryRegion region = stack.domain().allocate(4096, AccessFlag.MW_BIND, AccessFlag.LOCAL_WRITE);
                MemoryWindow window = stack.domain().allocateMemoryWindow(MemoryWindowType.TYPE_1)) {
            int length = Math.max(1, part.length);
            int offset = Math.min(part.offset, 4096 - length);
            window.bind(stack.queuePair(), id, MemoryWindowBinding.of(region, offset, length, access), signaled,
                    fence);
            MemorySegment expected = ibv_mw_bind.allocate(arena);
            FakeVerbs.call("oracle_bind", expected.address(), id, (signaled ? Rdma.IBV_SEND_SIGNALED() : 0)
                    | (fence ? Rdma.IBV_SEND_FENCE() : 0), region.handle().address(),
                    region.memory().address() + offset, length, write ? Rdma.IBV_ACCESS_REMOTE_WRITE() : 0);

            assertThat(FakeVerbs.calls("fake_bind_mw").getFirst().data())
                    .isEqualTo(expected.toArray(ValueLayout.JAVA_BYTE));
        }
    }

    @Property(tries = 300)
    void completions(@ForAll long id, @ForAll @IntRange(max = 20) int status, @ForAll int vendorError,
            @ForAll int bytes, @ForAll int immediate, @ForAll @IntRange(max = 0xffffff) int number,
            @ForAll @IntRange(max = 0xffffff) int source, @ForAll @IntRange(max = 7) int flags) throws RdmaException {
        MemorySegment completion = ibv_wc.allocate(arena);
        FakeVerbs.call("oracle_completion", completion.address(), id, status, Rdma.IBV_WC_RECV(),
                Integer.toUnsignedLong(vendorError), Integer.toUnsignedLong(bytes), Integer.toUnsignedLong(immediate),
                number, source, flags);
        FakeVerbs.complete(stack.queue().handle(), completion);
        WorkCompletions read = WorkCompletions.allocate(1);

        assertThat(stack.queue().poll(read)).isEqualTo(1);
        WorkCompletions current = read.at(0);
        assertThat(current.workRequestId()).isEqualTo(id);
        assertThat(current.status()).isEqualTo(WorkCompletionStatus.of(status));
        assertThat(current.vendorError()).isEqualTo(vendorError);
        assertThat(current.byteLength()).isEqualTo(bytes);
        assertThat(current.immediate()).isEqualTo(immediate);
        assertThat(current.queuePairNumber()).isEqualTo(number);
        assertThat(current.sourceQueuePair()).isEqualTo(source);
        assertThat(current.flagBits()).isEqualTo(flags);
    }

    @Property(tries = 300)
    void addresses(@ForAll("paths") AddressAttributes path) throws RdmaException {
        stack.domain().createAddressHandle(path).close();

        MemorySegment written = MemorySegment.ofArray(FakeVerbs.calls("ibv_create_ah").getFirst().data());
        assertSame(written, Paths.oracle(path, arena));
        assertThat(AddressStructs.read(arena.allocate(ibv_ah_attr.layout()).copyFrom(written).address()))
                .isEqualTo(path);
    }

    @Property(tries = 300)
    void queuePairAttributes(@ForAll("paths") AddressAttributes path, @ForAll("paths") AddressAttributes alternate,
            @ForAll QueuePairState state, @ForAll QueuePairState current, @ForAll PathMigrationState migration,
            @ForAll Set<AccessFlag> access, @ForAll int key,
            @ForAll @Size(5) List<@IntRange(max = 0x7fffffff) Integer> sizes,
            @ForAll @Size(3) List<@IntRange(max = 0xffffff) Integer> numbers,
            @ForAll @Size(4) List<@IntRange(max = 0xff) Integer> bytes,
            @ForAll @Size(3) List<@IntRange(max = 31) Integer> times,
            @ForAll @Size(2) List<@IntRange(max = 7) Integer> retries, @ForAll boolean notify) {
        List<AccessFlag> possible = new ArrayList<>(access);
        possible.removeIf(flag -> !Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_WRITE,
                AccessFlag.REMOTE_ATOMIC).contains(flag));
        QueuePairAttributes attributes = QueuePairAttributes.builder().state(state).currentState(current).pathMtu(4096)
                .pathMigrationState(migration).queueKey(key).receivePacketNumber(numbers.get(0))
                .sendPacketNumber(numbers.get(1)).destinationQueuePair(numbers.get(2))
                .accessFlags(possible.toArray(AccessFlag[]::new))
                .capabilities(new QueuePairCapabilities(sizes.get(0), sizes.get(1), sizes.get(2), sizes.get(3),
                        sizes.get(4)))
                .path(path).alternatePath(new AlternatePath(alternate, 0xfffe, bytes.get(3),
                        AckTimeout.ofCode(times.get(2))))
                .partitionKeyIndex(0xfffd).notifyWhenDrained(notify).maxReadAtomic(bytes.get(0))
                .maxDestinationReadAtomic(bytes.get(1)).minRnrTimer(RnrTimer.ofCode(times.get(0))).port(bytes.get(2))
                .timeout(AckTimeout.ofCode(times.get(1))).retryCount(retries.get(0))
                .rnrRetry(retries.get(1)).rateLimit(sizes.get(0)).build();
        MemorySegment written = ibv_qp_attr.allocate(arena);
        QueuePairStructs.write(attributes, written.address());
        int[] values = {state.value(), current.value(), Rdma.IBV_MTU_4096(), migration.value(), key, numbers.get(0),
            numbers.get(1), numbers.get(2), Flags.mask(possible, AccessFlag::bit), sizes.get(0), sizes.get(1),
            sizes.get(2), sizes.get(3), sizes.get(4), 0xfffd, 0xfffe, notify ? 1 : 0, bytes.get(0), bytes.get(1),
            times.get(0), bytes.get(2), times.get(1), retries.get(0), retries.get(1), bytes.get(3), times.get(2),
            sizes.get(0)};
        MemorySegment expected = ibv_qp_attr.allocate(arena);
        FakeVerbs.call("oracle_qp_attr", expected.address(), arena.allocateFrom(ValueLayout.JAVA_INT, values).address(),
                Paths.oracle(path, arena).address(), Paths.oracle(alternate, arena).address());

        assertSame(written, expected);
        assertThat(QueuePairStructs.read(written.address(), attributes.present())).isEqualTo(attributes);
    }

    @Property(tries = 200)
    void sharedReceiveQueues(@ForAll @IntRange(min = 1) int requests, @ForAll @IntRange(min = 1) int entries,
            @ForAll @IntRange int limit) throws RdmaException {
        MemorySegment expected = ibv_srq_init_attr_ex.allocate(arena);
        FakeVerbs.call("oracle_srq", expected.address(),
                arena.allocateFrom(ValueLayout.JAVA_INT, requests, entries, limit, 0, 0).address(),
                Rdma.IBV_SRQT_BASIC(), stack.domain().handle().address(), 0, 0);
        // What the stand-in gives is twice as much, sometimes too much for an int.
        stack.domain().createSharedReceiveQueue(SharedReceiveQueueInitAttributes.builder().maxRequests(requests)
                .maxScatterGather(entries).limit(limit).build()).close();
        byte[] written = FakeVerbs.calls("ibv_create_srq").getFirst().data();
        assertThat(written).isEqualTo(expected.asSlice(0, written.length).toArray(ValueLayout.JAVA_BYTE));
    }

    @Property(tries = 100)
    void moderation(@ForAll @IntRange(max = 0xffff) int count, @ForAll @IntRange(max = 0xffff) int period)
            throws RdmaException {
        stack.queue().modifyModeration(count, Duration.of(period, ChronoUnit.MICROS));

        MemorySegment expected = ibv_modify_cq_attr.allocate(arena);
        FakeVerbs.call("oracle_moderation", expected.address(), count, period);
        assertThat(FakeVerbs.calls("modify_cq").getFirst().data())
                .isEqualTo(expected.toArray(ValueLayout.JAVA_BYTE));
    }

    /** Many with zeros in them, for the text leaves out a run of these; and those of IPv4. */
    @Provide
    Arbitrary<Gid> gids() {
        Arbitrary<Gid> ipv4 = Arbitraries.integers().map(host -> new Gid(0, 0xffffL << 32 | host & 0xffffffffL));
        Arbitrary<Gid> others = Combinators.combine(Arbitraries.longs(), Arbitraries.longs(),
                Arbitraries.integers().between(0, 0xff)).as((prefix, id, zeros) -> new Gid(prefix & groups(zeros >> 4),
                        id & groups(zeros)));
        return Arbitraries.oneOf(ipv4, others);
    }

    /** A mask of four groups of 16 bits. */
    private static long groups(int bits) {
        long mask = 0;
        for (int i = 0; i < 4; i++) {
            mask = mask << 16 | ((bits >> i & 1) == 0 ? 0xffff : 0);
        }
        return mask;
    }

    @Property(tries = 500)
    void gids(@ForAll("gids") Gid gid) throws Exception {
        assertThat(Gid.of(gid.toBytes())).isEqualTo(gid);
        assertThat(Gid.ofAddress(gid.toAddress())).isEqualTo(gid);
        assertThat(Gid.ofAddress(InetAddress.ofLiteral(gid.toString()))).isEqualTo(gid);
    }
}
