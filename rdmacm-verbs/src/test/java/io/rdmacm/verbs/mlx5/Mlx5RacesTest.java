// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.CompletionCursor;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.DeviceMemory;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SendRequest;
import io.rdmacm.verbs.SendRequests;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Contest;
import io.rdmacm.verbs.testing.WithFakeMlx5;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.SendOperation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Posting, cancelling, polling and copying while everything is closed, over the real libmlx5: what is refused is
 * refused with the exceptions of the library, and nothing is left, here or in the kernel.
 */
@WithFakeMlx5
class Mlx5RacesTest {
    private static final int ROUNDS = 15;
    private static final int REQUESTS = 100_000;
    private static final long KEY = 5;
    private static final int MOST = 4;
    private static final Set<AccessFlag> ACCESS = EnumSet.of(AccessFlag.LOCAL_WRITE);
    // the send queue is full; a cancel that the state does not allow; the key that a request was to use is gone
    private static final Set<Integer> ERRORS = Set.of(Rdma.ENOMEM(), Rdma.EINVAL());

    /** Objects of every kind: a connection to itself that a cursor reads, dynamic ones whose completions are copied. */
    private static final class Stage implements AutoCloseable {
        private final Mlx5End end = new Mlx5End();
        private final Mlx5CompletionQueue read = end.own(Mlx5CompletionQueue.create(end.context,
                CompletionQueueInitAttributes.builder(64).build(), Mlx5CompletionQueueOptions.create()));
        private final Mlx5QueuePair pair = end.own(Mlx5QueuePair.create(end.domain, Mlx5QueuePairAttributes.of(
                QueuePairInitAttributes.builder().completionQueue(read).maxSendRequests(32).maxInlineData(512)
                        .sendOperations(List.of(SendOperation.SEND, SendOperation.RDMA_WRITE)).build())
                .operations(Mlx5SendOperation.MR_LIST, Mlx5SendOperation.MKEY_CONFIGURE)));
        private final SharedReceiveQueue receives = end.receives();
        private final Mlx5QueuePair target = end.target(receives, KEY);
        private final int targetNumber = target.number();
        private final Mlx5QueuePair initiator = end.initiator();
        private final AddressHandle handle = end.own(end.domain.createAddressHandle(Mlx5End.path()));
        private final DataEncryptionKey encryptionKey = end.own(DataEncryptionKey.create(end.domain,
                KeyMaterial.plain(KeyMaterial.Size.BITS_128, new byte[32])));
        private final Mkey key = end.own(Mkey.create(end.domain, 4, MkeyFlag.INDIRECT, MkeyFlag.CRYPTO));
        private final DeviceMemory memory = end.own(Mlx5DeviceMemory.allocate(end.context,
                Mlx5DeviceMemory.Type.DATA, 256, 0));
        private final DeviceMemoryOperation operation = end.own(DeviceMemoryOperation.map(memory, 1));
        private final MkeyConfiguration configuration = MkeyConfiguration.create().access(AccessFlag.LOCAL_WRITE)
                .layout(parts()).encryption(MkeyEncryption.inMemory(encryptionKey, BlockSize.BYTES_512, new byte[16]));

        Stage() throws RdmaException {
            Mlx5FullQueueTest.Base.connect(pair);
        }

        private ListLayout parts() {
            return ListLayout.of(new ListLayout.Part(end.region, 0, 1024));
        }

        List<AutoCloseable> objects() {
            return List.of(pair, read, target, initiator, handle, encryptionKey, key, memory, operation, receives,
                    end.completions, end.region, end.channel, end.domain, end.context);
        }

        List<Contest.Act> acts() {
            SendRequest request = SendRequests.allocate(1, 1).get(0).send().data(end.region, 0, 8);
            WorkCompletions completions = WorkCompletions.allocate(MOST);
            return List.of(this::register, this::configure, () -> pair.postSend(request), this::send,
                    () -> pair.cancelPostedSends(1), this::read, () -> end.completions.poll(completions), this::copy);
        }

        private void register() throws RdmaException {
            ListLayout parts = parts();
            try (Mlx5Batch batch = pair.startBatch()) {
                batch.id(1);
                batch.register(key, parts, ACCESS);
                batch.id(2).rdmaWrite(end.region.remoteAddress() + 2048, end.region.remoteKey());
                batch.data(key, 0, 64);
                batch.complete();
            }
        }

        private void configure() throws RdmaException {
            try (Mlx5Batch batch = pair.startBatch()) {
                batch.id(1);
                batch.configure(key, configuration);
                batch.complete();
            }
        }

        private void send() throws RdmaException {
            try (Mlx5Batch batch = initiator.startBatch()) {
                batch.id(3).rdmaWrite(end.region.remoteAddress() + 4096, end.region.remoteKey());
                batch.dct(handle, targetNumber, KEY);
                batch.data(end.region, 0, 64);
                batch.complete();
            }
        }

        private void read() throws RdmaException {
            try (CompletionCursor completion = read.startPoll()) {
                while (completion.next()) {
                    completion.workRequestId();
                    completion.status();
                }
            }
        }

        private void copy() throws RdmaException {
            memory.copyFrom(0, end.memory().asSlice(0, 64));
            operation.write(0, 1);
            memory.copyTo(0, end.memory().asSlice(64, 64));
        }

        @Override
        public void close() throws RdmaException {
            end.close();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void everythingIsClosedWhileItIsUsed(long seed) throws Exception {
        Random random = new Random(seed);
        long uses = 0;
        for (int i = 0; i < ROUNDS; i++) {
            try (Stage stage = new Stage()) {
                uses += Contest.run(random, ERRORS, stage.objects(), stage.acts());
            }
        }
        assertThat(uses).isGreaterThan(ROUNDS);
    }

    /** That can happen by mistake: a thread that closes its completed batch late may close that of another thread. */
    @Test
    void twoThreadsThatUseABatchAtOnceDoNotMixTheirCalls() throws Exception {
        try (Stage stage = new Stage()) {
            ListLayout parts = stage.parts();
            Mlx5Batch batch = stage.pair.startBatch();
            List<Future<Integer>> users = List.of(repeated(() -> batch.register(stage.key, parts, ACCESS)),
                    repeated(() -> batch.configure(stage.key, stage.configuration)));
            while (!users.stream().allMatch(Future::isDone)) {
                batch.close();
                stage.pair.startBatch();
            }
            batch.close();
            for (Future<Integer> user : users) {
                assertThat(user.get()).as("requests that were begun").isPositive();
            }
        }
    }

    private static Future<Integer> repeated(Contest.Act act) {
        FutureTask<Integer> task = new FutureTask<>(() -> {
            int begun = 0;
            for (int i = 0; i < REQUESTS; i++) {
                try {
                    act.run();
                    begun++;
                } catch (IllegalStateException e) {
                    assertThat(e).hasMessageContaining("the batch is closed");
                }
            }
            return begun;
        });
        Thread.ofPlatform().daemon().start(task);
        return task;
    }
}
