// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeMlx5;
import io.rdmacm.verbs.testing.UseAfterClose;
import io.rdmacm.verbs.testing.WithFakeMlx5;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Keys that encrypt, logins, and the memory keys that are configured with them. */
@WithFakeMlx5
class Mlx5CryptoTest {
    private static final int BYTES = 1024;
    private static final byte[] TWEAK = HexFormat.of().parseHex("000102030405060708090a0b0c0d0e0f");
    private static final byte[] TAG = "key-tag!".getBytes();
    private static final byte[] CREDENTIAL = bytes(CryptoSession.CREDENTIAL_BYTES, 3);
    private static final KeyMaterial PLAIN = KeyMaterial.plain(KeyMaterial.Size.BITS_128, bytes(32, 7));
    private static final KeyMaterial WRAPPED = KeyMaterial.wrapped(KeyMaterial.Size.BITS_256, bytes(72, 9));
    // numbers of requests to the kernel, from mlx5_user_ioctl_cmds.h
    private static final int DEVX_OBJECT = 1 << 12 | 1;
    private static final int DEVX_OBJECT_CREATE = 1 << 12;

    @AfterEach
    void takePlainKeys() {
        FakeMlx5.takeWrappedKeys(false);
        FakeMlx5.invalidateLogins(false);
    }

    @Test
    void whatIsNewerThanTheLibraryIsNoFailure() {
        assertThat(CryptoLogin.State.of(2)).isEqualTo(CryptoLogin.State.INVALID);
        assertThat(CryptoLogin.State.of(3)).isEqualTo(CryptoLogin.State.OTHER);
        assertThat(MkeyError.Kind.of(1)).isEqualTo(MkeyError.Kind.BAD_GUARD);
        assertThat(MkeyError.Kind.of(4)).isEqualTo(MkeyError.Kind.OTHER);
    }

    @Test
    @Covers({"mlx5dv_dek_create", "mlx5dv_dek_destroy"})
    void theCommandOfAKeyIsThatOfC(@TempDir Path directory) throws Throwable {
        KeyMaterial material = KeyMaterial.plain(KeyMaterial.Size.BITS_256, bytes(72, 5)).note("a note".getBytes());
        try (Mlx5End one = new Mlx5End(); Arena arena = Arena.ofConfined()) {
            KeyTwin twin = new KeyTwin(directory, arena);
            DataEncryptionKey.create(one.domain, material).close();
            byte[] ofJava = FakeMlx5.lastCommand();
            DataEncryptionKey.create(one.domain, PLAIN).close();
            assertThat(FakeMlx5.lastCommand()).isNotEqualTo(ofJava);
            twin.call("create_key", one.context.handle(), one.domain.handle(), 1, 1,
                    twin.bytes(Arrays.copyOf("a note".getBytes(), 8)), twin.bytes(bytes(72, 5)), 72);

            assertThat(FakeMlx5.lastCommand()).isEqualTo(ofJava);
        }
    }

    @Test
    @Covers("mlx5dv_dek_query")
    void aKeyTellsItsStateAndNote() throws Exception {
        try (Mlx5End one = new Mlx5End();
                DataEncryptionKey key = DataEncryptionKey.create(one.domain, PLAIN.note("note".getBytes()))) {
            assertThat(key.query().isReady()).isTrue();
            assertThat(key.query().note()).isEqualTo(Arrays.copyOf("note".getBytes(), 8));
        }
    }

    @Test
    @Covers({"mlx5dv_crypto_login_create", "mlx5dv_crypto_login_query", "mlx5dv_crypto_login_destroy"})
    void aWrappedKeyNeedsALogin(@TempDir Path directory) throws Throwable {
        FakeMlx5.takeWrappedKeys(true);
        try (Mlx5End one = new Mlx5End(); Arena arena = Arena.ofConfined()) {
            assertThatThrownBy(() -> DataEncryptionKey.create(one.domain, WRAPPED)).isInstanceOf(RdmaException.class)
                    .hasMessageContaining("EINVAL");
            assertThatThrownBy(() -> DataEncryptionKey.create(one.domain, PLAIN)).isInstanceOf(RdmaException.class);
            CryptoLogin login = CryptoLogin.create(one.context, 0x123456, 0x654321, CREDENTIAL);
            byte[] ofJava = FakeMlx5.lastCommand();
            assertThat(login.state()).isEqualTo(CryptoLogin.State.VALID);
            DataEncryptionKey key = DataEncryptionKey.create(one.domain, WRAPPED, login);
            FakeMlx5.invalidateLogins(true);
            assertThat(login.state()).isEqualTo(CryptoLogin.State.INVALID);
            // the key outlives the login
            login.close();
            assertThatThrownBy(login::state).isInstanceOf(IllegalStateException.class);
            key.close();
            KeyTwin twin = new KeyTwin(directory, arena);
            twin.call("log_in", one.context.handle(), 0x123456, 0x654321,
                    twin.bytes(CREDENTIAL));
            assertThat(FakeMlx5.lastCommand()).isEqualTo(ofJava);
        }
    }

