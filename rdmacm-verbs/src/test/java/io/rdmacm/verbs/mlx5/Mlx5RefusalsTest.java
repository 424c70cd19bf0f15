// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.Arena;
import java.util.List;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.DeviceMemory;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.FakeMlx5;
import io.rdmacm.verbs.testing.WithFakeMlx5;
import io.rdmacm.verbs.work.SendOperation;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the kernel refuses to create is a typed exception that leaves nothing, and the next request is answered. */
@WithFakeMlx5
class Mlx5RefusalsTest {
    /** What is created, and the request that it makes: numbers of ib_user_ioctl_cmds.h and mlx5_user_ioctl_cmds.h. */
    enum Creation {
        CONNECTION(4, 0, end -> Mlx5QueuePair.create(end.domain, Mlx5QueuePairAttributes.of(verbs(end).build())
                .operations(Mlx5SendOperation.MR_LIST))),
        INITIATOR(4, 0, end -> Mlx5QueuePair.create(end.domain, Mlx5QueuePairAttributes.dci(verbs(end)
                .type(QueuePairType.DRIVER).maxReceiveRequests(0).maxReceiveScatterGather(0).build()))),
        TARGET(4, 0, end -> {
            SharedReceiveQueue receives = end.receives();
            return Mlx5QueuePair.create(end.domain, Mlx5QueuePairAttributes.dct(QueuePairInitAttributes.builder()
                    .type(QueuePairType.DRIVER).completionQueue(end.completions).sharedReceiveQueue(receives)
                    .maxSendRequests(0).build(), 1));
        }),
        DIRECT(4, 0, end -> DirectQueuePair.create(end.domain, 4, 4)),
        DIRECT_COMPLETIONS(3, 0, end -> DirectQueuePair.create(end.domain, 4, 4)),
        COMPLETION_QUEUE(3, 0, end -> Mlx5CompletionQueue.create(end.context,
                CompletionQueueInitAttributes.builder(8).build(), Mlx5CompletionQueueOptions.create())),
        MEMORY_KEY(0x1001, 0x1000, end -> Mkey.create(end.domain, 4, MkeyFlag.INDIRECT)),
        ENCRYPTION_KEY(0x1001, 0x1000, end -> DataEncryptionKey.create(end.domain,
                KeyMaterial.plain(KeyMaterial.Size.BITS_128, new byte[32]))),
        LOGIN(0x1001, 0x1000, end -> CryptoLogin.create(end.context, 1, 2, new byte[CryptoSession.CREDENTIAL_BYTES])),
        OBJECT(0x1001, 0x1000, end -> DevxObject.create(end.context, new byte[] {0xa, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 0, 0, 0}, 16)),
        RESERVED_NUMBER(0x1001, 0x1000, end -> ReservedQueuePairNumber.reserve(end.context)),
        COMMAND_MEMORY(0x1002, 0x1000, end -> DevxUmem.registerPages(end.context, Arena.ofAuto().allocate(64, 64),
                4096)),
        REGISTER(0x1008, 0x1000, end -> DevxUar.allocate(end.context, true)),
        DEVICE_MEMORY(14, 0, end -> Mlx5DeviceMemory.allocate(end.context, Mlx5DeviceMemory.Type.DATA, 64, 0)),
        OPERATION(14, 0x1000, end -> {
            DeviceMemory memory = end.own(Mlx5DeviceMemory.allocate(end.context, Mlx5DeviceMemory.Type.DATA, 64, 0));
            return DeviceMemoryOperation.map(memory, 1);
        });

        private final int object;
        private final int method;
        private final Maker maker;

        Creation(int object, int method, Maker maker) {
            this.object = object;
            this.method = method;
            this.maker = maker;
        }

        private static QueuePairInitAttributes.Builder verbs(Mlx5End end) {
            return QueuePairInitAttributes.builder().completionQueue(end.completions)
                    .sendOperations(List.of(SendOperation.SEND));
        }
    }

    @FunctionalInterface
    private interface Maker {
        AutoCloseable make(Mlx5End end) throws RdmaException;
    }

    @ParameterizedTest
    @EnumSource
    void aRefusedCreationLeavesNothing(Creation creation) throws Exception {
        for (int errno : List.of(Rdma.ENOMEM(), Rdma.EPERM())) {
            try (Mlx5End end = new Mlx5End()) {
                FakeMlx5.refuse(creation.object, creation.method, errno);
                assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> creation.maker.make(end))
                        .satisfies(e -> assertThat(e.errno()).isEqualTo(errno));
                creation.maker.make(end).close();
            }
        }
    }
}
