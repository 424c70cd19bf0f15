// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.ReceiveRequest;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.LeavesNothing;
import io.rdmacm.verbs.testing.RequiresRdma;
import io.rdmacm.verbs.testing.TrafficEnd;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.WorkCompletion;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Messages and remote writes between the slices of two pools, and pools of a real device. */
@RequiresRdma
class RegisteredPoolDeviceTest {
    @RegisterExtension
    static final LeavesNothing LEAVES_NOTHING = LeavesNothing.behindAfter(() -> TrafficEnd.openDevice().close());

    private static final int SIZE = 192;
    private static final int MESSAGES = 300;
    private static final int RECEIVES = 4;

    private static RegisteredPool poolOf(TrafficEnd end) throws Exception {
        return RegisteredPool.builder(end.domain).sliceSize(SIZE).firstSlab(1)
                .access(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE).build();
    }

    private static void postReceive(TrafficEnd end, RegisteredSlice slice) throws Exception {
        ReceiveRequest request = ReceiveRequests.allocate(1, 1).get(0);
        end.post(request.data(slice.region(), slice.offset(), slice.length()));
    }

    @Test
    void messagesGoFromSliceToSlice() throws Exception {
        TrafficEnd[] ends = TrafficEnd.connected(new TrafficEnd.Builder().type(QueuePairType.RC).depth(RECEIVES));
        try (TrafficEnd from = ends[0]; TrafficEnd to = ends[1];
                RegisteredPool sources = poolOf(from); RegisteredPool targets = poolOf(to)) {
            SendRequest send = SendRequests.allocate(1, 1).get(0);
            List<RegisteredSlice> posted = new ArrayList<>();
            for (int i = 0; i < MESSAGES; i++) {
                while (posted.size() < RECEIVES) {
                    RegisteredSlice target = targets.take();
                    target.memory().fill((byte) 0);
                    postReceive(to, target);
                    posted.add(target);
                }
                try (RegisteredSlice source = sources.take(); RegisteredSlice arrived = posted.removeFirst()) {
                    source.memory().fill((byte) i);
                    from.pair.postSend(send.id(i).send().data(source.region(), source.offset(), source.length()));
                    assertThat(from.success().workRequestId()).isEqualTo(i);
                    WorkCompletion received = to.success();
                    assertThat(received.byteLength()).isEqualTo(SIZE);
                    assertThat(arrived.memory().mismatch(source.memory())).isEqualTo(-1);
                    assertThat(posted).allSatisfy(other -> assertThat(other.memory().toArray(ValueLayout.JAVA_BYTE))
                            .containsOnly(0));
                }
            }
            assertThat(sources.registeredBytes()).isEqualTo(SIZE);
            assertThat(targets.registeredBytes()).isEqualTo(7 * SIZE);
            to.pair.modify(QueuePairAttributes.toError());
            for (RegisteredSlice left : posted) {
                to.completion();
                left.close();
            }
        }
    }

    @Test
    void aPeerWritesIntoASliceAndNotBesideIt() throws Exception {
        TrafficEnd[] ends = TrafficEnd.connected(new TrafficEnd.Builder().type(QueuePairType.RC),
                AccessFlag.REMOTE_WRITE);
        try (TrafficEnd from = ends[0]; TrafficEnd to = ends[1];
                RegisteredPool sources = poolOf(from); RegisteredPool targets = poolOf(to)) {
            List<RegisteredSlice> all = new ArrayList<>();
            for (int i = 0; i < 7; i++) {
                all.add(targets.take());
            }
            try (RegisteredSlice source = sources.take()) {
                source.memory().fill((byte) 7);
                RegisteredSlice target = all.get(4);
                SendRequest write = SendRequests.allocate(1, 1).get(0);
                from.pair.postSend(write.rdmaWrite(target.region().remoteAddress() + target.offset(),
                        target.region().remoteKey()).data(source.region(), source.offset(), source.length()));
                from.success();
            }
            for (int i = 0; i < all.size(); i++) {
                assertThat(all.get(i).memory().toArray(ValueLayout.JAVA_BYTE)).containsOnly(i == 4 ? 7 : 0);
                all.get(i).close();
            }
        }
    }

    @Test
    void manyThreadsMakeAPoolGrow() throws Exception {
        try (VerbsContext context = TrafficEnd.openDevice();
                ProtectionDomain domain = context.allocateProtectionDomain()) {
            RegisteredPool pool = RegisteredPool.builder(domain).sliceSize(4096).firstSlab(1).maxSlab(8).build();
            List<Background<List<RegisteredSlice>>> threads = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                threads.add(Background.call(() -> {
                    List<RegisteredSlice> mine = new ArrayList<>();
                    for (int taken = 0; taken < 25; taken++) {
                        mine.add(pool.take());
                    }
                    return mine;
                }));
            }
            List<RegisteredSlice> all = new ArrayList<>();
            for (Background<List<RegisteredSlice>> thread : threads) {
                all.addAll(thread.result());
            }
            assertThat(all).extracting(slice -> slice.memory().address()).doesNotHaveDuplicates().hasSize(100);
            assertThat(pool.registeredBytes()).isEqualTo(103 * 4096);
            assertThatIllegalStateException().isThrownBy(pool::close).withMessageContaining("100 of its 103 slices");
            all.forEach(RegisteredSlice::close);
            assertThatIllegalStateException().isThrownBy(domain::close).withMessageContaining("RegisteredPool[");
            pool.close();
        }
    }
}