    @Test
    @Covers({"mlx5dv_crypto_login", "mlx5dv_crypto_login_query_state", "mlx5dv_crypto_logout"})
    void aContextLogsInOnce() throws Exception {
        FakeMlx5.takeWrappedKeys(true);
        try (Mlx5End one = new Mlx5End()) {
            assertThat(CryptoSession.state(one.context)).isEqualTo(CryptoLogin.State.NO_LOGIN);
            CryptoSession.login(one.context, 1, 2, CREDENTIAL);
            assertThat(CryptoSession.state(one.context)).isEqualTo(CryptoLogin.State.VALID);
            assertThatThrownBy(() -> CryptoSession.login(one.context, 1, 2, CREDENTIAL))
                    .isInstanceOf(RdmaException.class).hasMessageContaining("EEXIST");
            DataEncryptionKey.create(one.domain, WRAPPED).close();
            CryptoSession.logout(one.context);
            assertThatThrownBy(() -> CryptoSession.logout(one.context)).isInstanceOf(RdmaException.class)
                    .hasMessageContaining("ENOENT");
        }
    }

    @ParameterizedTest
    @CsvSource({"true, SIGNATURE_AFTER_ENCRYPTION", "true, SIGNATURE_BEFORE_ENCRYPTION",
            "false, SIGNATURE_AFTER_ENCRYPTION"})
    @Covers("mlx5dv_wr_set_mkey_crypto")
    void theEntriesAreThoseOfC(boolean onTheWire, MkeyEncryption.Order order, @TempDir Path directory)
            throws Throwable {
        try (Mlx5End one = new Mlx5End(); Mlx5End other = new Mlx5End(); Arena arena = Arena.ofConfined()) {
            KeyTwin twin = new KeyTwin(directory, arena);
            DataEncryptionKey encryptionKey = one.own(DataEncryptionKey.create(one.domain, PLAIN));
            Mkey key = one.own(Mkey.create(one.domain, 4, MkeyFlag.INDIRECT, MkeyFlag.CRYPTO));
            Mlx5QueuePair pair = one.connection();
            Mlx5End.connect(pair, other.connection());
            MkeyEncryption encryption = (onTheWire
                    ? MkeyEncryption.onTheWire(encryptionKey, BlockSize.BYTES_520, TWEAK)
                    : MkeyEncryption.inMemory(encryptionKey, BlockSize.BYTES_520, TWEAK)).tag(TAG).order(order);
            // The first entry has another fence.
            configure(one, pair, key, encryption);
            int before = FakeMlx5.blocks(pair.number());
            configure(one, pair, key, encryption);
            byte[] ofJava = FakeMlx5.entries(pair.number(), before);
            before = FakeMlx5.blocks(pair.number());
            twin.call("configure_encryption", pair.queuePair().handle(), key.handle(),
                    twin.part(one.region.remoteAddress(), BYTES, one.region.localKey()), encryptionKey.handle(),
                    onTheWire ? 1 : 0, order.ordinal(), 1, twin.bytes(TWEAK), twin.bytes(TAG));
            assertThat(one.completions(1).getFirst().status()).isEqualTo(WorkCompletionStatus.SUCCESS);

            assertThat(FakeMlx5.entries(pair.number(), before)).isEqualTo(ofJava).hasSize(4 * 64);
        }
    }

    private static void configure(Mlx5End one, Mlx5QueuePair pair, Mkey key, MkeyEncryption encryption)
            throws Exception {
        MkeyConfiguration configuration = MkeyConfiguration.create().access(AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_READ).layout(ListLayout.of(new ListLayout.Part(one.region, 0, BYTES)))
                .encryption(encryption);
        try (Mlx5Batch batch = pair.startBatch()) {
            batch.requests().id(1);
            batch.configure(key, configuration);
            batch.complete();
        }
        assertThat(one.completions(1).getFirst().status()).isEqualTo(WorkCompletionStatus.SUCCESS);
    }

    @Test
    @Covers("mlx5dv_wr_set_mkey_crypto")
    void anEncryptionKeyOutlivesTheMemoryKeysThatUseIt() throws Exception {
        try (Mlx5End one = new Mlx5End(); Mlx5End other = new Mlx5End()) {
            DataEncryptionKey encryptionKey = DataEncryptionKey.create(one.domain, PLAIN);
            Mkey key = Mkey.create(one.domain, 4, MkeyFlag.INDIRECT, MkeyFlag.CRYPTO);
            Mlx5QueuePair pair = one.connection();
            Mlx5End.connect(pair, other.connection());
            MkeyEncryption encryption = MkeyEncryption.onTheWire(encryptionKey, BlockSize.BYTES_512, TWEAK);
            configure(one, pair, key, encryption);
            configure(one, pair, key, encryption);

            assertThatThrownBy(encryptionKey::close).isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("Mkey");
            key.close();
            encryptionKey.close();
            try (Mkey late = Mkey.create(one.domain, 4, MkeyFlag.INDIRECT, MkeyFlag.CRYPTO);
                    Mlx5Batch batch = pair.startBatch()) {
                assertThatThrownBy(() -> batch.configure(late, MkeyConfiguration.create().encryption(encryption)))
                        .isInstanceOf(IllegalStateException.class).hasMessageContaining("is closed");
            }
        }
    }

