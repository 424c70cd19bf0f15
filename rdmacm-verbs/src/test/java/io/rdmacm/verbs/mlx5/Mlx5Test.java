// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.Device;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Allocation;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeMlx5;
import io.rdmacm.verbs.testing.WithFakeMlx5;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionOpcode;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.Test;

/**
 * The direct verbs of mlx5 with the real libmlx5. The card that stands in executes the entries of the queues: data is
 * compared where it has arrived.
 */
@WithFakeMlx5
class Mlx5Test {
    private static final long KEY = 0x1122334455667788L;
    private static final int ROWS = 8;
    private static final int ROW = 256;
    private static final int CELL = 16;
    private static final int RECEIVED = 1 << 15;
    private static final Set<AccessFlag> ACCESS = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_READ);
    // numbers of requests to the kernel, from mlx5_user_ioctl_cmds.h
    private static final int DEVX_OBJECT = 1 << 12 | 1;
    private static final int DEVX_OBJECT_CREATE = 1 << 12;

    @Test
    @Covers({"mlx5dv_is_supported", "mlx5dv_query_device"})
    void theCardIsOneOfMlx5() throws Exception {
        try (Mlx5End end = new Mlx5End()) {
            assertThat(Mlx5Device.isSupported(Device.list().getFirst())).isTrue();
            assertThat(Mlx5Device.query(end.context).maxLogStreams()).isEqualTo(5);
        }
    }

    @Test
    @Covers({"mlx5dv_create_qp", "mlx5dv_wr_set_dc_addr", "mlx5dv_qp_ex_from_ibv_qp_ex"})
    void anInitiatorTalksToTwoTargets() throws Exception {
        try (Mlx5End one = new Mlx5End(); Mlx5End other = new Mlx5End()) {
            AddressHandle handle = one.own(one.domain.createAddressHandle(Mlx5End.path()));
            Mlx5QueuePair initiator = one.initiator();
            SharedReceiveQueue receives = other.receives();
            receives.postReceive(other.receive(2, 64), 0, 2);
            List<Mlx5QueuePair> targets = List.of(other.target(receives, KEY), other.target(receives, KEY + 1));
            one.fill(0, 64, 1);
            for (int i = 0; i < 2; i++) {
                try (Mlx5Batch batch = initiator.startBatch()) {
                    batch.id(i).send();
                    batch.dct(handle, targets.get(i).number(), KEY + i);
                    batch.data(one.region, i * 16, 32);
                    batch.id(10 + i).rdmaWrite(other.region.remoteAddress() + 4096 + i * 32,
                            other.region.remoteKey());
                    batch.dct(handle, targets.get(i).number(), KEY + i);
                    batch.data(one.region, i * 16, 32);
                    batch.complete();
                }
            }

            assertThat(one.completions(4)).extracting(WorkCompletion::status)
                    .containsOnly(WorkCompletionStatus.SUCCESS);
            List<WorkCompletion> received = other.completions(2);
            assertThat(received).extracting(WorkCompletion::status).containsOnly(WorkCompletionStatus.SUCCESS);
            assertThat(received).extracting(WorkCompletion::workRequestId).containsExactly(0L, 1L);
            for (int i = 0; i < 2; i++) {
                assertThat(other.bytes(i * 64, 32)).isEqualTo(one.bytes(i * 16, 32));
                assertThat(other.bytes(4096 + i * 32, 32)).isEqualTo(one.bytes(i * 16, 32));
            }
        }
    }

    @Test
    @Covers("mlx5dv_wr_memcpy")
    void theCardCopies() throws Exception {
        try (Mlx5End end = new Mlx5End(); Mlx5End peer = new Mlx5End()) {
            Mlx5QueuePair pair = end.connection();
            Mlx5End.connect(pair, peer.connection());
            end.fill(100, 64, 9);
            assertThat(Mlx5Device.query(end.context).maxCopyLength()).isEqualTo(1 << 20);
            try (Mlx5Batch batch = pair.startBatch()) {
                batch.id(1);
                batch.copy(end.region, 5000, end.region, 100, 64);
                batch.complete();
            }

            assertThat(end.completions(1).getFirst().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(end.bytes(5000, 64)).isEqualTo(end.bytes(100, 64));
            assertThatIllegalArgumentException().isThrownBy(() -> copy(pair, end, 0));
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> copy(pair, end, end.region.length()));
            assertThatIllegalArgumentException().isThrownBy(() -> copy(pair, peer, 8));
        }
    }

    private static void copy(Mlx5QueuePair pair, Mlx5End of, long length) throws RdmaException {
        try (Mlx5Batch batch = pair.startBatch()) {
            batch.copy(of.region, 8, of.region, 100, length);
        }
    }

    @Test
    void requestsToTargetsAllocateNothing() throws Exception {
        try (Mlx5End one = new Mlx5End()) {
            AddressHandle handle = one.own(one.domain.createAddressHandle(Mlx5End.path()));
            assertAllocatesNothing(one.initiator(), batch -> {
                batch.send();
                batch.dct(handle, 7, KEY);
            });
        }
    }

    @Test
    void requestsThatChangeKeysAllocateNothing() throws Exception {
        try (Mlx5End one = new Mlx5End()) {
            DataEncryptionKey secret = one.own(DataEncryptionKey.create(one.domain,
                    KeyMaterial.plain(KeyMaterial.Size.BITS_128, new byte[32])));
            Mkey key = one.own(Mkey.create(one.domain, 4, MkeyFlag.INDIRECT, MkeyFlag.BLOCK_SIGNATURE,
                    MkeyFlag.CRYPTO));
            InterleavedLayout column = InterleavedLayout.of(ROWS,
                    new InterleavedLayout.Part(one.region, 32, CELL, ROW - CELL));
            ListLayout list = scattered(one);
            MkeyConfiguration configuration = MkeyConfiguration.create().access(AccessFlag.REMOTE_READ).layout(list)
                    .signature(BlockSignature.onTheWire(new Checksum(BlockSize.BYTES_512,
                            Checksum.Polynomial.CRC32, Seed.ZEROS), BlockSignature.CHECKSUM_4))
                    .encryption(MkeyEncryption.onTheWire(secret, BlockSize.BYTES_512, new byte[16]));
            Mlx5QueuePair pair = one.connection();
            assertAllocatesNothing(pair, batch -> batch.register(key, column, ACCESS));
            assertAllocatesNothing(pair, batch -> batch.register(key, list, ACCESS));
            assertAllocatesNothing(pair, batch -> batch.configure(key, configuration));
        }
    }

    @Test
    void rawEntriesAndCopiesAllocateNothing() throws Exception {
        try (Mlx5End one = new Mlx5End()) {
            Mlx5QueuePair pair = one.connection();
            Wqe entry = Wqe.waitFor(pair.number(), 1, 1);
            assertAllocatesNothing(pair, batch -> batch.raw(entry));
            assertAllocatesNothing(pair, batch -> batch.copy(one.region, 5000, one.region, 100, 64));
        }
    }

    private static void assertAllocatesNothing(Mlx5QueuePair pair, Consumer<Mlx5Batch> request) throws Exception {
        Allocation.assertNone(() -> {
            try (Mlx5Batch batch = pair.startBatch()) {
                request.accept(batch);
            }
        });
    }

    @Test
    @Covers("mlx5dv_wr_set_dc_addr")
    void aTargetRefusesAnotherKey() throws Exception {
        try (Mlx5End one = new Mlx5End(); Mlx5End other = new Mlx5End()) {
            AddressHandle handle = one.own(one.domain.createAddressHandle(Mlx5End.path()));
            Mlx5QueuePair initiator = one.initiator();
            Mlx5QueuePair target = other.target(other.receives(), KEY);
            try (Mlx5Batch batch = initiator.startBatch()) {
                batch.id(1).rdmaWrite(other.region.remoteAddress(), other.region.remoteKey());
                batch.dct(handle, target.number(), KEY + 1);
                batch.data(one.region, 0, 8);
                batch.complete();
            }

            assertThat(one.completions(1).getFirst().status()).isEqualTo(WorkCompletionStatus.REM_ACCESS_ERR);
        }
    }

    @Test
    @Covers({"mlx5dv_create_mkey", "mlx5dv_destroy_mkey", "mlx5dv_wr_mr_interleaved"})
    void aColumnOfAMatrixIsOneMessage() throws Exception {
        try (Mlx5End one = new Mlx5End(); Mlx5End other = new Mlx5End();
                Mkey column = Mkey.create(one.domain, 2, MkeyFlag.INDIRECT)) {
            one.fill(0, ROWS * ROW, 3);
            InterleavedLayout layout = InterleavedLayout.of(ROWS,
                    new InterleavedLayout.Part(one.region, 32, CELL, ROW - CELL));
            List<WorkCompletion> received = send(one, other, column, ROWS * CELL,
                    batch -> batch.register(column, layout, ACCESS));

            assertThat(received.getFirst().byteLength()).isEqualTo(ROWS * CELL);
            for (int i = 0; i < ROWS; i++) {
                assertThat(other.bytes(i * CELL, CELL)).isEqualTo(one.bytes(32 + i * ROW, CELL));
            }
        }
    }

    @Test
    @Covers("mlx5dv_wr_mr_list")
    void scatteredMemoryIsOneMessage() throws Exception {
        try (Mlx5End one = new Mlx5End(); Mlx5End other = new Mlx5End();
                Mkey list = Mkey.create(one.domain, 2, MkeyFlag.INDIRECT)) {
            one.fill(0, 1000, 5);
            one.fill(8192, 1000, 7);
            send(one, other, list, 300, batch -> batch.register(list, scattered(one), ACCESS));

            assertThat(other.bytes(0, 100)).isEqualTo(one.bytes(0, 100));
            assertThat(other.bytes(100, 200)).isEqualTo(one.bytes(8192, 200));
        }
    }

    @Test
    @Covers({"mlx5dv_wr_mkey_configure", "mlx5dv_wr_set_mkey_access_flags", "mlx5dv_wr_set_mkey_layout_list"})
    void aKeyIsConfiguredStepByStep() throws Exception {
        try (Mlx5End one = new Mlx5End(); Mlx5End other = new Mlx5End();
                Mkey list = Mkey.create(one.domain, 4, MkeyFlag.INDIRECT)) {
            one.fill(0, 1000, 11);
            one.fill(8192, 1000, 13);
            MkeyConfiguration configuration = MkeyConfiguration.create().access(ACCESS.toArray(AccessFlag[]::new))
                    .layout(scattered(one));
            send(one, other, list, 300, batch -> batch.configure(list, configuration));

            assertThat(other.bytes(0, 100)).isEqualTo(one.bytes(0, 100));
            assertThat(other.bytes(100, 200)).isEqualTo(one.bytes(8192, 200));
        }
    }

    @Test
    @Covers("mlx5dv_wr_raw_wqe")
    void anEntryThatTheCardDoesNotKnowFails() throws Exception {
        try (Mlx5End one = new Mlx5End(); Mlx5End other = new Mlx5End()) {
            Mlx5QueuePair pair = one.connection();
            Mlx5End.connect(pair, other.connection());
            try (Mlx5Batch batch = pair.startBatch()) {
                batch.id(9);
                batch.raw(Wqe.maskedFetchAndAdd(pair.number(), new Wqe.AtomicPlace(
                        other.region.remoteAddress(), other.region.remoteKey(), one.region, 0), new byte[8],
                        new byte[8]));
                batch.complete();
            }

            WorkCompletion failed = one.completions(1).getFirst();
            assertThat(failed.status()).isEqualTo(WorkCompletionStatus.LOC_QP_OP_ERR);
            assertThat(failed.workRequestId()).isEqualTo(9);
        }
    }

    @Test
    @Covers("mlx5dv_create_mkey")
    void aKeyThatTheKernelRefusesLeavesNothing() throws Exception {
        try (Mlx5End one = new Mlx5End()) {
            FakeMlx5.refuse(DEVX_OBJECT, DEVX_OBJECT_CREATE, Rdma.ENOMEM());

            assertThatThrownBy(() -> Mkey.create(one.domain, 1, MkeyFlag.INDIRECT)).isInstanceOf(RdmaException.class)
                    .hasMessageContaining("ENOMEM");
        }
    }

    @Test
    @Covers("mlx5dv_destroy_mkey")
    void aDomainClosesAfterItsKeys() throws Exception {
        try (Mlx5End one = new Mlx5End()) {
            Mkey key = Mkey.create(one.domain, 1, MkeyFlag.INDIRECT);
            assertThatThrownBy(one.domain::close).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("Mkey");
            key.close();
            key.close();
            assertThatThrownBy(key::localKey).isInstanceOf(IllegalStateException.class);
        }
    }

    @FunctionalInterface
    private interface Step {
        void run(Mlx5Batch batch) throws RdmaException;
    }

    /** Changes a key, then sends what it names; returns what the other end has received, at its start. */
    private static List<WorkCompletion> send(Mlx5End one, Mlx5End other, Mkey key, int bytes, Step change)
            throws Exception {
        Mlx5QueuePair pair = one.connection();
        Mlx5QueuePair peer = other.connection();
        Mlx5End.connect(pair, peer);
        peer.postReceive(other.receive(1, RECEIVED), 0, 1);
        try (Mlx5Batch batch = pair.startBatch()) {
            batch.id(1);
            change.run(batch);
            batch.id(2).send();
            batch.data(key, 0, bytes);
            batch.complete();
        }
        assertThat(one.completions(2)).extracting(WorkCompletion::status).containsOnly(WorkCompletionStatus.SUCCESS);
        List<WorkCompletion> received = other.completions(1);
        assertThat(received.getFirst().opcode()).isEqualTo(WorkCompletionOpcode.RECV);
        return received;
    }

    private static ListLayout scattered(Mlx5End end) {
        return ListLayout.of(new ListLayout.Part(end.region, 0, 100), new ListLayout.Part(end.region, 8192, 200));
    }
}
