// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.time.Duration;

import io.rdmacm.verbs.AsyncEvent;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.device.AsyncEventType;
import io.rdmacm.verbs.testing.FakeMlx5;
import io.rdmacm.verbs.testing.WithFakeMlx5;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Asynchronous events that the card raises, through the real libmlx5. */
@WithFakeMlx5
class Mlx5EventsTest {
    private static final Duration LIMIT = Duration.ofSeconds(10);

    @ParameterizedTest
    @EnumSource(names = {"QP_FATAL", "QP_REQ_ERR", "QP_ACCESS_ERR", "SQ_DRAINED"})
    void anEventOfAQueuePairNamesIt(AsyncEventType type) throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            end.connection();
            QueuePair pair = end.connection();
            end.initiator();
            FakeMlx5.raise(type, pair);

            try (AsyncEvent event = end.context.getAsyncEvent(LIMIT)) {
                assertThat(event.type()).isEqualTo(type);
                assertThat(event.queuePair()).isSameAs(pair);
                assertThat(event.object()).containsSame(pair);
            }
            assertThat(end.context.pollAsyncEvent()).isEmpty();
        }
    }

    @Test
    void anEventOfAnInitiatorAndOfATargetNamesIt() throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            QueuePair initiator = end.initiator();
            QueuePair target = end.target(end.receives(), 1);
            FakeMlx5.raise(AsyncEventType.QP_FATAL, target);
            FakeMlx5.raise(AsyncEventType.QP_FATAL, initiator);

            try (AsyncEvent first = end.context.getAsyncEvent(LIMIT);
                    AsyncEvent second = end.context.getAsyncEvent(LIMIT)) {
                assertThat(first.queuePair()).isSameAs(target);
                assertThat(second.queuePair()).isSameAs(initiator);
            }
        }
    }

    @Test
    void anEventOfACompletionQueueNamesIt() throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            FakeMlx5.raise(AsyncEventType.CQ_ERR, end.completions);

            AsyncEvent event = end.context.getAsyncEvent(LIMIT);
            assertThat(event.type()).isEqualTo(AsyncEventType.CQ_ERR);
            assertThat(event.completionQueue()).isSameAs(end.completions);
            assertThatIllegalStateException().isThrownBy(end.completions::close).withMessageContaining("AsyncEvent");
            event.close();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"DEVICE_FATAL", "PORT_ERR", "PORT_ACTIVE", "GID_CHANGE"})
    void anEventOfTheCardNamesNoObject(AsyncEventType type) throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            FakeMlx5.raise(type, Mlx5End.PORT);

            try (AsyncEvent event = end.context.getAsyncEvent(LIMIT)) {
                assertThat(event.type()).isEqualTo(type);
                assertThat(event.object()).isEmpty();
                if (type.source() == AsyncEventType.Source.PORT) {
                    assertThat(event.port()).isEqualTo(Mlx5End.PORT);
                } else {
                    assertThatIllegalStateException().isThrownBy(event::port).withMessageContaining("names no port");
                }
            }
        }
    }

    @Test
    void aQueuePairIsClosedAfterItsEvent() throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            Mlx5QueuePair pair = end.connection();
            FakeMlx5.raise(AsyncEventType.QP_FATAL, pair);
            AsyncEvent event = end.context.getAsyncEvent(LIMIT);

            assertThatIllegalStateException().isThrownBy(pair::close).withMessageContaining("AsyncEvent");
            assertThat(pair.isOpen()).isTrue();
            event.close();
            pair.close();
            assertThat(pair.isOpen()).isFalse();
        }
    }

    /** C would wait for the acknowledgement of an event that it has read. */
    @Test
    void anEventThatNobodyFetchedGoesWithItsQueuePair() throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            Mlx5QueuePair unwatched = end.connection();
            FakeMlx5.raise(AsyncEventType.QP_FATAL, unwatched);
            unwatched.close();
            assertThat(end.context.pollAsyncEvent()).isEmpty();

            Mlx5QueuePair watched = end.connection();
            FakeMlx5.raise(AsyncEventType.QP_FATAL, watched);
            FakeMlx5.raise(AsyncEventType.PORT_ERR, Mlx5End.PORT);
            watched.close();
            try (AsyncEvent left = end.context.getAsyncEvent(LIMIT)) {
                assertThat(left.type()).isEqualTo(AsyncEventType.PORT_ERR);
            }
            assertThat(end.context.pollAsyncEvent()).isEmpty();
        }
    }
}
