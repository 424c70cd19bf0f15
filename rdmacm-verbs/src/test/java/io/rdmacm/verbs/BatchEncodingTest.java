// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.NeedsFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.MemoryWindowType;
import io.rdmacm.verbs.work.PlacementType;
import io.rdmacm.verbs.work.SelectivityLevel;
import io.rdmacm.verbs.work.SendFlag;
import io.rdmacm.verbs.work.SendOperation;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;
import net.jqwik.api.lifecycle.AddLifecycleHook;
import net.jqwik.api.lifecycle.AfterTry;
import net.jqwik.api.lifecycle.BeforeTry;

/**
 * As {@link EncodingTest}: a driver sees the same calls of a batch, in the same order and with the same bytes behind
 * their pointers, as of a C program that uses the functions of verbs.h.
 */
@AddLifecycleHook(NeedsFakeVerbs.class)
class BatchEncodingTest {
    private static final int MOST_PARTS = 3;
    private static final int MOST_HEADERS = 40;
    private static final int REGION = 100;
    private static final int MOST_OF_A_PART = 20;
    /** The arguments that lead to memory of the program: the bytes count, not where they are. */
    private static final Map<String, Integer> POINTERS = Map.of("wr_bind_mw", 3, "wr_send_tso", 1,
            "wr_set_inline_data", 1, "wr_set_inline_data_list", 2, "wr_set_sge_list", 2, "wr_atomic_write", 3);

    private Arena arena;
    private FakeStack stack;
    private AddressHandle handle;
    private MemoryRegion region;
    private MemoryWindow window;

    @BeforeTry
    void open() throws RdmaException {
        FakeVerbs.reset();
        arena = Arena.ofConfined();
        stack = new FakeStack();
        FakeVerbs.call("fake_equip_queue_pairs", stack.context().handle().address());
        FakeVerbs.call("fake_serve_memory", stack.context().handle().address());
        handle = stack.domain().createAddressHandle(AddressAttributes.builder().build());
        region = stack.domain().allocate(REGION, AccessFlag.MW_BIND, AccessFlag.LOCAL_WRITE);
        window = stack.domain().allocateMemoryWindow(MemoryWindowType.TYPE_2);
    }

    @AfterTry
    void close() throws RdmaException {
        window.close();
        region.close();
        handle.close();
        stack.close();
        arena.close();
    }

    /** A part of the region, or of the bytes of an inline send. */
    record Part(int offset, int length) {
    }

    /** What most operations need. */
    record Numbers(long id, int key, long address, long operand, long swap) {
    }

    record Request(SendOperation operation, Set<SendFlag> flags, Numbers numbers, byte[] headers, int segment,
            List<Part> parts, int peer, boolean inline) {
        boolean isInline() {
            return inline && operation.takesInlineData() && !parts.isEmpty();
        }

        boolean isRemote() {
            return operation != SendOperation.LOCAL_INV && operation != SendOperation.BIND_MW;
        }

        int flagsOfC() {
            return Flags.mask(flags, SendFlag::bit) | (isInline() ? Rdma.IBV_SEND_INLINE() : 0);
        }
    }

    @Provide
    Arbitrary<Request> requests() {
        Arbitrary<Set<SendFlag>> flags = Arbitraries.subsetOf(SendFlag.SIGNALED, SendFlag.SOLICITED, SendFlag.FENCE,
                SendFlag.IP_CSUM);
        Arbitrary<Numbers> numbers = Combinators.combine(Arbitraries.longs(), Arbitraries.integers(),
                Arbitraries.longs(), Arbitraries.longs(), Arbitraries.longs()).as(Numbers::new);
        Arbitrary<byte[]> headers = Arbitraries.bytes().array(byte[].class).ofMinSize(1).ofMaxSize(MOST_HEADERS);
        Arbitrary<Part> parts = Combinators.combine(Arbitraries.integers().between(0, REGION - MOST_OF_A_PART),
                Arbitraries.integers().between(0, MOST_OF_A_PART)).as(Part::new);
        return Combinators.combine(Arbitraries.of(SendOperation.class), flags, numbers, headers,
                Arbitraries.integers().between(1, 0xffff), parts.list().ofMaxSize(MOST_PARTS),
                Arbitraries.integers().between(0, 0xffffff), Arbitraries.of(true, false)).as(Request::new);
    }

