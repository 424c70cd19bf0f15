// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_send_wr;
import io.rdmacm.bindings.ibv_wc;
import io.rdmacm.verbs.address.AddressAttributes;
import io.rdmacm.verbs.address.Gid;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.testing.XrcEnd;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendOperation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The ends of XrcDeviceTest, which few devices can run, over the stand-in: what they are made of, and that each
 * request names the receive queue of the peer.
 */
@WithFakeVerbs
class XrcEndTest {
    private XrcEnd one;
    private XrcEnd other;

    @BeforeEach
    void reset() {
        FakeVerbs.reset();
        FakeVerbs.loop(true);
    }

    @AfterEach
    void close() throws RdmaException {
        FakeVerbs.loop(false);
        one.close();
        other.close();
    }

    private void connect(boolean extendedQueue, Set<SendOperation> operations) throws RdmaException {
        XrcEnd.Options options = new XrcEnd.Options(extendedQueue, operations, AccessFlag.LOCAL_WRITE);
        one = new XrcEnd(context(), options);
        other = new XrcEnd(context(), options);
        AddressAttributes path = AddressAttributes.ofRoute(1, new Gid(1, 2), 3);
        one.connect(other, path);
        other.connect(one, path);
    }

    private static VerbsContext context() throws RdmaException {
        VerbsContext context = Device.list().getFirst().open();
        for (String part : List.of("receive", "queue_pairs", "completion")) {
            FakeVerbs.call("fake_equip_" + part, context.handle().address());
        }
        return context;
    }

    private static MemorySegment posted() {
        MemorySegment copy = Arena.ofAuto().allocate(ibv_send_wr.layout());
        return copy.copyFrom(MemorySegment.ofArray(FakeVerbs.calls("post_send").getLast().data())
                .asSlice(0, copy.byteSize()));
    }

    private static int remoteQueue() {
        return ibv_send_wr.qp_type.xrc.remote_srqn(ibv_send_wr.qp_type.xrc(ibv_send_wr.qp_type(posted())));
    }

    @Test
    @Covers({"ibv_open_xrcd", "ibv_create_qp_ex", "ibv_create_srq_ex", "ibv_modify_qp"})
    void theQueuePairsOfBothEndsAreConnected() throws RdmaException {
        connect(false, Set.of());
        for (XrcEnd end : List.of(one, other)) {
            assertThat(end.senders).hasSize(XrcEnd.PAIRS).extracting(QueuePair::type)
                    .containsOnly(QueuePairType.XRC_SEND);
            assertThat(end.receivers).hasSize(XrcEnd.PAIRS).extracting(QueuePair::type)
                    .containsOnly(QueuePairType.XRC_RECV);
            for (int i = 0; i < XrcEnd.PAIRS; i++) {
                assertThat(end.senders.get(i).state()).isEqualTo(QueuePairState.RTS);
                assertThat(end.receivers.get(i).state()).isEqualTo(QueuePairState.RTS);
            }
        }
    }

    /** A receive that has arrived, and its bytes. */
    private void arrive(byte value) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment completion = ibv_wc.allocate(arena);
            ibv_wc.wr_id(completion, value);
            ibv_wc.opcode(completion, Rdma.IBV_WC_RECV());
            ibv_wc.byte_len(completion, (int) other.region.length());
            FakeVerbs.complete(other.queue.handle(), completion);
        }
        other.region.memory().fill(value);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Covers({"ibv_post_send", "ibv_get_srq_num"})
    void aMessageNamesThePeersQueue(boolean extendedQueue) throws Exception {
        connect(extendedQueue, Set.of());
        for (int pair = 0; pair < XrcEnd.PAIRS; pair++) {
            arrive((byte) (pair + 1));
            one.message(other, pair, (byte) (pair + 1), false);
            assertThat(FakeVerbs.calls("post_send").getLast().arguments().getFirst())
                    .isEqualTo(one.senders.get(pair).handle().address());
            assertThat(remoteQueue()).isEqualTo(other.shared.number());
        }
    }

    @Test
    @Covers("ibv_wr_set_xrc_srqn")
    void aBatchNamesThePeersQueue() throws Exception {
        connect(false, Set.of(SendOperation.SEND));
        arrive((byte) 3);
        // batches do not complete by themselves here
        FakeVerbs.complete(one.queue.handle(), 0);
        one.message(other, 1, (byte) 3, false);
        assertThat(FakeVerbs.calls("wr_set_xrc_srqn").getLast().arguments())
                .startsWith(one.senders.get(1).handle().address(), (long) other.shared.number());
    }

    @Test
    @Covers("ibv_post_send")
    void anAtomicOperationNamesThePeersQueue() throws Exception {
        connect(false, Set.of());
        one.requester(other, 1).perform(request -> request.fetchAndAdd(other.region.remoteAddress(),
                other.region.remoteKey(), 2).data(one.region, 8, 8));
        assertThat(ibv_send_wr.opcode(posted())).isEqualTo(Rdma.IBV_WR_ATOMIC_FETCH_AND_ADD());
        assertThat(remoteQueue()).isEqualTo(other.shared.number());
    }
}
