// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Stream;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.testing.Covers;
import io.rdmacm.verbs.testing.FakeMlx5;
import io.rdmacm.verbs.testing.WithFakeMlx5;
import io.rdmacm.verbs.work.AccessFlag;
import io.rdmacm.verbs.work.WorkCompletion;
import io.rdmacm.verbs.work.WorkCompletionStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Keys whose blocks have signatures: the entries that libmlx5 forms, and what it tells of wrong signatures. */
@WithFakeMlx5
class Mlx5SignatureTest {
    private static final int BYTES = 1024;
    private static final int NONE = -1;
    private static final T10Dif DISK = new T10Dif(BlockSize.BYTES_512, T10Dif.Guard.CRC, Seed.ONES, 0x1234,
            0xfedcba98L, Set.of(T10Dif.Flag.REFERENCE_TAG_INCREMENTS, T10Dif.Flag.BOTH_TAGS_ESCAPE));
    private static final T10Dif FABRIC = new T10Dif(BlockSize.BYTES_512, T10Dif.Guard.IP_CHECKSUM, Seed.ZEROS, 0x4321,
            7, Set.of(T10Dif.Flag.APPLICATION_TAG_ESCAPES));
    private static final Checksum CASTAGNOLI = new Checksum(BlockSize.BYTES_4096, Checksum.Polynomial.CRC32C,
            Seed.ONES);
    private static final Checksum LONG = new Checksum(BlockSize.BYTES_4048, Checksum.Polynomial.CRC64_XP10, Seed.ONES);

    /** A signature, and the numbers that C is given for it. */
    private record Case(BlockSignature signature, long[] memory, long[] wire, int checkMask, int copyMask) {
        @Override
        public String toString() {
            return signature.toString();
        }
    }

    static Stream<Case> signatures() {
        long[] disk = {0, 0, 0, 0xffff, 0x1234, 0xfedcba98L, 0b101};
        long[] fabric = {0, 0, 1, 0, 0x4321, 7, 0b010};
        long[] castagnoli = {1, 3, 1, 0xffff_ffffL};
        return Stream.of(
                new Case(BlockSignature.inMemory(DISK, BlockSignature.GUARD | BlockSignature.REFERENCE_TAG), disk,
                        new long[0], 0xcf, NONE),
                new Case(BlockSignature.onTheWire(FABRIC, BlockSignature.APPLICATION_TAG), new long[0], fabric, 0x30,
                        NONE),
                new Case(BlockSignature.onBothSides(DISK, FABRIC, 0xff), disk, fabric, 0xff, NONE),
                new Case(BlockSignature.onBothSides(DISK, FABRIC, 0xff).copying(BlockSignature.REFERENCE_TAG), disk,
                        fabric, 0xff, 0x0f),
                new Case(BlockSignature.onBothSides(CASTAGNOLI, CASTAGNOLI, BlockSignature.CHECKSUM_4), castagnoli,
                        castagnoli, 0xf0, NONE),
                new Case(BlockSignature.onBothSides(LONG, FABRIC, BlockSignature.CHECKSUM_8),
                        new long[] {1, 2, 2, -1}, fabric, 0xff, NONE));
    }

    @ParameterizedTest
    @MethodSource("signatures")
    @Covers("mlx5dv_wr_set_mkey_sig_block")
    void theEntriesAreThoseOfC(Case signed, @TempDir Path directory) throws Throwable {
        try (Mlx5End one = new Mlx5End(); Mlx5End other = new Mlx5End(); Arena arena = Arena.ofConfined()) {
            KeyTwin twin = new KeyTwin(directory, arena);
            Mkey key = one.own(Mkey.create(one.domain, 4, MkeyFlag.INDIRECT, MkeyFlag.BLOCK_SIGNATURE));
            Mlx5QueuePair pair = one.connection();
            Mlx5End.connect(pair, other.connection());
            // The first time libmlx5 also sets the count of errors.
            configure(one, pair, key, signed.signature);
            int before = FakeMlx5.blocks(pair.number());
            configure(one, pair, key, signed.signature);
            byte[] ofJava = FakeMlx5.entries(pair.number(), before);
            before = FakeMlx5.blocks(pair.number());
            twin.call("configure_signature", pair.handle(), key.handle(),
                    twin.part(one.region.remoteAddress(), BYTES, one.region.localKey()), twin.domain(signed.memory),
                    twin.domain(signed.wire), signed.checkMask, signed.copyMask);
            assertThat(one.completions(1).getFirst().status()).isEqualTo(WorkCompletionStatus.SUCCESS);

            assertThat(ofJava).isEqualTo(FakeMlx5.entries(pair.number(), before));
            int sides = (int) Stream.of(signed.signature.memory(), signed.signature.wire())
                    .filter(Optional::isPresent).count();
            // four blocks for the key, and one for each signature
            assertThat(ofJava).hasSize((4 + sides) * 64);
        }
    }

