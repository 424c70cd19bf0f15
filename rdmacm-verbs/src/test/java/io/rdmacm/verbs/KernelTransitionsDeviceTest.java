// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_qp_attr;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.codec.QueuePairStructs;
import io.rdmacm.verbs.internal.codec.TransitionTable;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.queue.QueuePairAttribute;
import io.rdmacm.verbs.queue.QueuePairAttributes;
import io.rdmacm.verbs.queue.QueuePairState;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.HandMadePair;
import io.rdmacm.verbs.testing.QueuePairValues;
import io.rdmacm.verbs.testing.RequiresRdma;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The transition table agrees with the kernel: the kernel refuses what the table refuses, and accepts what it accepts.
 * Stands here, not beside the table, because {@code QueuePairStructs} is package-private.
 */
@RequiresRdma
class KernelTransitionsDeviceTest {
    private static final NativeFunction MODIFY_QP = NativeFunction.of("ibv_modify_qp");
    // The states that a queue pair can be brought to on purpose.
    private static final List<QueuePairState> STATES = List.of(QueuePairState.RESET, QueuePairState.INIT,
            QueuePairState.RTR, QueuePairState.RTS, QueuePairState.SQD, QueuePairState.ERROR);

    /** Asks the kernel, bypassing the table. Returns its errno. */
    private static int modify(HandMadePair pair, QueuePairState from, QueuePairState to, Set<QueuePairAttribute> given)
            throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            long struct = arena.allocate(ibv_qp_attr.layout()).address();
            QueuePairAttributes.Builder all = QueuePairValues.of(EnumSet.allOf(QueuePairAttribute.class),
                    from, to).toBuilder();
            QueuePairAttributes values = all.path(pair.route())
                    .destinationQueuePair(pair.b().queuePair().number()).build();
            QueuePairStructs.write(values, struct);
            int mask = given.stream().mapToInt(QueuePairAttribute::bit).sum();
            return MODIFY_QP.callInt(pair.a().queuePair().handle().address(), struct, mask);
        }
    }

    private static void bring(HandMadePair pair, QueuePairState state) throws RdmaException {
        QueuePair queuePair = pair.a().queuePair();
        if (queuePair.state() != QueuePairState.RESET) {
            queuePair.modify(QueuePairAttributes.toError());
            queuePair.modify(QueuePairAttributes.toReset());
        }
        if (state == QueuePairState.RESET) {
            return;
        }
        queuePair.modify(pair.toInit());
        if (state == QueuePairState.INIT) {
            return;
        }
        if (state == QueuePairState.ERROR) {
            queuePair.modify(QueuePairAttributes.toError());
            return;
        }
        queuePair.modify(pair.toRtr(pair.b().queuePair().number()));
        if (state != QueuePairState.RTR) {
            queuePair.modify(pair.toRts());
        }
        if (state == QueuePairState.SQD) {
            queuePair.modify(QueuePairAttributes.rtsToSqd(false));
            // Until the queue is drained, the kernel allows only the transition to ERROR.
            long start = System.nanoTime();
            while (queuePair.query().sendQueueDraining()) {
                assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMinutes(4));
                Thread.yield();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = QueuePairType.class, names = {"RC", "UC", "UD"})
    void theKernelAgrees(QueuePairType type) throws Exception {
        List<String> differences = new ArrayList<>();
        try (HandMadePair pair = HandMadePair.of(type).unconnected().build()) {
            for (QueuePairState from : STATES) {
                for (QueuePairState to : STATES) {
                    compare(pair, type, from, to, differences);
                }
            }
        }
        assertThat(differences).isEmpty();
    }

    private static void compare(HandMadePair pair, QueuePairType type, QueuePairState from, QueuePairState to,
            List<String> differences) throws RdmaException {
        TransitionTable.Rule rule = TransitionTable.rule(type, from, to);
        Set<QueuePairAttribute> required = EnumSet.of(QueuePairAttribute.STATE);
        if (rule != null) {
            required.addAll(rule.required());
        }
        List<Set<QueuePairAttribute>> refused = new ArrayList<>();
        if (rule == null) {
            refused.add(required);
        } else {
            for (QueuePairAttribute attribute : rule.required()) {
                Set<QueuePairAttribute> fewer = EnumSet.copyOf(required);
                fewer.remove(attribute);
                refused.add(fewer);
            }
            // Not the rate limit: whether the kernel looks at it depends on the driver.
            for (QueuePairAttribute attribute : EnumSet.complementOf(EnumSet.of(QueuePairAttribute.RATE_LIMIT))) {
                if (!required.contains(attribute) && !rule.optional().contains(attribute)) {
                    Set<QueuePairAttribute> more = EnumSet.copyOf(required);
                    more.add(attribute);
                    refused.add(more);
                }
            }
        }
        bring(pair, from);
        for (Set<QueuePairAttribute> wrong : refused) {
            if (modify(pair, from, to, wrong) != Rdma.EINVAL()) {
                differences.add(type + ": the kernel accepts " + from + " -> " + to + " with " + wrong);
                bring(pair, from);
            }
        }
        if (rule != null) {
            int error = modify(pair, from, to, required);
            if (error != 0) {
                differences.add(type + ": the kernel refuses " + from + " -> " + to + " with " + required + ": "
                        + error);
            }
        }
    }
}
