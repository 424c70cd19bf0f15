// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.DeviceMemory;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.WorkCompletions;
import io.rdmacm.verbs.testing.ModuleClasses;
import io.rdmacm.verbs.testing.UseAfterClose;
import io.rdmacm.verbs.testing.WithFakeMlx5;
import io.rdmacm.verbs.work.AccessFlag;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Every public method of whatever mlx5 adds refuses use after close, and closing again does nothing. */
@WithFakeMlx5
class Mlx5UseAfterCloseTest {
    private static final Set<AccessFlag> ACCESS = EnumSet.of(AccessFlag.LOCAL_WRITE);
    private static final int COMMAND = 16;
    // CREATE_GENERAL_OBJECT of no type: it has no meaning for the queues
    private static final byte[] CREATE = HexFormat.of().parseHex("0a000000000000000000000000000000");

    @TestFactory
    Stream<DynamicTest> everyMethodOfAnObjectIsRefused() throws Exception {
        try (Mlx5End end = new Mlx5End(); Arena arena = Arena.ofConfined();
                DeviceMemory memory = Mlx5DeviceMemory.allocate(end.context, Mlx5DeviceMemory.Type.DATA, 64, 0)) {
            // queue pairs have a test of their own, as their methods look at their arguments first
            UseAfterClose tests = UseAfterClose.of(ModuleClasses.inPackageOf(Mlx5Device.class).stream()
                    .filter(type -> type != Mlx5QueuePair.class).toList())
                    .argument(WorkCompletions.class, WorkCompletions.allocate(1))
                    .argument(MemorySegment.class, arena.allocate(8));
            for (NativeObject object : List.of(
                    CryptoLogin.create(end.context, 1, 2, new byte[CryptoSession.CREDENTIAL_BYTES]),
                    DataEncryptionKey.create(end.domain, KeyMaterial.plain(KeyMaterial.Size.BITS_128, new byte[32])),
                    Mkey.create(end.domain, 4, MkeyFlag.INDIRECT),
                    DeviceMemoryOperation.map(memory, 1),
                    Mlx5DeviceMemory.allocate(end.context, Mlx5DeviceMemory.Type.DATA, 64, 0),
                    DevxUmem.registerPages(end.context, arena.allocate(64, 64), 4096),
                    DevxObject.create(end.context, CREATE, COMMAND),
                    DevxUar.allocate(end.context, false),
                    ReservedQueuePairNumber.reserve(end.context),
                    Mlx5CompletionQueue.create(end.context, CompletionQueueInitAttributes.builder(8).build(),
                            Mlx5CompletionQueueOptions.create()))) {
                object.close();
                object.close();
                tests.closed(object);
            }
            return tests.tests();
        }
    }

    @Test
    void aClosedQueuePairIsRefused() throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            AddressHandle handle = end.own(end.domain.createAddressHandle(Mlx5End.path()));
            Mlx5QueuePair pair = end.connection();
            pair.close();
            pair.close();

            List<ThrowingCallable> calls = List.of(pair::number, pair::startBatch, () -> pair.setUdpSourcePort(1),
                    pair::queryLagPort, () -> pair.setLagPort(1), () -> pair.map(handle),
                    () -> pair.cancelPostedSends(1), () -> RawQueues.of(pair), () -> pair.query());
            for (ThrowingCallable call : calls) {
                assertThatIllegalStateException().isThrownBy(call).withMessageContaining("is closed");
            }
            assertThat(pair.isOpen()).isFalse();
            assertThatCode(pair::toString).doesNotThrowAnyException();
        }
    }

    @Test
    void aClosedBatchIsRefused() throws Exception {
        try (Mlx5End end = new Mlx5End(); Mkey key = Mkey.create(end.domain, 4, MkeyFlag.INDIRECT)) {
            AddressHandle handle = end.own(end.domain.createAddressHandle(Mlx5End.path()));
            Mlx5QueuePair pair = end.connection();
            Mlx5QueuePair initiator = end.initiator();
            Mlx5Batch batch = pair.startBatch();
            batch.close();
            batch.close();
            Mlx5Batch dynamic = initiator.startBatch();
            dynamic.close();

            List<ThrowingCallable> calls = List.of(() -> batch.send(), () -> batch.data(key, 0, 8),
                    () -> batch.register(key, ListLayout.of(new ListLayout.Part(end.region, 0, 8)), ACCESS),
                    () -> batch.register(key, InterleavedLayout.of(1,
                            new InterleavedLayout.Part(end.region, 0, 8, 8)), ACCESS),
                    () -> batch.configure(key, MkeyConfiguration.create()),
                    () -> batch.raw(Wqe.waitFor(pair.number(), 1, 1)), batch::complete,
                    () -> dynamic.dct(handle, 1, 1));
            for (ThrowingCallable call : calls) {
                assertThatIllegalStateException().isThrownBy(call).withMessageContaining("closed");
            }
        }
    }
}