    private static void configure(Mlx5End one, Mlx5QueuePair pair, Mkey key, BlockSignature signature)
            throws Exception {
        MkeyConfiguration configuration = MkeyConfiguration.create().access(AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_READ).layout(ListLayout.of(new ListLayout.Part(one.region, 0, BYTES)))
                .signature(signature);
        try (Mlx5Batch batch = pair.startBatch()) {
            batch.id(1);
            batch.configure(key, configuration);
            batch.complete();
        }
        WorkCompletion done = one.completions(1).getFirst();
        assertThat(done.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
    }

    @ParameterizedTest
    @CsvSource({"8192, BAD_GUARD, 0x1111, 0x3333", "4096, BAD_APPLICATION_TAG, 0x2222, 0x4444",
            "2048, BAD_REFERENCE_TAG, 0x55, 0x66"})
    @Covers("mlx5dv_mkey_check")
    void aWrongSignatureIsTold(int syndrome, MkeyError.Kind kind, int expected, int actual) throws Exception {
        try (Mlx5End one = new Mlx5End(); Mlx5End other = new Mlx5End()) {
            Mkey key = one.own(Mkey.create(one.domain, 4, MkeyFlag.INDIRECT, MkeyFlag.BLOCK_SIGNATURE));
            Mlx5QueuePair pair = one.connection();
            Mlx5End.connect(pair, other.connection());
            configure(one, pair, key, BlockSignature.inMemory(DISK, 0xff));
            assertThat(key.check()).isEmpty();

            FakeMlx5.wrongSignature(pair.number(), key.localKey(), syndrome, 1, 0x1111_2222, 0x3333_4444, 0x55, 0x66,
                    520);
            configure(one, pair, key, BlockSignature.inMemory(DISK, 0xff));

            assertThat(key.check()).contains(new MkeyError(kind, actual, expected, 520));
            assertThat(key.check()).isEmpty();
        }
    }

    @Test
    void onlyAKeyForSignaturesHasThem() throws Exception {
        try (Mlx5End one = new Mlx5End(); Mkey key = Mkey.create(one.domain, 4, MkeyFlag.INDIRECT);
                Mlx5Batch batch = one.connection().startBatch()) {
            MkeyConfiguration signed = MkeyConfiguration.create().signature(BlockSignature.inMemory(DISK, 0xff));

            assertThatThrownBy(() -> batch.configure(key, signed)).isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("was created without BLOCK_SIGNATURE");
            assertThatThrownBy(key::check).isInstanceOf(RdmaException.class).hasMessageContaining("EINVAL");
        }
    }

    @Test
    void signaturesThatCannotBeAreRefused() {
        assertThatThrownBy(() -> new BlockSignature(Optional.empty(), Optional.empty(), 0, OptionalInt.empty()))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> BlockSignature.inMemory(DISK, 256)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> BlockSignature.onBothSides(DISK, CASTAGNOLI, 0).copying(1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("signatures are copied only between blocks of the same structure");
        assertThatThrownBy(() -> BlockSignature.inMemory(DISK, 0).copying(1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new T10Dif(BlockSize.BYTES_512, T10Dif.Guard.CRC, Seed.ONES, 1 << 16, 0, Set.of()))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new T10Dif(BlockSize.BYTES_512, T10Dif.Guard.CRC, Seed.ONES, 0, 1L << 32, Set.of()))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("32 bits");
    }

    @Test
    @Covers("mlx5dv_query_device")
    void theCardTellsWhatItSigns() throws Exception {
        try (Mlx5End one = new Mlx5End()) {
            assertThat(Mlx5Device.query(one.context).signature())
                    .isEqualTo(new Mlx5DeviceAttributes.Signature(0b11111, 0b11, 0b11, 0b111));
        }
    }
}
