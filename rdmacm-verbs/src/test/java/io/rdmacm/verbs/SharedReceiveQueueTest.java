// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_ops_wr;
import io.rdmacm.bindings.ibv_qp_init_attr;
import io.rdmacm.bindings.ibv_recv_wr;
import io.rdmacm.bindings.ibv_sge;
import io.rdmacm.bindings.ibv_srq_attr;
import io.rdmacm.bindings.ibv_srq_init_attr;
import io.rdmacm.bindings.ibv_srq_init_attr_ex;
import io.rdmacm.bindings.ibv_xrcd_init_attr;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.error.WorkRequestException;
import io.rdmacm.verbs.queue.SharedReceiveQueueAttributes;
import io.rdmacm.verbs.queue.SharedReceiveQueueType;
import io.rdmacm.verbs.queue.XrcDomainFlag;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Shared receive queues of all kinds, and XRC domains: what the library and the driver get. */
@WithFakeVerbs
class SharedReceiveQueueTest {
    private static final SharedReceiveQueueInitAttributes BASIC = SharedReceiveQueueInitAttributes.builder()
            .maxRequests(100).maxScatterGather(2).limit(7).build();

    private FakeStack stack;
    private long context;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        context = stack.context().handle().address();
        FakeVerbs.call("fake_equip_receive", context);
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws RdmaException {
        stack.close();
    }

