// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.efa;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.fuzz.Fuzzer;
import io.rdmacm.verbs.fuzz.Interrupter;
import io.rdmacm.verbs.fuzz.Surface;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.ModuleClasses;
import io.rdmacm.verbs.testing.WithFakeEfa;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever is called in whatever order with whatever, over the real libefa: only exceptions that are documented, and
 * nothing is left, here or in the kernel.
 */
@WithFakeEfa
class EfaCallsTest {
    private static final int CALLS = 1000;

    /** Open objects of two contexts, and closed ones. */
    private static final class World implements AutoCloseable {
        private final List<EfaEnd> ends = new ArrayList<>();
        private final List<Object> objects = new ArrayList<>();

        World() throws RdmaException {
            add(EfaEnd.srd(EfaEnd.READS));
            add(EfaEnd.ud());
            add(EfaEnd.patient(List.of()));
            ends.getLast().close();
        }

        private void add(EfaEnd end) throws RdmaException {
            ends.add(end);
            SendRequests sends = SendRequests.allocate(4, 2);
            ReceiveRequests receives = ReceiveRequests.allocate(4, 2);
            objects.addAll(List.of(end.context, end.domain, end.memory, end.channel, end.queue, end.pair,
                    sends, sends.get(0), receives, receives.get(0), WorkCompletions.allocate(4),
                    CompletionQueueInitAttributes.builder(16).build(), EfaQueuePairAttributes.defaults(),
                    EfaTransitions.initToRtr(), QueuePairInitAttributes.builder().type(QueuePairType.DRIVER)
                            .completionQueue(end.queue).sendOperations(EfaEnd.READS).build()));
        }

        @Override
        public void close() throws RdmaException {
            for (EfaEnd end : ends) {
                end.close();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void onlyDocumentedExceptionsComeOut(long seed) throws Exception {
        List<Class<?>> known = ModuleClasses.exported(NativeObject.class);
        Surface surface = Surface.of(known.stream().filter(EfaCallsTest::isAboutDevices).toList(), known);
        try (World world = new World(); Interrupter interrupter = new Interrupter()) {
            Fuzzer fuzzer = new Fuzzer(surface, new Random(seed), interrupter, world.objects);
            for (int i = 0; i < CALLS; i++) {
                fuzzer.call();
            }
            fuzzer.closeAll();
        }
    }

    /** The objects and what EFA adds to them, not the values. */
    private static boolean isAboutDevices(Class<?> type) {
        return type.getPackageName().equals(NativeObject.class.getPackageName())
                || type.getPackageName().equals(EfaQueuePair.class.getPackageName());
    }
}
