// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.AsyncEvent;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.device.AsyncEventType;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.FakeMlx5;
import io.rdmacm.verbs.testing.WithFakeMlx5;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.Test;

/** The shared receive queue of targets of dynamic connections: what it tells, and what the card tells of it. */
@WithFakeMlx5
class Mlx5SharedReceivesTest {
    private static final long KEY = 0x1122334455667788L;
    private static final int MESSAGES = 2;
    // the number of requests of the write interface
    private static final int COMMANDS = -1;
    private static final int MODIFY_SRQ = 33;

    @Test
    void theCardTellsOnceThatReceivesRunOut() throws Exception {
        try (Mlx5End one = new Mlx5End(); Mlx5End other = new Mlx5End()) {
            AddressHandle handle = one.own(one.domain.createAddressHandle(Mlx5End.path()));
            SharedReceiveQueue receives = other.receives();
            receives.postReceive(other.receive(MESSAGES + 1, 64), 0, MESSAGES + 1);
            receives.setLimit(MESSAGES + 1);
            assertThat(receives.query().limit()).isEqualTo(MESSAGES + 1);
            Mlx5QueuePair target = other.target(receives, KEY);
            try (Mlx5Batch batch = one.initiator().startBatch()) {
                for (int i = 0; i < MESSAGES; i++) {
                    batch.id(i).send();
                    batch.dct(handle, target.number(), KEY);
                    batch.data(one.region, 0, 8);
                }
                batch.complete();
            }

            assertThat(other.completions(MESSAGES)).extracting(WorkCompletion::status)
                    .containsOnly(WorkCompletionStatus.SUCCESS);
            try (AsyncEvent event = other.context.getAsyncEvent(Duration.ofSeconds(10))) {
                assertThat(event.type()).isEqualTo(AsyncEventType.SRQ_LIMIT_REACHED);
                assertThat(event.sharedReceiveQueue()).isSameAs(receives);
            }
            assertThat(other.context.pollAsyncEvent()).isEmpty();
            assertThat(receives.query().limit()).isZero();
        }
    }

    @Test
    void aLimitThatTheKernelRefusesIsTyped() throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            SharedReceiveQueue receives = end.receives();
            FakeMlx5.refuse(COMMANDS, MODIFY_SRQ, Rdma.ENOMEM());

            assertThatThrownBy(() -> receives.setLimit(1)).isInstanceOf(RdmaException.class)
                    .hasMessageContaining("ENOMEM");
        }
    }
}
