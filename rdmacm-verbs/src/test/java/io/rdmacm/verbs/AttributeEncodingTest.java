// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_counter_attach_attr;
import io.rdmacm.bindings.ibv_cq_init_attr_ex;
import io.rdmacm.bindings.ibv_ece;
import io.rdmacm.bindings.ibv_mw_bind;
import io.rdmacm.bindings.ibv_qp_init_attr;
import io.rdmacm.bindings.ibv_qp_init_attr_ex;
import io.rdmacm.bindings.ibv_qp_rate_limit_attr;
import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.bindings.ibv_srq_init_attr_ex;
import io.rdmacm.bindings.ibv_wq_attr;
import io.rdmacm.bindings.ibv_wq_init_attr;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.flow.CounterDescription;
import io.rdmacm.verbs.flow.Counters;
import io.rdmacm.verbs.flow.Flow;
import io.rdmacm.verbs.flow.FlowAttributes;
import io.rdmacm.verbs.flow.FlowFlag;
import io.rdmacm.verbs.flow.FlowType;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.queue.CompletionQueueFlag;
import io.rdmacm.verbs.queue.Ece;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.queue.RateLimit;
import io.rdmacm.verbs.queue.WorkQueueFlag;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.NeedsFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.MemoryWindowType;
import io.rdmacm.verbs.work.SendOperation;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.AfterTry;
import net.jqwik.api.lifecycle.BeforeTry;

/** As {@link EncodingTest}: what objects are made with, and the rarer work requests. */
@AddLifecycleHook(NeedsFakeVerbs.class)
@SuppressWarnings("restricted")
class AttributeEncodingTest {
    private Arena arena;
    private FakeStack stack;
    private long context;
    private long domain;
    private long queue;

    @BeforeTry
    void open() throws RdmaException {
        FakeVerbs.reset();
        arena = Arena.ofConfined();
        stack = new FakeStack();
        context = stack.context().handle().address();
        domain = stack.domain().handle().address();
        queue = stack.queue().handle().address();
        for (String equip : List.of("fake_equip_completion", "fake_equip_queue_pairs", "fake_equip_receive",
                "fake_equip_work_queues", "fake_equip_flows", "fake_serve_memory")) {
            FakeVerbs.call(equip, context);
        }
        FakeVerbs.reset();
    }

    @AfterTry
    void close() throws RdmaException {
        stack.close();
        arena.close();
    }

    private interface Fill {
        void of(long struct);
    }

    private byte[] oracle(MemoryLayout layout, Fill fill) {
        MemorySegment struct = arena.allocate(layout);
        fill.of(struct.address());
        return struct.toArray(ValueLayout.JAVA_BYTE);
    }

    private long ints(int... numbers) {
        return arena.allocateFrom(ValueLayout.JAVA_INT, numbers).address();
    }

    private static byte[] written(String function) {
        return FakeVerbs.calls(function).getFirst().data();
    }

    @Property(tries = 300)
    void queuePairs(@ForAll boolean signalAll, @ForAll @Size(5) List<@IntRange(max = 0xfffff) Integer> sizes,
            @ForAll Set<SendOperation> operations, @ForAll @IntRange(max = 0xffff) int header,
            @ForAll @IntRange(max = 0xffffff) int source, @ForAll boolean named) throws RdmaException {
        int[] wanted = sizes.stream().mapToInt(size -> size + 1).toArray();
        QueuePairInitAttributes.Builder builder = QueuePairInitAttributes.builder().type(QueuePairType.RAW_PACKET)
                .completionQueue(stack.queue()).signalAll(signalAll).maxSendRequests(wanted[0])
                .maxReceiveRequests(wanted[1]).maxSendScatterGather(wanted[2]).maxReceiveScatterGather(wanted[3])
                .maxInlineData(sizes.get(4)).maxTsoHeader(header);
        // a batch keeps a list as long as the queue pair takes
        boolean extended = named || header > 0;
        if (named) {
            builder.sourceQueuePair(source).maxSendScatterGather(1).maxInlineData(0).sendOperations(operations);
            wanted[2] = 1;
            sizes = List.of(0, 0, 0, 0, 0);
        }
        stack.domain().createQueuePair(builder.build()).close();
        int mask = Rdma.IBV_QP_INIT_ATTR_PD() | (named ? Rdma.IBV_QP_INIT_ATTR_CREATE_FLAGS() : 0)
                | (header > 0 ? Rdma.IBV_QP_INIT_ATTR_MAX_TSO_HEADER() : 0)
                | (named && !operations.isEmpty() ? Rdma.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS() : 0);
        int[] numbers = {Rdma.IBV_QPT_RAW_PACKET(), signalAll ? 1 : 0, mask,
            named ? Rdma.IBV_QP_CREATE_SOURCE_QPN() : 0, header, named ? source : 0,
            named ? Flags.mask(operations, SendOperation::bit) : 0, wanted[0], wanted[1], wanted[2], wanted[3],
            sizes.get(4)};
        byte[] expected = oracle(ibv_qp_init_attr_ex.layout(), struct -> FakeVerbs.call("oracle_qp_init", struct,
                ints(numbers), queue, queue, extended ? domain : 0, 0));
        // the struct of the plain function is the beginning of the other
        assertThat(written(extended ? "create_qp_ex" : "ibv_create_qp"))
                .isEqualTo(extended ? expected : Arrays.copyOf(expected, (int) ibv_qp_init_attr.sizeof()));
    }

