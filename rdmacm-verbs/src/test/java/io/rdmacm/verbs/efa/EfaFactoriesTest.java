// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.FailingSteps;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.FakeEfa;
import io.rdmacm.verbs.testing.ModuleClasses;
import io.rdmacm.verbs.testing.WithFakeEfa;
import io.rdmacm.verbs.work.SendOperation;
import org.junit.jupiter.api.Test;

/** Whatever fails while an object of EFA is made, nothing of it stays behind, and its parents can be closed. */
@WithFakeEfa
class EfaFactoriesTest {
    // enum uverbs_default_objects
    private static final int OBJECT_CQ = 3;
    private static final int OBJECT_QP = 4;

    private static Object left() {
        return List.of(Lifetime.openObjects(), FakeEfa.objects());
    }

    /** Makes something, as the last of the kernel's objects of that number. */
    private record Row(int object, FailingSteps.Factory factory) {
    }

    private static Map<String, Row> table(ProtectionDomain domain, CompletionQueue queue) {
        VerbsContext context = domain.context();
        QueuePairInitAttributes.Builder srd = QueuePairInitAttributes.builder().type(QueuePairType.DRIVER)
                .completionQueue(queue);
        QueuePairInitAttributes plain = srd.build();
        QueuePairInitAttributes batches = srd.sendOperations(List.of(SendOperation.SEND)).build();
        Map<String, Row> table = new LinkedHashMap<>();
        table.put("EfaQueuePair", new Row(OBJECT_QP, () -> EfaQueuePair.create(domain, plain)));
        table.put("EfaQueuePair with batches", new Row(OBJECT_QP, () -> EfaQueuePair.create(domain, batches)));
        table.put("EfaCompletionQueue", new Row(OBJECT_CQ, () -> EfaCompletionQueue.create(context,
                CompletionQueueInitAttributes.builder(8).build(), EfaCompletionField.SGID)));
        return table;
    }

    @Test
    void nothingStaysBehindForWantOfMemoryOrStack() throws Exception {
        try (VerbsContext context = EfaEnd.open(); ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(8)) {
            for (Row row : table(domain, queue).values()) {
                assertThat(FailingSteps.failAtEach(row.factory, EfaFactoriesTest::left)).isGreaterThan(3);
                FailingSteps.failTwiceAtEach(row.factory);
            }
        }
    }

    @Test
    void nothingStaysBehindIfTheDeviceIsFull() throws Exception {
        try (VerbsContext context = EfaEnd.open(); ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(8)) {
            for (Map.Entry<String, Row> row : table(domain, queue).entrySet()) {
                Object before = left();
                FakeEfa.refuse(row.getValue().object, Rdma.ENOMEM());
                assertThatThrownBy(row.getValue().factory::make).as(row.getKey())
                        .isInstanceOfSatisfying(RdmaException.class,
                                e -> assertThat(e.errno()).isEqualTo(Rdma.ENOMEM()));
                assertThat(left()).as("left behind by %s", row.getKey()).isEqualTo(before);
            }
        }
    }

    @Test
    void everyClassIsInTheTable() throws Exception {
        Set<Class<?>> made = new LinkedHashSet<>();
        try (VerbsContext context = EfaEnd.open(); ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(8)) {
            for (Row row : table(domain, queue).values()) {
                try (AutoCloseable object = row.factory.make()) {
                    made.add(object.getClass());
                }
            }
        }

        assertThat(ModuleClasses.madeInPackageOf(EfaQueuePair.class, NativeObject.class)).isNotEmpty()
                .isSubsetOf(made);
    }
}
