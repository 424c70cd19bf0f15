// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.FakeStack;
import io.rdmacm.verbs.testing.WithFakeVerbs;
import org.junit.jupiter.api.Test;

/** How much of the Java heap objects take: programs have thousands of queue pairs. */
@WithFakeVerbs
class HeapTest {
    private static final int COUNT = 2000;

    /** What is left when all that is lost was collected. */
    private static long used() {
        Runtime runtime = Runtime.getRuntime();
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 5; i++) {
            System.gc();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }

    @Test
    void aQueuePairTakesLessThanTwoKibibytes() throws RdmaException {
        try (FakeStack stack = new FakeStack()) {
            QueuePairInitAttributes attributes = QueuePairInitAttributes.builder().completionQueue(stack.queue())
                    .build();
            List<QueuePair> pairs = new ArrayList<>(COUNT);
            long before = used();
            for (int i = 0; i < COUNT; i++) {
                pairs.add(stack.domain().createQueuePair(attributes));
            }
            long each = (used() - before) / COUNT;
            for (QueuePair pair : pairs) {
                pair.close();
            }
            // far less would mean that they were not counted
            assertThat(each).isBetween(200L, 2047L);
        }
    }
}
