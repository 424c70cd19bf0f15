// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;

import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.internal.life.FailingSteps;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.FakeEfa;
import io.rdmacm.verbs.testing.WithFakeEfa;
import io.rdmacm.verbs.work.SendOperation;
import org.junit.jupiter.api.Test;

/** Whatever fails while an object of EFA is made, nothing of it stays behind, and its parents can be closed. */
@WithFakeEfa
class EfaFactoriesTest {
    private static Object left() {
        return List.of(Lifetime.openObjects(), FakeEfa.objects());
    }

    @Test
    void nothingStaysBehindForWantOfMemoryOrStack() throws Exception {
        try (VerbsContext context = EfaEnd.open(); ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(8)) {
            QueuePairInitAttributes.Builder srd = QueuePairInitAttributes.builder().type(QueuePairType.DRIVER)
                    .completionQueue(queue);
            List<FailingSteps.Factory> table = List.of(() -> EfaQueuePair.create(domain, srd.build()),
                    () -> EfaQueuePair.create(domain, srd.sendOperations(List.of(SendOperation.SEND)).build()),
                    () -> EfaCompletionQueue.create(context, CompletionQueueInitAttributes.builder(8).build(),
                            EfaCompletionField.SGID));
            for (FailingSteps.Factory factory : table) {
                assertThat(FailingSteps.failAtEach(factory, EfaFactoriesTest::left)).isGreaterThan(3);
                FailingSteps.failTwiceAtEach(factory);
            }
        }
    }
}
