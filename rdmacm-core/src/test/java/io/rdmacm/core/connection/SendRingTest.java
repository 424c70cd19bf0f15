// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.CmId;
import io.rdmacm.core.internal.engine.CmLoop;
import io.rdmacm.core.internal.engine.DeviceResources;
import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.WorkRequestException;
import io.rdmacm.verbs.internal.life.FailingSteps;
import io.rdmacm.verbs.pool.RegisteredPool;
import io.rdmacm.verbs.pool.RegisteredSlice;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The order of operations, which of them are signaled, and what becomes of those that the device refuses. */
@WithFakeVerbs
@FakeRdmaCm.With
class SendRingTest {
    private static final OperationHandler LATER = (connection, context, failure) -> {
    };

    private final List<String> told = new ArrayList<>();
    private final SendRing.Immediate telling = (connection, context, failure) ->
            told.add(context + (failure == null ? " done" : " " + failure.getClass().getSimpleName()));
    private FakeStack stack;
    private CmLoop loop;
    private DeviceResources device;
    private SendRing ring;

    @BeforeEach
    void open() throws Exception {
        stack = new FakeStack();
        FakeRdmaCm.shareWithVerbs();
        FakeRdmaCm.call("fake_context", stack.context().handle().address());
        loop = CmLoop.start();
        CmId id = DeviceResources.open(loop, new InetSocketAddress(InetAddress.ofLiteral("192.0.2.7"), 0));
        device = DeviceResources.create(loop, id);
        loop.close(id);
        ring = ring(8, 8);
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

    private SendRing ring(int sendBuffers, int operations) {
        return new SendRing(stack.queuePair(), device,
                ConnectionSettings.builder().sendBuffers(sendBuffers).operations(operations).build());
    }

    private void add(OperationHandler handler, RegisteredSlice slice) {
        ring.next().rdmaWrite(0, 0).noData();
        ring.add(handler, ring.last() + 1, slice, false);
    }

    private void add(int count) {
        for (int i = 0; i < count; i++) {
            add(telling, null);
        }
    }

    /** The ids that the driver saw: a list for each call. */
    private static List<List<Long>> posts() {
        List<List<Long>> posts = new ArrayList<>();
        for (FakeVerbs.Call call : FakeVerbs.calls()) {
            if (call.function().equals("post_send")) {
                posts.add(new ArrayList<>());
            }
            if (call.data().length > 0) {
                posts.getLast().add(MemorySegment.ofArray(call.data()).get(ValueLayout.JAVA_LONG_UNALIGNED, 0));
            }
        }
        return posts;
    }

    private List<Boolean> signaled(int count) {
        List<Boolean> signaled = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            add(null, null);
            signaled.add(ring.isLastSignaled());
        }
        return signaled;
    }

    @Test
    void oneInAQuarterOfTheRingIsSignaled() {
        assertThat(signaled(8)).containsExactly(false, false, false, true, false, false, false, true);
    }

