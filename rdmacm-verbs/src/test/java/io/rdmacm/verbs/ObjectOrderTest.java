// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_qp_attr;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.ContextPin;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.internal.wait.Poller;
import io.rdmacm.verbs.queue.QueuePairCapabilities;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.ResourceCounts;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import io.rdmacm.verbs.work.AccessFlag;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Objects are made with the right calls, close in the right order only, and survive failures of C. */
@WithFakeVerbs
class ObjectOrderTest {
    private FakeStack stack;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
    }

    @AfterEach
    void close() throws RdmaException {
        stack.close();
    }

    private static void assertRefused(NativeObject parent, NativeObject... children) {
        FakeVerbs.reset();
        assertThatIllegalStateException().isThrownBy(parent::close)
                .withMessageStartingWith(parent + " cannot be closed while it has open children, close them first: ")
                .withMessageEndingWith(": " + String.join(", ", List.of(children).stream().map(Object::toString)
                        .toList()));
        assertThat(parent.isOpen()).isTrue();
        assertThat(FakeVerbs.calls()).describedAs("nothing was changed").isEmpty();
    }

    @Test
    void eachParentRefusesWhileAChildIsOpen() throws RdmaException {
        assertRefused(stack.context(), stack.domain(), stack.channel(), stack.queue());
        assertRefused(stack.domain(), stack.region(), stack.queuePair());
        assertRefused(stack.queue(), stack.queuePair());
        assertRefused(stack.channel(), stack.queue());

        stack.queuePair().close();
        assertRefused(stack.domain(), stack.region());
        assertRefused(stack.channel(), stack.queue());
        stack.queue().close();
        stack.channel().close();
        assertRefused(stack.context(), stack.domain());
        stack.region().close();
        stack.domain().close();
        stack.context().close();
        assertThat(FakeVerbs.live().values()).containsOnly(0);
    }

    @Test
    void messagesNameEachObject() {
        assertThat(stack.context()).hasToString("VerbsContext[fake0]");
        assertThat(stack.domain()).hasToString("ProtectionDomain[0x" + hex(stack.domain()) + "]");
        assertThat(stack.region()).hasToString("MemoryRegion[4096 bytes, lkey 0x"
                + Integer.toHexString(stack.region().localKey()) + ", rkey 0x"
                + Integer.toHexString(stack.region().remoteKey()) + "]");
        assertThat(stack.channel()).hasToString("CompletionChannel[fd " + stack.channel().fd() + "]");
        assertThat(stack.queue()).hasToString("CompletionQueue[16 entries at 0x" + hex(stack.queue()) + "]");
        assertThat(stack.queuePair()).hasToString("QueuePair[RC 0x"
                + Integer.toHexString(stack.queuePair().number()) + "]");
    }

    private static String hex(NativeObject object) {
        return Long.toHexString(object.handle().address());
    }

    @Test
    void tryWithResourcesClosesInOrder() throws RdmaException {
        FakeVerbs.reset();
        try (FakeStack inner = new FakeStack()) {
            assertThat(inner.queuePair().isOpen()).isTrue();
        }
        assertThat(FakeVerbs.functions()).filteredOn(function -> !function.matches("ibv_get_device_(name|guid|index)"))
                .containsExactly("ibv_get_device_list", "ibv_free_device_list",
                "ibv_get_device_list", "ibv_open_device", "ibv_free_device_list", "ibv_alloc_pd", "ibv_reg_mr",
                "ibv_create_comp_channel", "ibv_create_cq", "ibv_create_qp", "ibv_destroy_qp", "ibv_get_cq_event",
                "ibv_destroy_cq", "ibv_destroy_comp_channel", "ibv_dereg_mr", "ibv_dealloc_pd", "ibv_close_device");
    }

    @Test
    void aSecondCloseDoesNothing() throws RdmaException {
        stack.close();
        FakeVerbs.reset();

        stack.close();

        assertThat(FakeVerbs.calls()).isEmpty();
        assertThat(stack.queuePair().toString()).endsWith("] (closed)");
    }

    @Test
    void aFailedDestroyLeavesTheObjectOpenAndClosable() throws RdmaException {
        record Destroy(NativeObject object, String function) {
        }

        for (Destroy destroy : List.of(new Destroy(stack.queuePair(), "ibv_destroy_qp"),
                new Destroy(stack.queue(), "ibv_destroy_cq"),
                new Destroy(stack.channel(), "ibv_destroy_comp_channel"),
                new Destroy(stack.region(), "ibv_dereg_mr"),
                new Destroy(stack.domain(), "ibv_dealloc_pd"),
                new Destroy(stack.context(), "ibv_close_device"))) {
            FakeVerbs.fail(destroy.function(), Rdma.EBUSY());

            assertThatThrownBy(() -> destroy.object().close())
                    .isInstanceOfSatisfying(RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Rdma.EBUSY()))
                    .hasMessageStartingWith(destroy.function() + ": EBUSY");

            assertThat(destroy.object().isOpen()).isTrue();
            assertStillWorks();
            destroy.object().close();
            assertThat(destroy.object().isOpen()).isFalse();
        }
    }

    /** Uses what is open. */
    private void assertStillWorks() throws RdmaException {
        if (stack.queuePair().isOpen()) {
            stack.queuePair().postSend(SendRequests.allocate(1, 1).get(0));
            stack.queuePair().postReceive(ReceiveRequests.allocate(1, 1).get(0));
        }
        if (stack.queue().isOpen()) {
            assertThat(stack.queue().poll(WorkCompletions.allocate(1))).isZero();
        }
        if (stack.channel().isOpen()) {
            assertThat(stack.channel().pollEvent()).isEmpty();
        }
        if (stack.region().isOpen()) {
            assertThat(stack.region().memory().get(ValueLayout.JAVA_BYTE, 0)).isZero();
        }
    }

    @FunctionalInterface
    private interface Creation {
        NativeObject create() throws RdmaException;
    }

    @Test
    void aFailedCreationLeavesNothingBehind() {
        QueuePairInitAttributes attributes = QueuePairInitAttributes.builder().completionQueue(stack.queue()).build();
        Map<String, Creation> creations = Map.of(
                "ibv_open_device", () -> Device.list().getFirst().open(),
                "ibv_alloc_pd", () -> stack.context().allocateProtectionDomain(),
                "ibv_reg_mr", () -> stack.domain().allocate(1),
                "ibv_reg_mr_iova2", () -> stack.domain().allocate(1, AccessFlag.RELAXED_ORDERING),
                "ibv_create_comp_channel", () -> stack.context().createCompletionChannel(),
                "ibv_create_cq", () -> stack.context().createCompletionQueue(1, stack.channel()),
                "ibv_create_qp", () -> stack.domain().createQueuePair(attributes));
        long openBefore = Lifetime.openObjects();
        Map<FakeVerbs.Kind, Integer> liveBefore = FakeVerbs.live();

        creations.forEach((function, creation) -> {
            FakeVerbs.fail(function, Rdma.ENOMEM());
            assertThatThrownBy(creation::create).isInstanceOf(RdmaException.class)
                    .hasMessageStartingWith(function).hasMessageContaining("ENOMEM");
        });

        assertThat(Lifetime.openObjects()).isEqualTo(openBefore);
        assertThat(FakeVerbs.live()).isEqualTo(liveBefore);
        assertRefused(stack.channel(), stack.queue());
        assertRefused(stack.domain(), stack.region(), stack.queuePair());
    }

    @Test
    void childrenOfAClosedParentAreRefusedBeforeAnyNativeCall() throws RdmaException {
        QueuePairInitAttributes attributes = QueuePairInitAttributes.builder().completionQueue(stack.queue()).build();
        stack.queuePair().close();
        stack.queue().close();
        FakeVerbs.reset();

        assertThatIllegalStateException().isThrownBy(() -> stack.domain().createQueuePair(attributes));

        assertThat(FakeVerbs.calls()).isEmpty();
        assertRefused(stack.domain(), stack.region());
    }

    @Test
    void objectsOfAnotherContextAreRefused() throws RdmaException {
        try (FakeStack other = new FakeStack()) {
            FakeVerbs.reset();
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> stack.context().createCompletionQueue(1, other.channel()))
                    .withMessageContaining("another context");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> stack.domain().createQueuePair(
                            QueuePairInitAttributes.builder().sendCompletionQueue(stack.queue())
                                    .receiveCompletionQueue(other.queue())
                                    .build()))
                    .withMessageContaining("another context");
            assertThat(FakeVerbs.calls()).isEmpty();
        }
    }

    @Test
    void wrongSizesAreRefusedBeforeAnyNativeCall() {
        FakeVerbs.reset();
        assertThatIllegalArgumentException().isThrownBy(() -> stack.context().createCompletionQueue(0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> stack.context().createCompletionQueue(1, stack.channel(), 2));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> stack.context().createCompletionQueue(1, stack.channel(), -1));
        assertThatIllegalArgumentException().isThrownBy(() -> QueuePairInitAttributes.builder()
                .completionQueue(stack.queue()).maxInlineData(-1).build());
        assertThat(FakeVerbs.calls()).isEmpty();
    }

    @Test
    void devicesAreListedAndOpenedByName() throws RdmaException {
        FakeVerbs.devices(3);
        List<Device> devices = Device.list();
        assertThat(devices).extracting(Device::name).containsExactly("fake0", "fake1", "fake2");
        try (VerbsContext context = devices.get(2).open()) {
            assertThat(context.deviceName()).isEqualTo("fake2");
            assertThat(context.completionVectors()).isEqualTo(2);
        }

        FakeVerbs.devices(0);
        assertThat(Device.list()).isEmpty();
        assertThatThrownBy(() -> devices.get(2).open()).isInstanceOf(RdmaException.class)
                .hasMessageContaining("there is no RDMA device fake2");
        assertThat(FakeVerbs.live()).containsEntry(FakeVerbs.Kind.LIST, 0);
    }

    @Test
    void aCompletionQueueIsMadeWithItsChannelAndVector() throws RdmaException {
        FakeVerbs.reset();
        try (CompletionQueue queue = stack.context().createCompletionQueue(100, stack.channel(), 1);
                CompletionQueue polled = stack.context().createCompletionQueue(3)) {
            long context = stack.context().handle().address();
            assertThat(FakeVerbs.calls("ibv_create_cq").get(0).arguments())
                    .startsWith(context, 100L, 0L, stack.channel().handle().address(), 1L);
            assertThat(FakeVerbs.calls("ibv_create_cq").get(1).arguments()).startsWith(context, 3L, 0L, 0L, 0L);
            assertThat(queue.capacity()).isEqualTo(128);
            assertThat(queue.channel()).containsSame(stack.channel());
            assertThat(queue.context()).isSameAs(stack.context());
            assertThat(polled.channel()).isEmpty();
        }
    }

    @Test
    void aQueuePairIsMadeWithItsAttributesAndHasTheDevicesSizes() throws RdmaException {
        FakeVerbs.reset();
        QueuePairInitAttributes attributes = QueuePairInitAttributes.builder().type(QueuePairType.UD)
                .completionQueue(stack.queue()).maxSendRequests(5).maxReceiveRequests(6).maxSendScatterGather(7)
                .maxReceiveScatterGather(8).maxInlineData(9).signalAll(true).build();
        try (QueuePair pair = stack.domain().createQueuePair(attributes)) {
            assertThat(pair.type()).isEqualTo(QueuePairType.UD);
            assertThat(pair.capabilities()).isEqualTo(new QueuePairCapabilities(10, 24, 7, 8, 9));
            assertThat(pair.handle().address()).isNotZero();
            FakeVerbs.Call call = FakeVerbs.calls("ibv_create_qp").getFirst();
            assertThat(call.arguments().getFirst()).isEqualTo(stack.domain().handle().address());
            CInit init = CInit.of(call.data());
            assertThat(init).isEqualTo(new CInit(stack.queue().handle().address(), stack.queue().handle().address(),
                    5, 6, 7, 8, 9, Rdma.IBV_QPT_UD(), 1));
        }
    }

    /** The members of ibv_qp_init_attr, where verbs.h has them on all 64-bit machines. */
    private record CInit(long sendCompletionQueue, long receiveCompletionQueue, int sends, int receives,
            int sendEntries,
            int receiveEntries, int inline, int type, int signalAll) {
        static CInit of(byte[] bytes) {
            ByteBuffer data = ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
            return new CInit(data.getLong(8), data.getLong(16), data.getInt(32), data.getInt(36), data.getInt(40),
                    data.getInt(44), data.getInt(48), data.getInt(52), data.getInt(56));
        }
    }

    @Test
    void theStateOfAQueuePairIsReadAndSetToError() throws RdmaException {
        assertThat(stack.queuePair().state()).isEqualTo(QueuePairState.RESET);
        FakeVerbs.reset();

        stack.queuePair().modifyToError();

        FakeVerbs.Call call = FakeVerbs.calls("ibv_modify_qp").getFirst();
        assertThat(call.arguments().get(2)).isEqualTo(Rdma.IBV_QP_STATE());
        assertThat(call.data()).hasSize((int) ibv_qp_attr.sizeof());
        assertThat(stack.queuePair().state()).isEqualTo(QueuePairState.ERROR);
        FakeVerbs.fail("ibv_query_qp", Rdma.EIO());
        assertThatThrownBy(() -> stack.queuePair().state()).isInstanceOf(RdmaException.class)
                .hasMessageContaining("EIO");
    }

    @Test
    void aContextOfLibrdmacmIsOneObjectAndNeverCloses() throws RdmaException {
        long address = stack.context().handle().address();
        long openBefore = Lifetime.openObjects();
        Pin pin = new Pin();
        VerbsContext context = VerbsContext.ofConnectionManager(address, () -> pin);

        context.close();

        assertThat(context.isOpen()).isTrue();
        assertThat(VerbsContext.ofConnectionManager(address, () -> pin)).isSameAs(context);
        assertThat(Lifetime.openObjects()).isEqualTo(openBefore);
        assertThat(FakeVerbs.calls("ibv_close_device")).isEmpty();
        assertThat(pin.calls).isEmpty();
        context.life().replaced();
    }

    @Test
    void aContextOfLibrdmacmIsHeldWhileItIsUsedAndNothingElseKeepsIt() throws RdmaException {
        Pin pin = new Pin();
        VerbsContext context = VerbsContext.ofConnectionManager(stack.context().handle().address(), () -> pin);
        context.completionVectors();
        assertThat(pin.calls).isEmpty();
        pin.kept = false;
        context.completionVectors();
        assertThat(pin.calls).containsExactly("pin", "unpin");
        pin.calls.clear();
        try (ProtectionDomain domain = context.allocateProtectionDomain()) {
            context.completionVectors();
            assertThat(domain.isOpen()).isTrue();
            assertThat(pin.calls).containsExactly("pin");
        }
        assertThat(pin.calls).containsExactly("pin", "unpin");
        context.life().replaced();
    }

    @Test
    void theLastReasonToKeepAContextIsRefusedToGoOnlyWhileItIsUsedAndCannotBeHeld() throws RdmaException {
        Pin pin = new Pin();
        VerbsContext context = VerbsContext.ofConnectionManager(stack.context().handle().address(), () -> pin);
        assertThat(pin.pinIfInUse()).isTrue();
        try (ProtectionDomain domain = context.allocateProtectionDomain()) {
            pin.there = false;
            pin.kept = false;
            assertThat(pin.pinIfInUse()).isFalse();
            pin.there = true;
            assertThat(pin.pinIfInUse()).isTrue();
            assertThat(domain.isOpen()).isTrue();
        }
        assertThat(pin.calls).containsExactly("pin", "pin", "unpin");
        context.life().replaced();
    }

    @Test
    void aContextThatLibrdmacmHasFreedIsClosed() throws Exception {
        long address = stack.context().handle().address();
        Pin pin = new Pin();
        VerbsContext context = VerbsContext.ofConnectionManager(address, () -> pin);
        try (Background<AsyncEvent> waiting = Background.call(() -> context.getAsyncEvent(Duration.ofDays(1)))) {
            waiting.awaitInside(Poller.class, "await").interrupt();
            assertThatThrownBy(waiting::result).isInstanceOf(InterruptedException.class);
        }
        int files = ResourceCounts.now().files();
        pin.kept = false;
        pin.there = false;

        assertThatIllegalStateException().isThrownBy(context::allocateProtectionDomain)
                .withMessage("VerbsContext is closed");
        assertThat(context.isOpen()).isFalse();
        // what the wait had opened
        assertThat(ResourceCounts.now().files()).isLessThan(files);
        assertThatIllegalStateException().isThrownBy(context::completionVectors);
        // what comes to lie at its place is another one
        VerbsContext other = VerbsContext.ofConnectionManager(address, Pin::new);
        assertThat(other).isNotSameAs(context);
        assertThat(other.completionVectors()).isPositive();
        other.life().replaced();
        assertThat(other.isOpen()).isFalse();
    }

    /** What librdmacm does, as a test says. */
    private static final class Pin extends ContextPin {
        final List<String> calls = new ArrayList<>();
        boolean kept = true;
        boolean there = true;

        @Override
        protected boolean isKeptByC() {
            return kept;
        }

        @Override
        protected boolean pin() {
            calls.add("pin");
            return there;
        }

        @Override
        protected void unpin() {
            calls.add("unpin");
        }
    }

    @Test
    void aCloseWaitsForAPostOfAnotherThread() throws Exception {
        FakeVerbs.hold("post_send");
        SendRequest request = SendRequests.allocate(1, 1).get(0);
        try (Background<Void> poster = Background.run(() -> stack.queuePair().postSend(request))) {
            FakeVerbs.awaitHeld();
            try (Background<Void> closer = Background.run(stack.queuePair()::close)) {
                closer.awaitInside(QueuePair.class, "destroy");
                assertThat(FakeVerbs.calls("ibv_destroy_qp")).isEmpty();
                FakeVerbs.release();
                closer.result();
                poster.result();
            }
        }
        assertThatIllegalStateException().isThrownBy(() -> stack.queuePair().postSend(request));
    }
}
