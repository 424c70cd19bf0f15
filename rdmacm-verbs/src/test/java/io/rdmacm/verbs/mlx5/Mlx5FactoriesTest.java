// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.DeviceMemory;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.internal.life.FailingSteps;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.testing.FakeMlx5;
import io.rdmacm.verbs.testing.WithFakeMlx5;
import io.rdmacm.verbs.work.SendOperation;
import org.junit.jupiter.api.Test;

/** Whatever fails while an object of mlx5 is made, nothing of it stays behind, and its parents can be closed. */
@WithFakeMlx5
class Mlx5FactoriesTest {
    private static final CompletionQueueInitAttributes FOUR = CompletionQueueInitAttributes.builder(4).build();
    private static final KeyMaterial PLAIN = KeyMaterial.plain(KeyMaterial.Size.BITS_128, new byte[32]);
    // a command of the firmware that creates an object: its code, a head, and what follows
    private static final byte[] CREATE = {0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4};

    private static Object left() {
        return List.of(Lifetime.openObjects(), FakeMlx5.objects());
    }

    @Test
    void nothingStaysBehindForWantOfMemoryOrStack() throws Exception {
        try (Mlx5End end = new Mlx5End(); Arena arena = Arena.ofConfined()) {
            DeviceMemory memory = end.own(Mlx5DeviceMemory.allocate(end.context, Mlx5DeviceMemory.Type.DATA, 64, 2));
            Map<String, FailingSteps.Factory> table = new LinkedHashMap<>();
            table.put("Mlx5QueuePair", () -> Mlx5QueuePair.create(end.domain, Mlx5QueuePairAttributes.of(
                    QueuePairInitAttributes.builder().completionQueue(end.completions)
                            .sendOperations(List.of(SendOperation.RDMA_WRITE)).build())));
            table.put("Mlx5CompletionQueue", () -> Mlx5CompletionQueue.create(end.context, FOUR,
                    Mlx5CompletionQueueOptions.create()));
            table.put("DirectQueuePair", () -> DirectQueuePair.create(end.domain, 1, 1));
            table.put("DeviceMemory", () -> Mlx5DeviceMemory.allocate(end.context, Mlx5DeviceMemory.Type.DATA, 64, 2));
            table.put("DeviceMemoryOperation", () -> DeviceMemoryOperation.map(memory, 5));
            table.put("Mkey", () -> Mkey.create(end.domain, 4, MkeyFlag.INDIRECT));
            table.put("ReservedQueuePairNumber", () -> ReservedQueuePairNumber.reserve(end.context));
            table.put("DevxMemory", () -> DevxMemory.register(end.context, arena.allocate(4096, 4096)));
            table.put("DevxRegister", () -> DevxRegister.allocate(end.context, false));
            for (Map.Entry<String, FailingSteps.Factory> row : table.entrySet()) {
                // not the kernel's: the library keeps pages of doorbells for other objects, until the context is closed
                assertThat(FailingSteps.failAtEach(row.getValue(), Lifetime::openObjects)).as(row.getKey())
                        .isGreaterThan(3);
                FailingSteps.failTwiceAtEach(row.getValue());
            }
        }
    }

    @Test
    void nothingOfADeviceThatTakesCommandsStaysBehind() throws Exception {
        FailingSteps.failAtEach(() -> Mlx5Device.open(Device.list().getFirst()), Mlx5FactoriesTest::left);
        try (VerbsContext context = Mlx5Device.open(Device.list().getFirst())) {
            FailingSteps.failAtEach(() -> DevxObject.create(context, CREATE, 16), Mlx5FactoriesTest::left);
        }
    }

    @Test
    void nothingOfAKeyStaysBehind() throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            FailingSteps.failAtEach(() -> DataEncryptionKey.create(end.domain, PLAIN), Mlx5FactoriesTest::left);
        }
        FakeMlx5.takeWrappedKeys(true);
        try (Mlx5End end = new Mlx5End()) {
            byte[] credential = new byte[CryptoSession.CREDENTIAL_BYTES];
            FailingSteps.failAtEach(() -> CryptoLogin.create(end.context, 1, 2, credential), Mlx5FactoriesTest::left);
        } finally {
            FakeMlx5.takeWrappedKeys(false);
        }
    }
}