    private MemoryWindowBinding binding(Request request) {
        Part part = request.parts.isEmpty() ? new Part(8, 16) : request.parts.getFirst();
        return MemoryWindowBinding.of(region, part.offset, Math.max(1, part.length), AccessFlag.REMOTE_WRITE);
    }

    private static Set<PlacementType> placements(Numbers n) {
        return (n.swap & 1) == 0 ? EnumSet.of(PlacementType.PERSISTENT) : EnumSet.allOf(PlacementType.class);
    }

    private static SelectivityLevel level(Numbers n) {
        return (n.swap & 2) == 0 ? SelectivityLevel.RANGE : SelectivityLevel.MR;
    }

    private void add(SendBatch batch, Request request, QueuePairType type, byte[] bytes) {
        Numbers n = request.numbers;
        batch.id(n.id).signaled(request.flags.contains(SendFlag.SIGNALED))
                .solicited(request.flags.contains(SendFlag.SOLICITED)).fence(request.flags.contains(SendFlag.FENCE))
                .ipChecksum(request.flags.contains(SendFlag.IP_CSUM)).inline(request.isInline());
        switch (request.operation) {
            case SEND -> batch.send();
            case SEND_WITH_IMM -> batch.sendWithImmediate((int) n.operand);
            case SEND_WITH_INV -> batch.sendWithInvalidate(n.key);
            case RDMA_WRITE -> batch.rdmaWrite(n.address, n.key);
            case RDMA_WRITE_WITH_IMM -> batch.rdmaWriteWithImmediate(n.address, n.key, (int) n.operand);
            case RDMA_READ -> batch.rdmaRead(n.address, n.key);
            case ATOMIC_CMP_AND_SWP -> batch.compareAndSwap(n.address, n.key, n.operand, n.swap);
            case ATOMIC_FETCH_AND_ADD -> batch.fetchAndAdd(n.address, n.key, n.operand);
            case ATOMIC_WRITE -> batch.atomicWrite(n.address, n.key, n.operand);
            case FLUSH -> batch.flush(n.address, n.key, n.operand >>> Integer.SIZE, placements(n), level(n));
            case LOCAL_INV -> batch.localInvalidate(n.key);
            case BIND_MW -> batch.bindMemoryWindow(window, n.key, binding(request));
            case TSO -> batch.tso(MemorySegment.ofArray(request.headers), request.segment);
        }
        if (type == QueuePairType.UD) {
            batch.datagram(handle, request.peer, n.key);
        } else if (type == QueuePairType.XRC_SEND && request.isRemote()) {
            batch.remoteSharedReceiveQueue(request.peer);
        }
        Part first = request.parts.isEmpty() ? null : request.parts.getFirst();
        if (request.isInline()) {
            if (request.parts.size() > 1) {
                batch.inlineData(list(request));
            } else if (n.id % 2 == 0) {
                batch.inlineData(region, first.offset, first.length);
            } else {
                batch.inlineData(MemorySegment.ofArray(bytes), first.offset, first.length);
            }
        } else if (request.operation.takesData() && first != null) {
            if (request.parts.size() > 1) {
                batch.data(list(request));
            } else {
                batch.data(region, first.offset, first.length);
            }
        }
    }

    private ScatterGatherList list(Request request) {
        ScatterGatherList list = ScatterGatherList.allocate(MOST_PARTS);
        for (Part part : request.parts) {
            list.set(list.size(), region, part.offset, part.length);
        }
        return list;
    }

    private long longs(long... numbers) {
        return arena.allocateFrom(ValueLayout.JAVA_LONG, numbers).address();
    }

