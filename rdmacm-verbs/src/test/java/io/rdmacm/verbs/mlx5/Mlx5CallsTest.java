// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;

import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.CompletionQueue;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.ExtendedCompletionQueue;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.ReceiveRequests;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.fuzz.Fuzzer;
import io.rdmacm.verbs.fuzz.Interrupter;
import io.rdmacm.verbs.fuzz.Surface;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.ModuleClasses;
import io.rdmacm.verbs.testing.WithFakeMlx5;
import io.rdmacm.verbs.work.SendOperation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever is called in whatever order with whatever, over the real libmlx5: only exceptions that are documented, and
 * nothing is left, here or in the kernel.
 */
@WithFakeMlx5
class Mlx5CallsTest {
    private static final int CALLS = 1000;

    /** Open objects of two contexts, and closed ones. */
    private static final class World implements AutoCloseable {
        private final List<Mlx5End> ends = new ArrayList<>();
        private final List<Object> objects = new ArrayList<>();

        World() throws RdmaException {
            for (int i = 0; i < 3; i++) {
                Mlx5End end = new Mlx5End();
                ends.add(end);
                objects.addAll(List.of(end.context, end.domain, end.region, end.channel, end.completions));
                fill(end);
            }
            ends.getLast().close();
        }

        private void fill(Mlx5End end) throws RdmaException {
            AddressHandle handle = end.own(end.domain.createAddressHandle(Mlx5End.path()));
            CompletionQueue queue = end.own(end.context.createCompletionQueue(16));
            ExtendedCompletionQueue extended = end.own(end.context.createExtendedCompletionQueue(
                    CompletionQueueInitAttributes.builder(16).build()));
            SharedReceiveQueue receives = end.receives();
            Mlx5QueuePair connection = end.connection();
            Mlx5QueuePair peer = end.connection();
            Mlx5End.connect(connection, peer);
            QueuePairInitAttributes plain = QueuePairInitAttributes.builder().completionQueue(queue)
                    .sendOperations(Set.of(SendOperation.SEND, SendOperation.RDMA_WRITE)).build();
            QueuePairInitAttributes datagrams = QueuePairInitAttributes.builder().type(QueuePairType.UD)
                    .completionQueue(extended).sendOperations(Set.of(SendOperation.SEND)).build();
            SendRequests sends = SendRequests.allocate(4, 2);
            ReceiveRequests requests = ReceiveRequests.allocate(4, 2);
            Mkey key = end.own(Mkey.create(end.domain, 4, MkeyFlag.INDIRECT));
            objects.addAll(List.of(handle, queue, extended, receives, connection, peer,
                    end.initiator(), end.target(receives, 1), plain, datagrams,
                    end.own(end.domain.createQueuePair(plain)), end.own(end.domain.createQueuePair(datagrams)),
                    sends, sends.get(0), requests, requests.get(0), WorkCompletions.allocate(4), key,
                    ListLayout.of(new ListLayout.Part(end.region, 0, 64)),
                    InterleavedLayout.of(2, new InterleavedLayout.Part(end.region, 0, 8, 8)),
                    new Wqe.AtomicPlace(end.region.remoteAddress(), end.region.remoteKey(), end.region, 0),
                    Wqe.waitFor(connection.number(), 1, 1), MkeyConfiguration.create(),
                    Mlx5QueuePairAttributes.of(plain)));
            end.own(connection.startBatch()).id(1);
        }

        @Override
        public void close() throws RdmaException {
            for (Mlx5End end : ends) {
                end.close();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void onlyDocumentedExceptionsComeOut(long seed) throws Exception {
        List<Class<?>> known = ModuleClasses.exported(NativeObject.class);
        Surface surface = Surface.of(known.stream().filter(Mlx5CallsTest::isAboutDevices).toList(), known);
        try (World world = new World(); Interrupter interrupter = new Interrupter()) {
            Fuzzer fuzzer = new Fuzzer(surface, new Random(seed), interrupter, world.objects);
            for (int i = 0; i < CALLS; i++) {
                fuzzer.call();
            }
            fuzzer.closeAll();
        }
    }

    /** The objects and what mlx5 adds to them, not the values. */
    private static boolean isAboutDevices(Class<?> type) {
        return type.getPackageName().equals(NativeObject.class.getPackageName())
                || type.getPackageName().equals(Mlx5Device.class.getPackageName());
    }
}