    @Test
    void oneInAQuarterOfTheBuffersIsSignaled() throws RdmaException {
        List<Boolean> signaled = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            add(null, ring.takeSlice());
            signaled.add(ring.isLastSignaled());
        }
        assertThat(signaled).containsExactly(false, true, false, true, false, true);
        ring.abandon(new RdmaClosedException("a test", "ring"));
        ring.close();
    }

    @Test
    void whatSomebodyWaitsForIsSignaledAndTheCountBeginsAnew() {
        assertThat(signaled(2)).containsExactly(false, false);
        add(LATER, null);
        assertThat(ring.isLastSignaled()).isTrue();
        ring.next().rdmaWrite(0, 0).noData();
        ring.add(null, 0, null, true);
        assertThat(ring.isLastSignaled()).isTrue();
        assertThat(signaled(4)).containsExactly(false, false, false, true);
    }

    @Test
    void theLastPlaceIsAlwaysSignaled() throws RdmaException {
        ring = ring(8, 3);
        assertThat(signaled(11)).containsExactly(false, true, false, true, false, true, false, true, false, true,
                true);
        assertThat(ring.free()).isZero();
        ring.post(false);
        ring.complete(0, null);
        assertThat(ring.free()).isOne();
        assertThat(signaled(1)).containsExactly(true);
    }

    @Test
    void operationsThatWrapArePostedInTwoCalls() throws RdmaException {
        add(14);
        ring.post(false);
        ring.complete(13, null);
        assertThat(ring.free()).isEqualTo(16);
        add(5);
        assertThat(ring.hasUnposted()).isTrue();
        ring.post(false);
        assertThat(ring.hasUnposted()).isFalse();

        assertThat(posts()).hasSize(3).endsWith(List.of(14L, 15L), List.of(16L, 17L, 18L));
        ring.complete(18, null);
        assertThat(told).hasSize(19).endsWith("17 done", "18 done");
    }

    @Test
    void aCompletionIsThatOfAllBeforeIt() throws RdmaException {
        add(4);
        ring.post(false);
        add(1);
        assertThat(posts()).containsExactly(List.of(0L, 1L, 2L, 3L));

        ring.complete(2, null);
        assertThat(told).containsExactly("0 done", "1 done", "2 done");
        assertThat(ring.isCompleted(2)).isTrue();
        assertThat(ring.isCompleted(3)).isFalse();
        ring.complete(1, null);
        ring.complete(4, null);
        assertThat(told).as("an old one, and one that was not posted").hasSize(3);
        ring.post(false);
        ring.complete(4, null);
        assertThat(told).endsWith("3 done", "4 done");
        assertThat(ring.isEmpty()).isTrue();
    }

    @Test
    void allAfterTheFirstFailureHaveFailedAsItDid() throws RdmaException {
        add(4);
        ring.post(false);
        RdmaException first = new RdmaClosedException("a test", "first");
        ring.complete(1, first);
        ring.complete(3, new RdmaClosedException("a test", "second"));

        assertThat(told).containsExactly("0 done", "1 RdmaClosedException", "2 RdmaClosedException",
                "3 RdmaClosedException");
        assertThat(ring.failure()).isSameAs(first);
        assertThat(ring.failureOf(0)).isNull();
        assertThat(ring.failureOf(3)).isSameAs(first);
    }

    @Test
    void aPlaceIsFreeWhenItsHandlerWasCalled() throws RdmaException {
        add(null, null);
        add(LATER, null);
        add(null, null);
        ring.post(false);
        assertThat(ring.hasHandlers()).isTrue();
        assertThat(ring.hasReport()).isFalse();

        ring.complete(2, null);
        assertThat(ring.isEmpty()).isTrue();
        assertThat(ring.hasReport()).isTrue();
        assertThat(ring.free()).as("the first has no handler").isEqualTo(14);
    }

    @Test
    void aSingleOperationThatIsRefusedIsRetracted() throws RdmaException {
        FakeVerbs.fail("post_send", Rdma.ENOMEM());
        add(telling, ring.takeSlice());
        assertThatExceptionOfType(WorkRequestException.class).isThrownBy(() -> ring.post(true));

        assertThat(ring.free()).isEqualTo(16);
        assertThat(ring.hasUnposted()).isFalse();
        assertThat(ring.isEmpty()).isTrue();
        assertThat(ring.failure()).isNull();
        FakeVerbs.reset();
        add(1);
        ring.post(true);
        ring.complete(0, null);
        assertThat(posts()).containsExactly(List.of(0L));
        assertThat(told).containsExactly("0 done");
        ring.close();
        assertThat(pool().taken()).as("its buffer was given back").isZero();
    }

    @Test
    void aRetractedOperationLeavesWhatIsSignaledAsItWas() throws RdmaException {
        ring = ring(8, 8);
        add(1);
        add(null, null);
        ring.post(false);
        FakeVerbs.fail("post_send", Rdma.ENOMEM());
        add(1);
        assertThatExceptionOfType(WorkRequestException.class).isThrownBy(() -> ring.post(true));
        assertThat(ring.isLastSignaled()).as("nobody waits for the one before").isFalse();
    }

    @Test
    void ofSeveralOperationsThoseFailThatAreRefusedWhenTheOthersHaveCompleted() throws RdmaException {
        for (boolean retract : new boolean[] {false, true}) {
            told.clear();
            ring = ring(8, 8);
            FakeVerbs.fail("next_send", Rdma.ENOMEM(), 1);
            add(4);
            assertThatExceptionOfType(WorkRequestException.class).isThrownBy(() -> ring.post(retract));

            assertThat(ring.hasUnposted()).isFalse();
            assertThat(told).isEmpty();
            ring.complete(0, null);
            assertThat(told).containsExactly("0 done");
            ring.complete(1, null);
            assertThat(told).containsExactly("0 done", "1 done", "2 WorkRequestException", "3 WorkRequestException");
            assertThat(ring.isEmpty()).isTrue();
        }
    }

    @Test
    void ofSeveralOperationsTheLastAloneIsRetracted() throws RdmaException {
        FakeVerbs.fail("next_send", Rdma.ENOMEM(), 1);
        add(3);
        assertThatExceptionOfType(WorkRequestException.class).isThrownBy(() -> ring.post(true));

        assertThat(ring.last()).isOne();
        ring.complete(1, null);
        assertThat(told).containsExactly("0 done", "1 done");
        assertThat(ring.failure()).isNull();
    }

    @Test
    void operationsThatAreAllRefusedFailAtOnce() {
        FakeVerbs.fail("post_send", Rdma.ENOMEM());
        add(2);
        assertThatExceptionOfType(WorkRequestException.class).isThrownBy(() -> ring.post(false));
        assertThat(told).containsExactly("0 WorkRequestException", "1 WorkRequestException");
    }

    @Test
    void aClosedQueuePairRefusesAsADeviceDoes() throws RdmaException {
        stack.queuePair().close();
        add(2);
        assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(() -> ring.post(false))
                .withCauseInstanceOf(IllegalStateException.class);
        assertThat(told).containsExactly("0 RdmaClosedException", "1 RdmaClosedException");
    }

    @Test
    void whatAnErrorHasKeptFromBeingPostedIsNotPostedLater() throws Exception {
        // From now on, this thread has to take the queue from another one.
        Background.run(() -> {
            add(1);
            ring.post(true);
        }).result();
        for (int before : new int[] {0, 1}) {
            add(before);
            add(telling, ring.takeSlice());
            OutOfMemoryError error = new OutOfMemoryError("for a test");
            FailingSteps.failNext(error, () -> assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> ring.post(true)).withCause(error));
            assertThat(ring.hasUnposted()).isFalse();
            assertThat(ring.last()).as("retracted if it is alone").isEqualTo(before == 0 ? 0 : 2);
        }
        ring.complete(0, null);
        assertThat(told).containsExactly("0 done", "1 RdmaException", "2 RdmaException");
        ring.close();
        assertThat(pool().taken()).isZero();
        add(1);
        ring.post(true);
        assertThat(posts()).containsExactly(List.of(0L), List.of(3L));
    }

    @Test
    void whatIsAbandonedHasFailed() throws RdmaException {
        add(telling, null);
        add(telling, ring.takeSlice());
        ring.post(false);
        add(1);
        ring.complete(0, null);
        RdmaException reason = new RdmaClosedException("a test", "ring");
        ring.abandon(reason);

        assertThat(told).containsExactly("0 done", "1 RdmaClosedException", "2 RdmaClosedException");
        assertThat(ring.hasUnposted()).isFalse();
        assertThat(ring.isEmpty()).isTrue();
        ring.abandon(new RdmaClosedException("a test", "second"));
        assertThat(ring.failure()).isSameAs(reason);
        ring.close();
        assertThat(pool().taken()).isZero();
    }

    @Test
    void buffersAreTakenOnceAndUsedAgain() throws RdmaException {
        ring = ring(2, 8);
        RegisteredSlice first = ring.takeSlice();
        RegisteredSlice second = ring.takeSlice();
        assertThat(ring.hasSlice()).isFalse();
        add(null, first);
        ring.post(false);
        ring.complete(0, null);
        assertThat(ring.hasSlice()).isTrue();
        assertThat(ring.takeSlice()).isSameAs(first);
        assertThat(pool().taken()).isEqualTo(2);

        ring.giveBack(first);
        ring.close();
        assertThat(pool().taken()).as("a message that is being filled in keeps its buffer").isOne();
        ring.giveBack(second);
        assertThat(pool().taken()).isZero();
    }

    private RegisteredPool pool() throws RdmaException {
        return device.pool(ConnectionSettings.defaults().messageSize());
    }
}
