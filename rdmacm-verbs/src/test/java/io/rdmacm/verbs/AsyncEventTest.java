// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_async_event;
import io.rdmacm.bindings.ibv_context;
import io.rdmacm.verbs.device.AsyncEventType;
import io.rdmacm.verbs.device.AsyncEventType.Source;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.internal.wait.Wait;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.FakeVerbs;
import io.rdmacm.verbs.testing.ReplacedField;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Asynchronous events name the objects of the program, and keep them until they are acknowledged. */
@WithFakeVerbs
class AsyncEventTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private static final Set<Source> OBJECTS = Set.of(Source.QUEUE_PAIR, Source.COMPLETION_QUEUE,
            Source.SHARED_RECEIVE_QUEUE);

    private FakeStack stack;
    private SharedReceiveQueue shared;

    @BeforeEach
    void open() throws RdmaException {
        stack = new FakeStack();
        shared = stack.domain().createSharedReceiveQueue(SharedReceiveQueueInitAttributes.builder().build());
    }

    @AfterEach
    void close() throws RdmaException {
        shared.close();
        stack.close();
    }

    static Stream<AsyncEventType> ofAnObject() {
        return EnumSet.allOf(AsyncEventType.class).stream()
                .filter(type -> OBJECTS.contains(type.source()));
    }

    static Stream<AsyncEventType> ofAPort() {
        return EnumSet.allOf(AsyncEventType.class).stream().filter(type -> type.source() == Source.PORT);
    }

    private NativeObject objectOf(AsyncEventType type) {
        return switch (type.source()) {
            case QUEUE_PAIR -> stack.queuePair();
            case COMPLETION_QUEUE -> stack.queue();
            default -> shared;
        };
    }

    private void raise(AsyncEventType type, NativeObject object) {
        FakeVerbs.async(stack.context().handle(), type.value(), object.handle().address());
    }

    private void raise(AsyncEventType type, int port) {
        FakeVerbs.async(stack.context().handle(), type.value(), port);
    }

    /** As a virtual thread may that is about to wait, for which a close does not wait. */
    @Test
    void whoAsksFirstAfterTheCloseDoesNotReadTheContext() throws Exception {
        VerbsContext context = Device.list().getFirst().open();
        context.close();
        assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(() -> context.events().next(TIMEOUT));
        assertThatExceptionOfType(RdmaClosedException.class).isThrownBy(() -> context.events().fd());
    }

    @Test
    void theTypesAreThoseOfTheHeader() {
        assertThat(EnumSet.complementOf(EnumSet.of(AsyncEventType.OTHER)).stream().map(AsyncEventType::value))
                .containsExactlyElementsOf(Stream.iterate(Rdma.IBV_EVENT_CQ_ERR(), i -> i + 1).limit(21).toList());
    }

    @ParameterizedTest
    @MethodSource("ofAnObject")
    @Covers({"ibv_get_async_event", "ibv_ack_async_event"})
    void anEventNamesItsObjectAndKeepsIt(AsyncEventType type) throws Exception {
        NativeObject object = objectOf(type);
        if (object == stack.queue()) {
            stack.queuePair().close();
        }
        raise(type, object);
        try (AsyncEvent event = stack.context().getAsyncEvent(TIMEOUT)) {
            assertThat(event.type()).isEqualTo(type);
            assertThat(event.object()).containsSame(object);
            assertThat(event.context()).isSameAs(stack.context());
            assertThat(event).hasToString("AsyncEvent[" + type + " of " + object + "]");
            assertThat(ibv_async_event.event_type(event.handle())).isEqualTo(type.value());
            FakeVerbs.reset();
            assertThatIllegalStateException().isThrownBy(object::close).withMessageContaining(event.toString());
            assertThat(FakeVerbs.calls()).describedAs("C would hang").isEmpty();
            assertThatIllegalStateException().isThrownBy(event::port).withMessageContaining("names no port");
        }
        assertThat(FakeVerbs.calls("ibv_ack_async_event")).singleElement()
                .satisfies(call -> assertThat(call.data()).startsWith(longBytes(object.handle().address())));
        object.close();
    }

    /** Nothing is found there. */
    private static final class NoMemory extends ConcurrentHashMap<Long, Object> {
        private static final long serialVersionUID = 1L;

        @Override
        public Object get(Object address) {
            throw new OutOfMemoryError("in a test");
        }
    }

    @Test
    void anEventThatThereIsNoMemoryForIsReadLater() throws Exception {
        raise(AsyncEventType.COMM_EST, stack.queuePair());
        try (var _ = new ReplacedField(stack.context().events(), "objects", new NoMemory())) {
            assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(stack.context()::pollAsyncEvent);
        }
        try (AsyncEvent event = stack.context().pollAsyncEvent().orElseThrow()) {
            assertThat(event.object()).containsSame(stack.queuePair());
        }
        assertThat(stack.context().pollAsyncEvent()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theSuccessorAtTheAddressOfADestroyedObjectIsNamed(boolean reading) throws Exception {
        if (reading) {
            stack.context().asyncFd();
        }
        new Predecessor(stack.queuePair()).close();

        raise(AsyncEventType.COMM_EST, stack.queuePair());
        try (AsyncEvent event = stack.context().getAsyncEvent(TIMEOUT)) {
            assertThat(event.object()).containsSame(stack.queuePair());
        }
    }

    /** An object whose address another thread gets for a new one as soon as it is destroyed. */
    private static final class Predecessor extends NativeObject {
        private final QueuePair successor;

        private Predecessor(QueuePair successor) {
            super(Lifetime.begin(Predecessor.class), successor.address(), 0);
            this.successor = successor;
            successor.context().events().add(this);
        }

        @Override
        protected void destroy() throws RdmaException {
            AsyncEvents events = successor.context().events();
            events.destroy(this, () -> events.add(successor));
        }
    }

    private static byte[] longBytes(long value) {
        return ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder()).putLong(value).array();
    }

    @Test
    void theAccessorsAreTyped() throws Exception {
        raise(AsyncEventType.COMM_EST, stack.queuePair());
        raise(AsyncEventType.CQ_ERR, stack.queue());
        try (AsyncEvent event = stack.context().getAsyncEvent(TIMEOUT)) {
            assertThat(event.queuePair()).isSameAs(stack.queuePair());
            assertThatIllegalStateException().isThrownBy(event::completionQueue)
                    .withMessageContaining("names no CompletionQueue");
        }
        try (AsyncEvent event = stack.context().getAsyncEvent(TIMEOUT)) {
            assertThat(event.completionQueue()).isSameAs(stack.queue());
            assertThatIllegalStateException().isThrownBy(event::sharedReceiveQueue)
                    .withMessageContaining("names no SharedReceiveQueue");
            assertThatIllegalStateException().isThrownBy(event::queuePair).withMessageContaining("names no QueuePair");
        }
    }

    @ParameterizedTest
    @MethodSource("ofAPort")
    void anEventNamesItsPort(AsyncEventType type) throws Exception {
        raise(type, 2);
        try (AsyncEvent event = stack.context().getAsyncEvent(TIMEOUT)) {
            assertThat(event.type()).isEqualTo(type);
            assertThat(event.port()).isEqualTo(2);
            assertThat(event.object()).isEmpty();
            assertThat(event).hasToString("AsyncEvent[" + type + " of port 2 of fake0]");
            assertThatIllegalStateException().isThrownBy(event::queuePair);
        }
    }

    @Test
    void anEventOfTheDeviceNamesNothingElse() throws Exception {
        raise(AsyncEventType.DEVICE_FATAL, 0);
        FakeVerbs.async(stack.context().handle(), 77, 1);
        try (AsyncEvent event = stack.context().getAsyncEvent(TIMEOUT)) {
            assertThat(event).hasToString("AsyncEvent[DEVICE_FATAL of fake0]");
            assertThatIllegalStateException().isThrownBy(event::port);
            assertThatIllegalStateException().isThrownBy(stack.context()::close)
                    .withMessageContaining(event.toString());
        }
        try (AsyncEvent event = stack.context().getAsyncEvent(TIMEOUT)) {
            assertThat(event.type()).isEqualTo(AsyncEventType.OTHER);
        }
    }

    @Test
    void whatNobodyTookIsAcknowledgedWithItsObject() throws Exception {
        assertThat(stack.context().pollAsyncEvent()).isEmpty();
        raise(AsyncEventType.CQ_ERR, stack.queue());
        raise(AsyncEventType.COMM_EST, stack.queuePair());
        raise(AsyncEventType.QP_LAST_WQE_REACHED, stack.queuePair());
        raise(AsyncEventType.PORT_ERR, 1);

        stack.queuePair().close();

        assertThat(FakeVerbs.calls("ibv_ack_async_event")).hasSize(2);
        try (AsyncEvent event = stack.context().pollAsyncEvent().orElseThrow()) {
            assertThat(event.completionQueue()).isSameAs(stack.queue());
        }
        try (AsyncEvent event = stack.context().pollAsyncEvent().orElseThrow()) {
            assertThat(event.type()).isEqualTo(AsyncEventType.PORT_ERR);
        }
        assertThat(stack.context().pollAsyncEvent()).isEmpty();
    }

    @Test
    void nothingIsReadForProgramsThatDoNotAsk() throws Exception {
        raise(AsyncEventType.PORT_ERR, 1);
        shared.close();
        stack.close();
        assertThat(FakeVerbs.calls("ibv_get_async_event")).isEmpty();
    }

    @Test
    void aWaitEndsWithAnEventATimeoutAnInterruptAndAClose() throws Exception {
        assertThatExceptionOfType(RdmaTimeoutException.class)
                .isThrownBy(() -> stack.context().getAsyncEvent(Duration.ofMillis(1)))
                .withMessageContaining("no asynchronous event within PT0.001S");
        try (Background<AsyncEventType> waiter = Background.call(this::take)) {
            waiter.awaitInside(Wait.class, "lead");
            raise(AsyncEventType.GID_CHANGE, 1);
            assertThat(waiter.result()).isEqualTo(AsyncEventType.GID_CHANGE);
        }
        try (Background<AsyncEventType> waiter = Background.call(this::take)) {
            waiter.awaitInside(Wait.class, "lead");
            waiter.interrupt();
            assertThatThrownBy(waiter::result).isInstanceOf(InterruptedException.class);
        }
        VerbsContext other = Device.list().getFirst().open();
        try (Background<AsyncEvent> waiter = Background.call(() -> other.getAsyncEvent(TIMEOUT))) {
            waiter.awaitInside(Wait.class, "lead");
            other.close();
            assertThatThrownBy(waiter::result).isInstanceOf(RdmaClosedException.class)
                    .hasMessageContaining("VerbsContext[fake0]");
        }
    }

    private AsyncEventType take() throws Exception {
        try (AsyncEvent event = stack.context().getAsyncEvent(TIMEOUT)) {
            return event.type();
        }
    }

    @Test
    void anErrorOfTheReadIsReported() {
        FakeVerbs.fail("ibv_get_async_event", Rdma.EIO());
        assertThatThrownBy(() -> stack.context().pollAsyncEvent()).isInstanceOf(RdmaException.class)
                .hasMessageStartingWith("ibv_get_async_event: EIO");
    }

    @Test
    void anObjectClosesAlthoughEventsCannotBeRead() throws Exception {
        assertThat(stack.context().pollAsyncEvent()).isEmpty();
        // what the kernel says when the device was removed
        FakeVerbs.fail("ibv_get_async_event", Rdma.EIO());
        stack.queuePair().close();
        assertThat(FakeVerbs.calls("ibv_destroy_qp")).hasSize(1);
    }

    @Test
    void aFailedDestroyLeavesTheObjectUsable() throws Exception {
        assertThat(stack.context().pollAsyncEvent()).isEmpty();
        FakeVerbs.fail("ibv_destroy_qp", Rdma.EBUSY());
        assertThatThrownBy(() -> stack.queuePair().close()).isInstanceOf(RdmaException.class);
        raise(AsyncEventType.QP_FATAL, stack.queuePair());
        try (AsyncEvent event = stack.context().getAsyncEvent(TIMEOUT)) {
            assertThat(event.queuePair()).isSameAs(stack.queuePair());
        }
    }

    @Test
    void theFileDescriptorIsThatOfTheContext() throws Exception {
        MemorySegment context = stack.context().handle();
        assertThat(stack.context().asyncFd()).isEqualTo(ibv_context.async_fd(context));
    }

    @ParameterizedTest
    @EnumSource(value = AsyncEventType.class, mode = EnumSource.Mode.EXCLUDE, names = "OTHER")
    @Covers("ibv_event_type_str")
    void theTextIsThatOfC(AsyncEventType type) throws Exception {
        assertThat(type.text()).isEqualTo("event " + type.value());
        assertThat(AsyncEventType.of(type.value())).isEqualTo(type);
    }
}
