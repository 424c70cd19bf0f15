// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.wait.Deadline;
import org.junit.jupiter.api.Test;

@FakeRdmaCm.With
class EventLoopTest {
    /** Notes why it has failed. */
    private static final class Noting implements EventLoop.Handler {
        private final List<RdmaException> reasons = new ArrayList<>();

        @Override
        public void handle(CmEvent event) {
        }

        @Override
        public void fail(RdmaException reason) {
            reasons.add(reason);
        }
    }

    /** No event comes that would make the thread look for the task. */
    @Test
    void aTaskOfAnAlarmIsRun() throws Exception {
        EventLoop loop = EventLoop.start();
        CountDownLatch done = new CountDownLatch(1);
        loop.run(() -> loop.at(Deadline.after(Duration.ofMillis(1)), () -> loop.later(done::countDown)));
        assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
        loop.closeAll();
    }

    @Test
    void aTaskThatFailsDoesNotEndTheLoop() throws Exception {
        EventLoop loop = EventLoop.start();
        CountDownLatch done = new CountDownLatch(1);
        loop.later(() -> {
            throw new IllegalStateException("part of a test");
        });
        loop.later(done::countDown);
        assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
        loop.closeAll();
    }

    @Test
    void whoComesTooLateFailsAsTheOthersDid() throws Exception {
        EventLoop loop = EventLoop.start();
        Noting before = new Noting();
        loop.open(before);
        RdmaException reason = new RdmaClosedException("rdma_connect", "a test");
        loop.failAll(reason);
        Noting after = new Noting();
        loop.open(after);
        assertThat(before.reasons).containsExactly(reason);
        assertThat(after.reasons).containsExactly(reason);
        loop.closeAll();
    }
}