    @Test
    void whatDoesNotBelongTogetherIsRefused() throws Exception {
        try (Mlx5End one = new Mlx5End(); Mlx5End other = new Mlx5End();
                DataEncryptionKey strange = DataEncryptionKey.create(other.domain, PLAIN);
                Mkey plain = Mkey.create(one.domain, 4, MkeyFlag.INDIRECT);
                Mkey key = Mkey.create(one.domain, 4, MkeyFlag.INDIRECT, MkeyFlag.CRYPTO);
                CryptoLogin login = CryptoLogin.create(other.context, 1, 2, CREDENTIAL);
                Mlx5Batch batch = one.connection().startBatch()) {
            MkeyConfiguration encrypted = MkeyConfiguration.create()
                    .encryption(MkeyEncryption.onTheWire(strange, BlockSize.BYTES_512, TWEAK));

            assertThatThrownBy(() -> batch.configure(plain, encrypted)).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("was created without CRYPTO");
            assertThatThrownBy(() -> batch.configure(key, encrypted)).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("another protection domain");
            assertThatThrownBy(() -> DataEncryptionKey.create(one.domain, WRAPPED, login))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("another context");
            assertThatThrownBy(() -> DataEncryptionKey.create(other.domain, PLAIN, login))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void sizesAreCheckedBeforeCIsAsked() throws Exception {
        assertThatThrownBy(() -> KeyMaterial.plain(KeyMaterial.Size.BITS_128, new byte[33]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("such a key has 32 bytes, or with a tag 40, not 33");
        assertThatThrownBy(() -> PLAIN.note(new byte[9])).isInstanceOf(IllegalArgumentException.class);
        assertThat(PLAIN.toString()).isEqualTo("KeyMaterial[BITS_128]");
        try (Mlx5End one = new Mlx5End(); DataEncryptionKey key = DataEncryptionKey.create(one.domain, PLAIN)) {
            assertThatThrownBy(() -> CryptoLogin.create(one.context, 1, 2, new byte[64]))
                    .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("48 bytes, not 64");
            assertThatThrownBy(() -> CryptoSession.login(one.context, 1 << 24, 2, CREDENTIAL))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> MkeyEncryption.onTheWire(key, BlockSize.BYTES_512, new byte[8]))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> MkeyEncryption.onTheWire(key, BlockSize.BYTES_512, TWEAK).tag(TWEAK))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    @Covers("mlx5dv_dek_create")
    void aKeyThatTheKernelRefusesLeavesNothing() throws Exception {
        try (Mlx5End one = new Mlx5End()) {
            FakeMlx5.refuse(DEVX_OBJECT, DEVX_OBJECT_CREATE, Rdma.ENOMEM());

            assertThatThrownBy(() -> DataEncryptionKey.create(one.domain, PLAIN)).isInstanceOf(RdmaException.class)
                    .hasMessageContaining("ENOMEM");
        }
    }

    @Test
    @Covers("mlx5dv_query_device")
    void theCardTellsWhatItEncrypts() throws Exception {
        FakeMlx5.takeWrappedKeys(true);
        try (Mlx5End one = new Mlx5End()) {
            // both engines, wrapped keys, 1024 of them; encryption, and wrapping keys are there
            assertThat(Mlx5Device.query(one.context).crypto())
                    .isEqualTo(new Mlx5DeviceAttributes.Crypto(0, 0b110, 1, 10, 0b011));
        }
    }

    @TestFactory
    Stream<DynamicTest> whatIsClosedIsNotUsed() throws Exception {
        try (Mlx5End one = new Mlx5End()) {
            CryptoLogin login = CryptoLogin.create(one.context, 1, 2, CREDENTIAL);
            DataEncryptionKey key = DataEncryptionKey.create(one.domain, PLAIN);
            Mkey mkey = Mkey.create(one.domain, 4, MkeyFlag.INDIRECT);
            login.close();
            key.close();
            mkey.close();
            return UseAfterClose.of(List.of(CryptoLogin.class, DataEncryptionKey.class, Mkey.class)).closed(login)
                    .closed(key).closed(mkey).tests();
        }
    }

    private static byte[] bytes(int count, int seed) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = (byte) (31 * seed + 7 * i);
        }
        return bytes;
    }
}
