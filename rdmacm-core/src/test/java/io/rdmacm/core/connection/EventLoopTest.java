// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;

import io.rdmacm.core.CmEvent;
import io.rdmacm.core.testing.FakeRdmaCm;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
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
