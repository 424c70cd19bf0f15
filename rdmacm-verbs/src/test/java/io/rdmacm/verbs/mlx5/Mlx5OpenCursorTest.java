// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.CompletionCursor;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.ExtendedCompletionQueue;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.testing.Background;
import io.rdmacm.verbs.testing.WithFakeMlx5;
import io.rdmacm.verbs.work.SendOperation;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * What happens to queue pairs while a cursor over their completions is open. With its own lock, libmlx5 would let posts
 * to a full queue wait for the cursor, forever if they are of the same thread.
 */
@WithFakeMlx5
class Mlx5OpenCursorTest {
    private Mlx5End end;
    private ExtendedCompletionQueue queue;
    private QueuePair pair;
    private SendRequest write;

    @BeforeEach
    void connect() throws Exception {
        end = new Mlx5End();
        queue = end.context.createExtendedCompletionQueue(CompletionQueueInitAttributes.builder(64).build());
        pair = end.domain.createQueuePair(QueuePairInitAttributes.builder().completionQueue(queue)
                .maxSendRequests(4).sendOperations(Set.of(SendOperation.RDMA_WRITE)).build());
        Mlx5FullQueueTest.Base.connect(pair);
        write = SendRequests.allocate(1, 1).get(0).rdmaWrite(end.region.remoteAddress(), end.region.remoteKey())
                .data(end.region, 0, 8);
    }

    @AfterEach
    void close() throws Exception {
        pair.close();
        queue.close();
        end.close();
    }

    private CompletionCursor cursorOnACompletion() throws RdmaException {
        while (true) {
            CompletionCursor cursor = queue.startPoll();
            if (cursor.next()) {
                return cursor;
            }
            cursor.close();
        }
    }

    private void postUntilFull() {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> {
            for (int i = 0; i <= pair.capabilities().maxSendRequests(); i++) {
                pair.postSend(write);
            }
        }).satisfies(e -> assertThat(e.errno()).isEqualTo(Rdma.ENOMEM()));
    }

    @Test
    void theThreadThatPollsMayPostToAFullQueue() throws Exception {
        postUntilFull();
        try (Background<Void> polling = Background.run(() -> {
            try (CompletionCursor cursor = cursorOnACompletion()) {
                assertThat(cursor.succeeded()).isTrue();
                postUntilFull();
                assertThat(cursor.next()).isTrue();
            }
        })) {
            polling.result();
        }
    }

    @Test
    void aCloseWaitsForTheCursorOfAnotherThread() throws Exception {
        pair.postSend(write);
        CompletionCursor open = cursorOnACompletion();
        try (Background<Void> closing = Background.run(pair::close)) {
            try (CompletionCursor cursor = open) {
                closing.awaitInside(CompletionQueue.class, "removeCompletions");

                assertThat(cursor.succeeded()).isTrue();
                assertThatIllegalStateException().isThrownBy(() -> pair.postSend(write)).withMessageContaining(
                        "is closed");
                // this thread would wait for the other one, which waits for the cursor
                assertThatIllegalStateException().isThrownBy(pair::close).withMessageContaining(
                        "has a cursor of the completion queue open");
                assertThat(closing.isDone()).isFalse();
            }
            closing.result();
        }
        assertThat(pair.isOpen()).isFalse();
    }

    @Test
    void aResetWaitsForTheCursorOfAnotherThread() throws Exception {
        pair.postSend(write);
        CompletionCursor open = cursorOnACompletion();
        try (Background<Void> resetting = Background.run(() -> pair.modify(QueuePairAttributes.toReset()))) {
            try (CompletionCursor cursor = open) {
                resetting.awaitInside(CompletionQueue.class, "removeCompletions");
                assertThat(cursor.succeeded()).isTrue();
            }
            resetting.result();
        }
    }

    @Test
    void aCursorThatWasLeftOpenIsNotWaitedFor() throws Exception {
        pair.postSend(write);
        CompletionCursor cursor;
        try (Background<CompletionCursor> polling = Background.call(this::cursorOnACompletion)) {
            cursor = polling.result();
        }

        assertThatIllegalStateException().isThrownBy(pair::close).withMessageContaining(
                "has ended with a cursor of ExtendedCompletionQueue");
        assertThat(pair.isOpen()).isTrue();
        cursor.close();
    }
}