    @Property(tries = 200)
    void completionQueues(@ForAll @IntRange(min = 1, max = 1 << 20) int entries, @ForAll @IntRange(max = 1) int vector,
            @ForAll Set<CompletionQueueFlag> flags, @ForAll boolean channel, @ForAll boolean parent)
            throws RdmaException {
        CompletionQueueInitAttributes.Builder builder = CompletionQueueInitAttributes.builder(entries)
                .completionVector(vector).flags(flags.toArray(CompletionQueueFlag[]::new));
        if (channel) {
            builder.channel(stack.channel());
        }
        if (parent) {
            builder.parentDomain(stack.domain());
        }
        stack.context().createExtendedCompletionQueue(builder.build()).close();

        assertThat(written("create_cq_ex")).isEqualTo(oracle(ibv_cq_init_attr_ex.layout(),
                struct -> FakeVerbs.call("oracle_cq_init", struct, entries,
                        channel ? stack.channel().handle().address() : 0, vector,
                        Flags.mask(flags, CompletionQueueFlag::bit), parent ? domain : 0)));
    }

    @Property(tries = 200)
    void workQueues(@ForAll @IntRange(min = 1) int requests, @ForAll @IntRange(min = 1) int entries,
            @ForAll Set<WorkQueueFlag> flags, @ForAll Set<WorkQueueFlag> on) throws RdmaException {
        int mask = Flags.mask(flags, WorkQueueFlag::bit);
        Set<WorkQueueFlag> off = EnumSet.allOf(WorkQueueFlag.class);
        off.removeAll(on);
        try (WorkQueue made = stack.domain().createWorkQueue(stack.queue(), requests, entries,
                flags.toArray(WorkQueueFlag[]::new))) {
            made.modifyFlags(on, off);
        }
        assertThat(written("create_wq")).isEqualTo(oracle(ibv_wq_init_attr.layout(), struct -> FakeVerbs.call(
                "oracle_wq_init", struct, requests, entries, domain, queue, mask)));
        assertThat(written("modify_wq")).isEqualTo(oracle(ibv_wq_attr.layout(), struct -> FakeVerbs.call(
                "oracle_wq_attr", struct, Rdma.IBV_WQ_ATTR_FLAGS(), 0, Flags.mask(on, WorkQueueFlag::bit), 0xf)));
    }

    @Property(tries = 200)
    void receiveQueuesWithTags(@ForAll @IntRange(min = 1, max = 1 << 29) int requests,
            @ForAll @IntRange(min = 1, max = 1 << 20) int entries, @ForAll @IntRange(min = 1) int tags,
            @ForAll @IntRange(min = 1) int operations) throws RdmaException {
        stack.domain().createSharedReceiveQueue(SharedReceiveQueueInitAttributes.builder().maxRequests(requests)
                .maxScatterGather(entries).tagMatching(stack.queue(), tags, operations).build()).close();

        assertThat(written("create_srq_ex")).isEqualTo(oracle(ibv_srq_init_attr_ex.layout(), struct -> FakeVerbs.call(
                "oracle_srq", struct, ints(requests, entries, 0, tags, operations), Rdma.IBV_SRQT_TM(), domain, 0,
                queue)));
    }

    @Property(tries = 200)
    void limitsAndOptions(@ForAll @IntRange int rate, @ForAll @IntRange int burst,
            @ForAll @IntRange(max = 0xffff) int packet, @ForAll int vendor, @ForAll int options)
            throws RdmaException {
        stack.queuePair().modifyRateLimit(new RateLimit(rate, burst, packet));
        stack.queuePair().setEce(new Ece(vendor, options));

        assertThat(written("modify_qp_rate_limit")).isEqualTo(oracle(ibv_qp_rate_limit_attr.layout(),
                struct -> FakeVerbs.call("oracle_rate_limit", struct, rate, burst, packet)));
        assertThat(written("ibv_set_ece")).isEqualTo(oracle(ibv_ece.layout(), struct -> FakeVerbs.call("oracle_ece",
                struct, Integer.toUnsignedLong(vendor), Integer.toUnsignedLong(options))));
    }

