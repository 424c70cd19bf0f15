// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_recv_wr;
import io.rdmacm.core.CmId;
import io.rdmacm.core.internal.engine.CmLoop;
import io.rdmacm.core.internal.engine.DeviceResources;
import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.WorkRequestException;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What becomes of the buffers of a receive queue whose memory or queue fails. */
@WithFakeVerbs
@FakeRdmaCm.With
class ReceiveBuffersTest {
    private static final int TARGET = 8;
    // The pool registers memory for 1, 2, 4 and 8 buffers at a time.
    private static final int SIZE = 1 << 18;

    private final ArrayDeque<Long> queue = new ArrayDeque<>();
    private FakeStack stack;
    private CmLoop loop;
    private DeviceResources device;
    // how many receives the queue still takes
    private int room = Integer.MAX_VALUE;

    @BeforeEach
    void open() throws Exception {
        stack = new FakeStack();
        FakeRdmaCm.shareWithVerbs();
        FakeRdmaCm.call("fake_context", stack.context().handle().address());
        loop = CmLoop.start();
        CmId id = DeviceResources.open(loop, new InetSocketAddress(InetAddress.ofLiteral("192.0.2.7"), 0));
        device = DeviceResources.create(loop, id);
        loop.close(id);
        FakeVerbs.reset();
    }

    @AfterEach
    void close() throws Exception {
        device.close();
        loop.closeAll();
        FakeRdmaCm.call("fake_context", 0);
        FakeRdmaCm.call("fake_unshare");
        stack.close();
    }

    private void post(ReceiveRequests requests, int first, int count) throws RdmaException {
        for (int i = 0; i < count; i++) {
            if (room == 0) {
                throw new WorkRequestException("ibv_post_recv", Rdma.ENOMEM(), "ENOMEM", "no room", first + i);
            }
            room--;
            long id = ibv_recv_wr.wr_id(requests.memory().asSlice((first + i) * ibv_recv_wr.sizeof()));
            assertThat(queue).as("posted twice").doesNotContain(id);
            queue.add(id);
        }
    }

    private ReceiveBuffers buffers(boolean growing) throws RdmaException {
        return new ReceiveBuffers(device, SIZE, TARGET, growing, this::post);
    }

    private List<ReceiveBuffer> arrived(ReceiveBuffers buffers, int count) {
        List<ReceiveBuffer> held = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            held.add(buffers.take(queue.remove()));
        }
        return held;
    }

    private void giveBackAndClose(ReceiveBuffers buffers, List<ReceiveBuffer> held) throws RdmaException {
        for (ReceiveBuffer buffer : held) {
            buffers.giveBack(buffer);
        }
        assertThat(queue).hasSize(TARGET);
        buffers.close();
        assertThat(device.buffersInUse()).isZero();
    }

    @Test
    void whatASharedQueueDoesNotTakeIsPostedLater() throws Exception {
        ReceiveBuffers buffers = buffers(true);
        List<ReceiveBuffer> held = arrived(buffers, TARGET / 2 - 1);
        // It grows by one half of the buffers, and the queue takes one.
        room = 1;
        held.addAll(arrived(buffers, 1));
        assertThat(queue).hasSize(TARGET / 2 + 1);
        room = Integer.MAX_VALUE;
        held.addAll(arrived(buffers, 1));
        assertThat(queue).hasSize(TARGET - 1);
        assertThat(buffers.count()).isEqualTo(TARGET + TARGET / 2);
        giveBackAndClose(buffers, held);
    }

    @Test
    void whatTheQueueOfAConnectionDoesNotTakeIsPostedWithTheNext() throws Exception {
        ReceiveBuffers buffers = buffers(false);
        List<ReceiveBuffer> held = arrived(buffers, 2);
        room = 0;
        assertThatThrownBy(() -> buffers.giveBack(held.getFirst())).isInstanceOf(WorkRequestException.class);
        assertThat(queue).hasSize(TARGET - 2);
        room = Integer.MAX_VALUE;
        giveBackAndClose(buffers, held.subList(1, 2));
    }

    @Test
    void whatWasRegisteredBeforeMemoryRanOutIsUsed() throws Exception {
        ReceiveBuffers buffers = buffers(true);
        // It has grown by one half of the buffers, and the pool has three more.
        List<ReceiveBuffer> held = arrived(buffers, TARGET - 1);
        FakeVerbs.fail("ibv_reg_mr", Rdma.EINVAL());
        held.addAll(arrived(buffers, 1));
        FakeVerbs.reset();
        assertThat(queue).hasSize(TARGET / 2);
        buffers.giveBack(held.removeFirst());
        assertThat(queue).hasSize(TARGET);
        giveBackAndClose(buffers, held);
    }

    @Test
    void memoryThatCannotBeHadAtTheBeginningLeavesNothing() throws Exception {
        for (int registered = 0; registered < 3; registered++) {
            FakeVerbs.fail("ibv_reg_mr", Rdma.EINVAL(), registered);
            assertThatThrownBy(() -> buffers(false)).isInstanceOf(RdmaException.class);
            FakeVerbs.reset();
            assertThat(device.buffersInUse()).isZero();
            queue.clear();
        }
    }
}