    private static byte[] oracle(int type, long pd, long xrcd, long cq, int... sizes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment init = ibv_srq_init_attr_ex.allocate(arena);
            FakeVerbs.call("oracle_srq", init.address(), arena.allocateFrom(ValueLayout.JAVA_INT, sizes).address(),
                    type, pd, xrcd, cq);
            return init.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    private static ByteBuffer buffer(FakeVerbs.Call call) {
        return ByteBuffer.wrap(call.data()).order(ByteOrder.nativeOrder());
    }

    @Test
    @Covers({"ibv_create_srq", "ibv_destroy_srq"})
    void aBasicOneIsMadeByThePlainFunction() throws RdmaException {
        long pd = stack.domain().handle().address();
        SharedReceiveQueue queue = stack.domain().createSharedReceiveQueue(BASIC);

        assertThat(FakeVerbs.functions()).containsExactly("ibv_create_srq");
        FakeVerbs.Call call = FakeVerbs.calls().getFirst();
        assertThat(call.arguments().getFirst()).isEqualTo(pd);
        assertThat(call.data()).isEqualTo(Arrays.copyOf(oracle(Rdma.IBV_SRQT_BASIC(), pd, 0, 0, 100, 2, 7, 0, 0),
                (int) ibv_srq_init_attr.sizeof()));
        assertThat(queue.type()).isEqualTo(SharedReceiveQueueType.BASIC);
        assertThat(queue.context()).isSameAs(stack.context());
        assertThat(queue.protectionDomain()).isSameAs(stack.domain());
        assertThat(queue.completionQueue()).isEmpty();

        long address = queue.handle().address();
        queue.close();
        assertThat(FakeVerbs.calls("ibv_destroy_srq").getFirst().arguments().getFirst()).isEqualTo(address);
    }

    @Test
    @Covers({"ibv_create_srq_ex", "ibv_get_srq_num", "ibv_open_xrcd", "ibv_close_xrcd"})
    void anXrcOneIsMadeByTheDriver() throws RdmaException {
        XrcDomain xrc = stack.context().openXrcDomain();
        FakeVerbs.reset();
        SharedReceiveQueue queue = stack.domain().createSharedReceiveQueue(SharedReceiveQueueInitAttributes.builder()
                .maxRequests(5).maxScatterGather(6).xrc(xrc, stack.queue()).build());

        assertThat(FakeVerbs.functions()).containsExactly("create_srq_ex");
        assertThat(FakeVerbs.calls().getFirst().arguments().getFirst()).isEqualTo(context);
        assertThat(FakeVerbs.calls().getFirst().data()).isEqualTo(oracle(Rdma.IBV_SRQT_XRC(),
                stack.domain().handle().address(), xrc.handle().address(), stack.queue().handle().address(),
                5, 6, 0, 0, 0));
        assertThat(queue.completionQueue()).contains(stack.queue());
        assertThat(queue.number() & 0xfff00000).isEqualTo(0x00a00000);

        for (NativeObject parent : new NativeObject[] {xrc, stack.queue(), stack.domain()}) {
            assertThatIllegalStateException().isThrownBy(parent::close).withMessageContaining(queue.toString());
        }
        queue.close();
        xrc.close();
    }

    @Test
    @Covers("ibv_create_srq_ex")
    void oneWithTagMatchingIsMadeByTheDriver() throws RdmaException {
        try (SharedReceiveQueue queue = stack.domain().createSharedReceiveQueue(
                SharedReceiveQueueInitAttributes.builder().maxRequests(5).maxScatterGather(6)
                        .tagMatching(stack.queue(), 11, 12).build())) {
            assertThat(queue.type()).isEqualTo(SharedReceiveQueueType.TM);
            assertThat(FakeVerbs.functions()).containsExactly("create_srq_ex");
            assertThat(FakeVerbs.calls().getFirst().data()).isEqualTo(oracle(Rdma.IBV_SRQT_TM(),
                    stack.domain().handle().address(), 0, stack.queue().handle().address(), 5, 6, 0, 11, 12));
        }
    }

    @Test
    void whatBelongsToAnotherTypeIsRefused() {
        SharedReceiveQueueAttributes sizes = new SharedReceiveQueueAttributes(1, 1, 0);
        assertThatIllegalArgumentException().isThrownBy(() -> new SharedReceiveQueueInitAttributes(
                SharedReceiveQueueType.BASIC, sizes, Optional.empty(),
                Optional.of(stack.queue()), 0, 0))
                .withMessage("a shared receive queue of type BASIC cannot have a completion queue");
        assertThatIllegalArgumentException().isThrownBy(() -> stack.domain().createSharedReceiveQueue(
                SharedReceiveQueueInitAttributes.builder().xrc(null, stack.queue()).build()))
                .withMessage("a shared receive queue of type XRC needs a completion queue and an XRC domain");
        assertThatIllegalArgumentException().isThrownBy(() -> stack.domain().createSharedReceiveQueue(
                SharedReceiveQueueInitAttributes.builder().tagMatching(null, 1, 1).build()))
                .withMessage("a shared receive queue of type TM needs a completion queue");
        assertThatIllegalArgumentException().isThrownBy(
                () -> SharedReceiveQueueInitAttributes.builder().tagMatching(stack.queue(), -1, 1).build())
                .withMessage("the sizes of a tag matching list cannot be negative: -1 tags, 1 operations");
        assertThatIllegalArgumentException().isThrownBy(
                () -> SharedReceiveQueueInitAttributes.builder().maxRequests(-5).build())
                .withMessageStartingWith("the sizes of a shared receive queue cannot be negative: -5 requests");
        assertThat(FakeVerbs.calls()).isEmpty();
    }

    @Test
    void objectsOfAnotherContextAreRefused() throws RdmaException {
        try (FakeStack other = new FakeStack()) {
            SharedReceiveQueueInitAttributes mixed = SharedReceiveQueueInitAttributes.builder()
                    .tagMatching(other.queue(), 1, 1).build();
            assertThatIllegalArgumentException().isThrownBy(() -> stack.domain().createSharedReceiveQueue(mixed))
                    .withMessageStartingWith("the completion queue belongs to another context");
            try (SharedReceiveQueue shared = other.domain().createSharedReceiveQueue(BASIC)) {
                assertThatIllegalArgumentException().isThrownBy(() -> stack.domain().createQueuePair(
                        QueuePairInitAttributes.builder().completionQueue(stack.queue()).sharedReceiveQueue(shared)
                                .build()))
                        .withMessageStartingWith("the shared receive queue belongs to another context");
            }
        }
    }

    @Test
    void aFailedCreationLeavesNothingBehind() {
        FakeVerbs.fail("ibv_create_srq", Rdma.ENOMEM());
        FakeVerbs.fail("create_srq_ex", Rdma.EINVAL());
        FakeVerbs.fail("open_xrcd", Rdma.EINVAL());

        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> stack.domain().createSharedReceiveQueue(BASIC))
                .withMessageStartingWith("ibv_create_srq (SharedReceiveQueueAttributes[maxRequests=100,"
                        + " maxScatterGather=2, limit=7]): ENOMEM");
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> stack.domain().createSharedReceiveQueue(
                SharedReceiveQueueInitAttributes.builder().tagMatching(stack.queue(), 1, 1).build()))
                .withMessageStartingWith("ibv_create_srq_ex (").withMessageContaining("EINVAL");
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> stack.context().openXrcDomain())
                .withMessageStartingWith("ibv_open_xrcd: EINVAL");
    }

    @Test
    void aDriverWithoutTheFunctionsIsUnsupported() throws RdmaException {
        try (SharedReceiveQueue queue = stack.domain().createSharedReceiveQueue(BASIC)) {
            for (String member : List.of("create_srq_ex", "get_srq_num", "post_srq_ops", "open_xrcd")) {
                FakeVerbs.setExtendedOp(stack.context().handle(), member, 0);
            }
            assertThatExceptionOfType(RdmaUnsupportedException.class).isThrownBy(queue::number);
            assertThatExceptionOfType(RdmaUnsupportedException.class)
                    .isThrownBy(() -> queue.postOperations(TagOperations.allocate(1, 1), 0, 1));
            assertThatExceptionOfType(RdmaUnsupportedException.class)
                    .isThrownBy(() -> stack.context().openXrcDomain());
            assertThatExceptionOfType(RdmaUnsupportedException.class)
                    .isThrownBy(() -> stack.domain().createSharedReceiveQueue(SharedReceiveQueueInitAttributes
                            .builder().tagMatching(stack.queue(), 1, 1).build()));
        }
    }

    @Test
    @Covers({"ibv_query_srq", "ibv_modify_srq"})
    void limitAndSizeAreChangedByTheirBits() throws RdmaException {
        try (SharedReceiveQueue queue = stack.domain().createSharedReceiveQueue(BASIC)) {
            // the fake gives twice the requests and one entry more
            assertThat(queue.query()).isEqualTo(new SharedReceiveQueueAttributes(200, 3, 7));
            FakeVerbs.reset();

            queue.setLimit(50);
            queue.resize(300);

            List<FakeVerbs.Call> calls = FakeVerbs.calls("ibv_modify_srq");
            assertThat(calls).extracting(call -> call.arguments().get(2))
                    .containsExactly((long) Rdma.IBV_SRQ_LIMIT(), (long) Rdma.IBV_SRQ_MAX_WR());
            assertThat(buffer(calls.get(0)).getInt((int) ibv_srq_attr.srq_limit$offset())).isEqualTo(50);
            assertThat(buffer(calls.get(1)).getInt((int) ibv_srq_attr.max_wr$offset())).isEqualTo(300);
            assertThat(queue.query()).isEqualTo(new SharedReceiveQueueAttributes(300, 3, 50));

            FakeVerbs.reset();
            assertThatIllegalArgumentException().isThrownBy(() -> queue.resize(0))
                    .withMessage("a shared receive queue needs at least 1 request, not 0");
            assertThatIllegalArgumentException().isThrownBy(() -> queue.setLimit(-1));
            assertThat(FakeVerbs.calls()).isEmpty();
            FakeVerbs.fail("ibv_modify_srq", Rdma.EINVAL());
            assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> queue.setLimit(1000))
                    .withMessageStartingWith("ibv_modify_srq: EINVAL");
        }
    }

    @Test
    @Covers("ibv_post_srq_recv")
    void receivesArePostedToIt() throws RdmaException {
        ReceiveRequests block = ReceiveRequests.allocate(3, 4);
        for (int i = 0; i < 3; i++) {
            block.get(i).id(200 + i).data(stack.region(), 8 * i, 8);
        }
        try (SharedReceiveQueue queue = stack.domain().createSharedReceiveQueue(BASIC)) {
            FakeVerbs.reset();
            queue.postReceive(block.get(1));
            FakeVerbs.Call call = FakeVerbs.calls("post_srq_recv").getFirst();
            assertThat(call.arguments()).startsWith(queue.handle().address(), block.get(1).address());
            assertThat(call.data()).hasSize((int) (ibv_recv_wr.sizeof() + ibv_sge.sizeof()));
            assertThat(buffer(call).getLong(0)).isEqualTo(201);

            FakeVerbs.reset();
            queue.postReceive(block, 0, 3);
            assertThat(FakeVerbs.functions()).containsExactly("post_srq_recv", "next_recv", "next_recv");

            FakeVerbs.reset();
            FakeVerbs.fail("next_recv", Rdma.ENOMEM(), 1);
            assertThatExceptionOfType(WorkRequestException.class).isThrownBy(() -> queue.postReceive(block, 0, 3))
                    .withMessageStartingWith("ibv_post_srq_recv (request 2 on " + queue + "): ENOMEM")
                    .satisfies(e -> assertThat(e.failedIndex()).isEqualTo(2));

            // 2 were asked for, the fake gives 3
            for (int i = 1; i < 4; i++) {
                block.get(2).data(i, stack.region(), 0, 1);
            }
            assertThatIllegalArgumentException().isThrownBy(() -> queue.postReceive(block, 0, 3))
                    .withMessage("the work request has 4 scatter/gather entries; the shared receive queue allows 3");
        }
    }

    @Test
    @Covers("ibv_create_qp")
    void aQueuePairUsesItInsteadOfItsOwn() throws RdmaException {
        SharedReceiveQueue shared = stack.domain().createSharedReceiveQueue(BASIC);
        FakeVerbs.reset();
        QueuePair pair = stack.domain().createQueuePair(QueuePairInitAttributes.builder()
                .completionQueue(stack.queue()).sharedReceiveQueue(shared).build());

        long offset = ibv_qp_init_attr.srq$offset();
        assertThat(buffer(FakeVerbs.calls("ibv_create_qp").getFirst()).getLong((int) offset))
                .isEqualTo(shared.handle().address());
        assertThat(pair.sharedReceiveQueue()).contains(shared);
        assertThatIllegalStateException()
                .isThrownBy(() -> pair.postReceive(ReceiveRequests.allocate(1, 1).get(0)))
                .withMessage("this queue pair has no receive queue of its own: receives are posted to " + shared);
        assertThat(FakeVerbs.calls("post_recv")).isEmpty();

        assertThatIllegalStateException().isThrownBy(shared::close).withMessageContaining(pair.toString());
        pair.close();
        shared.close();
    }

    private byte[] oracleTag(int opcode, ScatterEntry entry, long... values) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment op = ibv_ops_wr.allocate(arena);
            FakeVerbs.call("oracle_tag", op.address(), opcode,
                    arena.allocateFrom(ValueLayout.JAVA_LONG, values).address(), entry.list(), entry.count());
            return op.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    private record ScatterEntry(long list, int count) {
    }

    @Test
    @Covers("ibv_post_srq_ops")
    void tagOperationsHaveTheBytesThatCGivesThem() throws RdmaException {
        TagOperations block = TagOperations.allocate(3, 2);
        long lists = block.memory().address() + 3 * ibv_ops_wr.sizeof();
        block.get(0).id(1).add(0x1122334455667788L, 0xfedcba9876543210L, -1L).data(0, stack.region(), 16, 8)
                .data(1, stack.region(), 32, 8).signaled(true);
        block.get(1).id(2).delete(0x80000001).unexpectedCount(0xfffffffe);
        block.get(2).id(3).sync().signaled(true).unexpectedCount(9).signaled(false);
        int size = (int) ibv_ops_wr.sizeof();
        byte[][] before = new byte[3][];
        for (int i = 0; i < 3; i++) {
            before[i] = block.memory().asSlice((long) i * size, size).toArray(ValueLayout.JAVA_BYTE);
        }

        assertThat(before[0]).isEqualTo(oracleTag(Rdma.IBV_WR_TAG_ADD(), new ScatterEntry(lists, 2), 1,
                Rdma.IBV_OPS_SIGNALED(), 0, 0x1122334455667788L, 0xfedcba9876543210L, -1L, 0));
        assertThat(before[1]).isEqualTo(oracleTag(Rdma.IBV_WR_TAG_DEL(),
                new ScatterEntry(lists + 2 * ibv_sge.sizeof(), 0), 2, Rdma.IBV_OPS_TM_SYNC(), 0xfffffffeL, 0, 0, 0,
                0x80000001L));
        assertThat(before[2]).isEqualTo(oracleTag(Rdma.IBV_WR_TAG_SYNC(),
                new ScatterEntry(lists + 4 * ibv_sge.sizeof(), 0), 3, Rdma.IBV_OPS_TM_SYNC(), 9, 0, 0, 0, 0));

        try (SharedReceiveQueue queue = stack.domain().createSharedReceiveQueue(SharedReceiveQueueInitAttributes
                .builder().tagMatching(stack.queue(), 8, 8).build())) {
            FakeVerbs.reset();
            for (int handle : new int[] {-1, 9, 0x80000001}) {
                block.get(1).delete(handle);
                assertThatIllegalArgumentException().isThrownBy(() -> queue.postOperations(block, 0, 3))
                        .withMessage("no tagged buffer of a queue with at most 8 has the handle " + handle);
            }
            assertThat(FakeVerbs.functions()).isEmpty();
            block.get(1).delete(8);
            queue.postOperations(block, 0, 3);
            assertThat(FakeVerbs.functions()).containsExactly("post_srq_ops", "next_op", "next_op");
            assertThat(FakeVerbs.calls().getFirst().arguments())
                    .startsWith(queue.handle().address(), block.get(0).address());
            // what the driver wrote
            assertThat(block.get(0).handle()).isEqualTo(0x90000000 + 0x76543210);

            FakeVerbs.reset();
            FakeVerbs.fail("next_op", Rdma.ENOMEM());
            assertThatExceptionOfType(WorkRequestException.class)
                    .isThrownBy(() -> queue.postOperations(block, 1, 2))
                    .withMessageStartingWith("ibv_post_srq_ops (request 2 on " + queue + "): ENOMEM")
                    .satisfies(e -> assertThat(e.failedIndex()).isEqualTo(2));
            FakeVerbs.badRequests(FakeVerbs.BadRequest.NULL);
            FakeVerbs.fail("next_op", Rdma.ENOMEM());
            assertThatExceptionOfType(WorkRequestException.class)
                    .isThrownBy(() -> queue.postOperations(block, 1, 2))
                    .satisfies(e -> assertThat(e.failedIndex()).isEqualTo(1));
            FakeVerbs.fail("post_srq_ops", Rdma.EOPNOTSUPP());
            assertThatExceptionOfType(RdmaUnsupportedException.class)
                    .isThrownBy(() -> queue.postOperations(block, 0, 1));
            assertThatIllegalArgumentException().isThrownBy(() -> queue.postOperations(block, 0, 0));
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> queue.postOperations(block, 2, 2));
        }
        assertThatIllegalArgumentException().isThrownBy(() -> block.get(2).data(1, stack.region(), 0, 1))
                .withMessage("entry 1 would leave a gap: the list has 0");
    }

    @Test
    @Covers({"ibv_open_xrcd", "ibv_close_xrcd"})
    void anXrcDomainCanBelongToAFile(@TempDir Path folder) throws IOException {
        Path file = Files.createFile(folder.resolve("domain"));
        XrcDomain xrc = stack.context().openXrcDomain(file, XrcDomainFlag.CREAT, XrcDomainFlag.EXCL);
        FakeVerbs.Call opened = FakeVerbs.calls("open_xrcd").getFirst();
        assertThat(buffer(opened).getInt((int) ibv_xrcd_init_attr.comp_mask$offset()))
                .isEqualTo(Rdma.IBV_XRCD_INIT_ATTR_FD() | Rdma.IBV_XRCD_INIT_ATTR_OFLAGS());
        assertThat(buffer(opened).getInt((int) ibv_xrcd_init_attr.oflags$offset())).isEqualTo(0xc0);
        int fd = buffer(opened).getInt((int) ibv_xrcd_init_attr.fd$offset());
        assertThat(fd).isPositive();
        try {
            assertThat(Files.readSymbolicLink(Path.of("/proc/self/fd/" + fd))).isNotEqualTo(file);
        } catch (NoSuchFileException e) {
            assertThat(e).hasMessageContaining("/" + fd);
        }
        assertThat(xrc.context()).isSameAs(stack.context());
        assertThatIllegalStateException().isThrownBy(() -> stack.context().close())
                .withMessageContaining(xrc.toString());
        xrc.close();
        assertThat(FakeVerbs.functions()).containsExactly("open_xrcd", "close_xrcd");

        FakeVerbs.reset();
        try (XrcDomain own = stack.context().openXrcDomain()) {
            FakeVerbs.Call call = FakeVerbs.calls("open_xrcd").getFirst();
            assertThat(own.isOpen()).isTrue();
            assertThat(buffer(call).getInt((int) ibv_xrcd_init_attr.fd$offset())).isEqualTo(-1);
            assertThat(buffer(call).getInt((int) ibv_xrcd_init_attr.oflags$offset())).isEqualTo(0x40);
        }
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> stack.context().openXrcDomain(folder.resolve("none")))
                .withMessageStartingWith("open: ENOENT");
    }

    @Test
    void aFailedDestroyLeavesItOpenAndUsable() throws RdmaException {
        SharedReceiveQueue queue = stack.domain().createSharedReceiveQueue(BASIC);
        FakeVerbs.fail("ibv_destroy_srq", Rdma.EBUSY());
        assertThatExceptionOfType(RdmaException.class).isThrownBy(queue::close);

        assertThat(queue.isOpen()).isTrue();
        queue.postReceive(ReceiveRequests.allocate(1, 1).get(0));
        queue.close();
        queue.close();
        assertThat(FakeVerbs.calls("ibv_destroy_srq")).hasSize(2);
    }

    @Test
    void aCloseWaitsForAPostOfAnotherThread() throws Exception {
        SharedReceiveQueue queue = stack.domain().createSharedReceiveQueue(BASIC);
        ReceiveRequest request = ReceiveRequests.allocate(1, 1).get(0);
        FakeVerbs.hold("post_srq_recv");
        try (Background<Void> poster = Background.run(() -> queue.postReceive(request))) {
            FakeVerbs.awaitHeld();
            try (Background<Void> closer = Background.run(queue::close)) {
                closer.awaitInside(SharedReceiveQueue.class, "destroy");
                assertThat(FakeVerbs.calls("ibv_destroy_srq")).isEmpty();
                FakeVerbs.release();
                closer.result();
                poster.result();
            }
        }
        assertThatIllegalStateException().isThrownBy(() -> queue.postReceive(request))
                .withMessage("SharedReceiveQueue is closed");
    }

    @Test
    void sizesThatAreTooLargeForAnIntAreTheLargest() throws RdmaException {
        // the stand-in gives twice as many
        try (SharedReceiveQueue queue = stack.domain().createSharedReceiveQueue(
                SharedReceiveQueueInitAttributes.builder().maxRequests(0x60000000).build())) {
            assertThat(queue.query().maxRequests()).isEqualTo(Integer.MAX_VALUE);
        }
        try (QueuePair pair = stack.domain().createQueuePair(QueuePairInitAttributes.builder()
                .completionQueue(stack.queue()).maxSendRequests(0x60000000).build())) {
            assertThat(pair.capabilities().maxSendRequests()).isEqualTo(Integer.MAX_VALUE);
        }
    }
}
