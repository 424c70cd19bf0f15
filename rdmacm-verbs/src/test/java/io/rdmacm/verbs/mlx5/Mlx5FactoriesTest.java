// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.DeviceMemory;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.QueuePairInitAttributes;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.life.FailingSteps;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.queue.QueuePairType;
import io.rdmacm.verbs.testing.FakeMlx5;
import io.rdmacm.verbs.testing.ModuleClasses;
import io.rdmacm.verbs.testing.WithFakeMlx5;
import io.rdmacm.verbs.work.SendOperation;
import org.junit.jupiter.api.Test;

/** Whatever fails while an object of mlx5 is made, nothing of it stays behind, and its parents can be closed. */
@WithFakeMlx5
class Mlx5FactoriesTest {
    private static final CompletionQueueInitAttributes FOUR = CompletionQueueInitAttributes.builder(4).build();
    private static final KeyMaterial PLAIN = KeyMaterial.plain(KeyMaterial.Size.BITS_128, new byte[32]);
    private static final KeyMaterial WRAPPED = KeyMaterial.wrapped(KeyMaterial.Size.BITS_256, new byte[72]);
    // a command of the firmware that creates an object: its code, a head, and what follows
    private static final byte[] CREATE = {0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4};

    private static Object left() {
        return List.of(Lifetime.openObjects(), FakeMlx5.objects());
    }

    private static byte[] credential() {
        return new byte[CryptoSession.CREDENTIAL_BYTES];
    }

    private static QueuePairInitAttributes.Builder driven() {
        return QueuePairInitAttributes.builder().type(QueuePairType.DRIVER);
    }

    private static Map<String, FailingSteps.Factory> factories(Mlx5End end, Arena arena) throws RdmaException {
        DeviceMemory memory = end.own(Mlx5DeviceMemory.allocate(end.context, Mlx5DeviceMemory.Type.DATA, 64, 2));
        SharedReceiveQueue receives = end.receives();
        Map<String, FailingSteps.Factory> table = new LinkedHashMap<>();
        table.put("Mlx5QueuePair", () -> Mlx5QueuePair.create(end.domain, Mlx5QueuePairAttributes.of(
                QueuePairInitAttributes.builder().completionQueue(end.completions)
                        .sendOperations(List.of(SendOperation.RDMA_WRITE)).build())));
        table.put("Mlx5QueuePair, DCI", () -> Mlx5QueuePair.create(end.domain, Mlx5QueuePairAttributes.dci(
                driven().completionQueue(end.completions).maxReceiveRequests(0).maxReceiveScatterGather(0)
                        .sendOperations(List.of(SendOperation.RDMA_WRITE)).build())));
        table.put("Mlx5QueuePair, DCT", () -> Mlx5QueuePair.create(end.domain, Mlx5QueuePairAttributes.dct(
                driven().completionQueue(end.completions).sharedReceiveQueue(receives).maxSendRequests(0).build(),
                7)));
        table.put("Mlx5CompletionQueue", () -> Mlx5CompletionQueue.create(end.context, FOUR,
                Mlx5CompletionQueueOptions.create()));
        table.put("DirectQueuePair", () -> DirectQueuePair.create(end.domain, 1, 1));
        table.put("DeviceMemory", () -> Mlx5DeviceMemory.allocate(end.context, Mlx5DeviceMemory.Type.DATA, 64, 2));
        table.put("DeviceMemoryOperation", () -> DeviceMemoryOperation.map(memory, 5));
        table.put("Mkey", () -> Mkey.create(end.domain, 4, MkeyFlag.INDIRECT));
        table.put("ReservedQueuePairNumber", () -> ReservedQueuePairNumber.reserve(end.context));
        table.put("DevxUmem", () -> DevxUmem.register(end.context, arena.allocate(4096, 4096)));
        table.put("DevxUmem of pages", () -> DevxUmem.registerPages(end.context, arena.allocate(4096, 4096), 4096));
        table.put("DevxUmem of a DMA-BUF", () -> DevxUmem.registerDmaBuf(end.context, 5, 0, 4096, 4096));
        table.put("DevxUar", () -> DevxUar.allocate(end.context, false));
        return table;
    }

    @Test
    void nothingStaysBehindForWantOfMemoryOrStack() throws Exception {
        try (Mlx5End end = new Mlx5End(); Arena arena = Arena.ofConfined()) {
            for (Map.Entry<String, FailingSteps.Factory> row : factories(end, arena).entrySet()) {
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
        Object before = left();
        try (VerbsContext context = Mlx5Device.open(Device.list().getFirst())) {
            failAtEachAndTwice(() -> DevxObject.create(context, CREATE, 16));
        }
        assertThat(left()).isEqualTo(before);
    }

    @Test
    void nothingOfAKeyStaysBehind() throws Exception {
        Object before = left();
        try (Mlx5End end = new Mlx5End()) {
            failAtEachAndTwice(() -> DataEncryptionKey.create(end.domain, PLAIN));
        }
        FakeMlx5.takeWrappedKeys(true);
        try (Mlx5End end = new Mlx5End()) {
            CryptoLogin login = end.own(CryptoLogin.create(end.context, 1, 2, credential()));
            failAtEachAndTwice(() -> CryptoLogin.create(end.context, 1, 2, credential()));
            failAtEachAndTwice(() -> DataEncryptionKey.create(end.domain, WRAPPED, login));
        } finally {
            FakeMlx5.takeWrappedKeys(false);
        }
        assertThat(left()).isEqualTo(before);
    }

    /** What cannot be undone at once is undone by the close of a parent. */
    private static void failAtEachAndTwice(FailingSteps.Factory factory) throws Exception {
        FailingSteps.failAtEach(factory, Mlx5FactoriesTest::left);
        FailingSteps.failTwiceAtEach(factory);
    }

    @Test
    void everyClassIsInATable() throws Exception {
        // those of the two tests above
        Set<Class<?>> made = new LinkedHashSet<>(List.of(DevxObject.class, DataEncryptionKey.class,
                CryptoLogin.class));
        try (Mlx5End end = new Mlx5End(); Arena arena = Arena.ofConfined()) {
            for (FailingSteps.Factory factory : factories(end, arena).values()) {
                try (AutoCloseable object = factory.make()) {
                    made.add(object.getClass());
                }
            }
        }

        assertThat(ModuleClasses.madeInPackageOf(Mlx5Device.class, NativeObject.class)).hasSizeGreaterThan(8)
                .isSubsetOf(made);
    }
}