    private void addInC(long pair, Request request, QueuePairType type, byte[] bytes) {
        Numbers n = request.numbers;
        long start = region.memory().address();
        boolean binds = request.operation == SendOperation.BIND_MW;
        boolean flushes = request.operation == SendOperation.FLUSH;
        boolean segments = request.operation == SendOperation.TSO;
        FakeVerbs.call("oracle_batch_request", pair, longs(Integer.toUnsignedLong(request.operation.bit()), n.id,
                request.flagsOfC(), n.key, binds ? start + binding(request).offset() : n.address,
                segments ? request.segment : flushes ? n.operand >>> Integer.SIZE : n.operand, n.swap,
                arena.allocateFrom(ValueLayout.JAVA_BYTE, request.headers).address(), request.headers.length,
                window.handle().address(), region.handle().address(), binds ? binding(request).length() : 0,
                Rdma.IBV_ACCESS_REMOTE_WRITE(), PlacementType.mask(placements(n)), level(n).value()));
        if (type == QueuePairType.UD) {
            FakeVerbs.call("oracle_batch_datagram", pair, handle.handle().address(), request.peer, n.key);
        } else if (type == QueuePairType.XRC_SEND && request.isRemote()) {
            FakeVerbs.call("oracle_batch_shared_queue", pair, request.peer);
        }
        if (!request.operation.takesData()) {
            return;
        }
        long lengths = arena.allocateFrom(ValueLayout.JAVA_INT,
                request.parts.stream().mapToInt(Part::length).toArray()).address();
        if (request.isInline()) {
            MemorySegment all = arena.allocate(REGION);
            long end = 0;
            for (Part part : request.parts) {
                MemorySegment.copy(bytes, part.offset, all, ValueLayout.JAVA_BYTE, end, part.length);
                end += part.length;
            }
            FakeVerbs.call("oracle_batch_inline", pair, all.address(), lengths, request.parts.size());
        } else {
            FakeVerbs.call("oracle_batch_parts", pair, region.localKey(),
                    longs(request.parts.stream().mapToLong(part -> start + part.offset).toArray()), lengths,
                    request.parts.size());
        }
    }

    /** A call as a driver sees it. */
    record Seen(String function, List<Long> arguments, String data) {
        static Seen of(FakeVerbs.Call call) {
            Long[] arguments = call.arguments().toArray(Long[]::new);
            Integer pointer = POINTERS.get(call.function());
            if (pointer != null) {
                arguments[pointer] = 0L;
            }
            return new Seen(call.function(), List.of(arguments), HexFormat.of().formatHex(call.data()));
        }
    }

    private static List<Seen> calls() {
        return FakeVerbs.calls().stream().map(Seen::of).toList();
    }

    @Property(tries = 500)
    void batches(@ForAll("types") QueuePairType type,
            @ForAll @Size(min = 1, max = 4) List<@From("requests") Request> requests,
            @ForAll @Size(REGION) byte[] bytes) throws RdmaException {
        try (QueuePair pair = stack.domain().createQueuePair(QueuePairInitAttributes.builder().type(type)
                .completionQueue(stack.queue()).maxSendScatterGather(MOST_PARTS)
                .maxInlineData(MOST_PARTS * MOST_OF_A_PART).maxTsoHeader(MOST_HEADERS)
                .sendOperations(EnumSet.allOf(SendOperation.class)).build())) {
            MemorySegment.copy(bytes, 0, region.memory(), ValueLayout.JAVA_BYTE, 0, REGION);
            FakeVerbs.reset();
            try (SendBatch batch = pair.startBatch()) {
                requests.forEach(request -> add(batch, request, type, bytes));
                batch.complete();
            }
            List<Seen> ours = calls();
            FakeVerbs.reset();
            long address = pair.handle().address();
            FakeVerbs.call("oracle_batch_start", address);
            requests.forEach(request -> addInC(address, request, type, bytes));
            FakeVerbs.call("oracle_batch_complete", address);

            assertThat(ours).isEqualTo(calls());
        }
    }

    @Provide
    Arbitrary<QueuePairType> types() {
        return Arbitraries.of(QueuePairType.RC, QueuePairType.UD, QueuePairType.XRC_SEND);
    }
}