    @Property(tries = 200)
    void flowsAndWhatTheyCount(@ForAll FlowType type, @ForAll boolean egress,
            @ForAll @IntRange(max = 0xffff) int priority, @ForAll @IntRange(min = 1, max = 0xff) int port,
            @ForAll CounterDescription description, @ForAll @IntRange int index) throws RdmaException {
        FlowAttributes.Builder builder = FlowAttributes.builder().type(type).priority(priority).port(port);
        if (egress) {
            builder.flags(FlowFlag.EGRESS);
        }
        try (QueuePair pair = stack.domain().createQueuePair(QueuePairInitAttributes.builder()
                .type(QueuePairType.RAW_PACKET).completionQueue(stack.queue()).build());
                Counters counters = Counters.create(stack.context())) {
            Flow.create(pair, builder.build()).close();
            counters.attachPointFlow(description, index);
        }
        MemorySegment flow = arena.allocate(64, Long.BYTES);
        long size = FakeVerbs.call("oracle_flow", flow.address(), type.value(),
                egress ? Rdma.IBV_FLOW_ATTR_FLAGS_EGRESS() : 0, priority, port);
        assertThat(written("create_flow")).isEqualTo(flow.asSlice(0, size).toArray(ValueLayout.JAVA_BYTE));
        assertThat(written("attach_counters_point_flow")).isEqualTo(oracle(ibv_counter_attach_attr.layout(),
                struct -> FakeVerbs.call("oracle_counter_attach", struct, description.value(), index)));
    }

    @Property(tries = 200)
    void datagrams(@ForAll @IntRange(max = 0xffffff) int number, @ForAll int key) throws RdmaException {
        SendRequests block = SendRequests.allocate(1, 1);
        try (AddressHandle handle = stack.domain().createAddressHandle(AddressAttributes.builder().build())) {
            MemorySegment expected = ibv_send_wr.allocate(arena);
            FakeVerbs.call("oracle_datagram", expected.address(), handle.handle().address(), number,
                    Integer.toUnsignedLong(key));
            ibv_send_wr.opcode(expected, Rdma.IBV_WR_SEND());
            ibv_send_wr.send_flags(expected, Rdma.IBV_SEND_SIGNALED());
            block.get(0).send().datagram(handle, number, key);
            long list = ibv_send_wr.sg_list$offset();
            MemorySegment written = block.memory().asSlice(0, ibv_send_wr.sizeof());
            assertThat(written.asSlice(list + 8).mismatch(expected.asSlice(list + 8))).isEqualTo(-1);
        }
    }

    @Property(tries = 200)
    void segmentedSends(@ForAll @Size(min = 1, max = 200) byte[] headers,
            @ForAll @IntRange(min = 1, max = 0xffff) int size) {
        SendRequests block = SendRequests.allocate(1, 1);
        block.get(0).tso(MemorySegment.ofArray(headers), size).data(stack.region(), 0, 8);
        MemorySegment written = block.memory().asSlice(0, ibv_send_wr.sizeof());
        MemorySegment copy = ibv_send_wr.tso.hdr(ibv_send_wr.tso(written));
        MemorySegment expected = ibv_send_wr.allocate(arena);
        FakeVerbs.call("oracle_send_tso", expected.address(), ibv_send_wr.sg_list(written).address(), copy.address(),
                headers.length, size);

        assertThat(written.mismatch(expected)).isEqualTo(-1);
        assertThat(copy.reinterpret(headers.length).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(headers);
    }

    @Property(tries = 200)
    void bindRequests(@ForAll long id, @ForAll @IntRange(max = 4000) int offset,
            @ForAll @IntRange(min = 1, max = 96) int length, @ForAll boolean write) throws RdmaException {
        AccessFlag[] access = write ? new AccessFlag[] {AccessFlag.REMOTE_WRITE} : new AccessFlag[0];
        SendRequests block = SendRequests.allocate(1, 1);
        try (MemoryRegion region = stack.domain().allocate(4096, AccessFlag.MW_BIND, AccessFlag.LOCAL_WRITE);
                MemoryWindow window = stack.domain().allocateMemoryWindow(MemoryWindowType.TYPE_2)) {
            int key = MemoryWindow.incrementKey(window.remoteKey());
            block.get(0).id(id).bindMemoryWindow(window, key, MemoryWindowBinding.of(region, offset, length, access));
            MemorySegment written = block.memory().asSlice(0, ibv_send_wr.sizeof());
            MemorySegment bind = ibv_mw_bind.allocate(arena);
            FakeVerbs.call("oracle_bind", bind.address(), id, Rdma.IBV_SEND_SIGNALED(), region.handle().address(),
                    region.memory().address() + offset, length, write ? Rdma.IBV_ACCESS_REMOTE_WRITE() : 0);
            MemorySegment expected = ibv_send_wr.allocate(arena);
            FakeVerbs.call("oracle_send_bind", expected.address(), bind.address(), window.handle().address(),
                    Integer.toUnsignedLong(key), ibv_send_wr.sg_list(written).address());
            assertThat(written.mismatch(expected)).isEqualTo(-1);
        }
    }
}
