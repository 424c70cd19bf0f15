// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.mlx5.Mlx5;
import io.rdmacm.bindings.mlx5.mlx5dv_crypto_attr;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Memory;

/**
 * How data is encrypted and decrypted, with AES-XTS, while it moves through a {@link Mkey}
 * ({@code struct mlx5dv_crypto_attr}, mlx5dv_wr_set_mkey_crypto(3)). Immutable, thread-safe.
 */
public final class MkeyEncryption {
    /** How many bytes a tweak has. */
    public static final int TWEAK_BYTES = 16;

    private static final VerbsAccess VERBS = VerbsAccess.get();

    private final DataEncryptionKey key;
    private final boolean encryptsOnTransmit;
    private final BlockSize dataUnit;
    private final byte[] tweak;
    private final byte[] tag;
    private final Order order;

    private MkeyEncryption(DataEncryptionKey key, boolean encryptsOnTransmit, BlockSize dataUnit, byte[] tweak,
            byte[] tag, Order order) {
        this.key = key;
        this.encryptsOnTransmit = encryptsOnTransmit;
        this.dataUnit = dataUnit;
        this.tweak = tweak;
        this.tag = tag;
        this.order = order;
    }

    /** What is done first if data is signed, too ({@code enum mlx5dv_signature_crypto_order}). */
    public enum Order {
        /** What is transmitted is encrypted or decrypted, then signed; what is received, the other way round. */
        SIGNATURE_AFTER_ENCRYPTION(Mlx5.MLX5DV_SIGNATURE_CRYPTO_ORDER_SIGNATURE_AFTER_CRYPTO_ON_TX()),
        /** What is transmitted is signed, then encrypted or decrypted; what is received, the other way round. */
        SIGNATURE_BEFORE_ENCRYPTION(Mlx5.MLX5DV_SIGNATURE_CRYPTO_ORDER_SIGNATURE_BEFORE_CRYPTO_ON_TX());

        private final int value;

        Order(int value) {
            this.value = value;
        }

        /** {@return the C constant} */
        public int value() {
            return value;
        }
    }

    /**
     * Encrypts what is transmitted, and decrypts what is received: memory has plain text.
     *
     * @param key the key, of the protection domain of the {@link Mkey}
     * @param dataUnit the size of the blocks that are encrypted each for itself
     * @param tweak the tweak of the first block, {@value #TWEAK_BYTES} bytes, the lowest first
     * @return the encryption, for keys without a tag
     * @throws IllegalArgumentException if the tweak has another size
     */
    public static MkeyEncryption onTheWire(DataEncryptionKey key, BlockSize dataUnit, byte[] tweak) {
        return of(key, true, dataUnit, tweak);
    }

    /**
     * Decrypts what is transmitted, and encrypts what is received: memory has encrypted text.
     *
     * @param key the key, of the protection domain of the {@link Mkey}
     * @param dataUnit the size of the blocks that are encrypted each for itself
     * @param tweak the tweak of the first block, {@value #TWEAK_BYTES} bytes, the lowest first
     * @return the encryption, for keys without a tag
     * @throws IllegalArgumentException if the tweak has another size
     */
    public static MkeyEncryption inMemory(DataEncryptionKey key, BlockSize dataUnit, byte[] tweak) {
        return of(key, false, dataUnit, tweak);
    }

    private static MkeyEncryption of(DataEncryptionKey key, boolean encryptsOnTransmit, BlockSize dataUnit,
            byte[] tweak) {
        if (tweak.length != TWEAK_BYTES) {
            throw new IllegalArgumentException("a tweak has " + TWEAK_BYTES + " bytes, not " + tweak.length);
        }
        return new MkeyEncryption(key, encryptsOnTransmit, dataUnit, tweak.clone(), new byte[KeyMaterial.TAG_BYTES],
                Order.SIGNATURE_AFTER_ENCRYPTION);
    }

    /**
     * Sets the tag, which the device compares with that of the key.
     *
     * @param bytes the tag, {@value KeyMaterial#TAG_BYTES} bytes
     * @return a copy of this encryption
     * @throws IllegalArgumentException if the tag has another size
     */
    public MkeyEncryption tag(byte[] bytes) {
        if (bytes.length != KeyMaterial.TAG_BYTES) {
            throw new IllegalArgumentException("a tag has " + KeyMaterial.TAG_BYTES + " bytes, not " + bytes.length);
        }
        return new MkeyEncryption(key, encryptsOnTransmit, dataUnit, tweak, bytes.clone(), order);
    }

    /**
     * Sets what is done first if data is signed, too.
     *
     * @param value the order; SIGNATURE_AFTER_ENCRYPTION by default
     * @return a copy of this encryption
     */
    public MkeyEncryption order(Order value) {
        return new MkeyEncryption(key, encryptsOnTransmit, dataUnit, tweak, tag, value);
    }

    /** {@return the key} */
    public DataEncryptionKey key() {
        return key;
    }

    /** {@return whether memory has plain text} */
    public boolean encryptsOnTransmit() {
        return encryptsOnTransmit;
    }

    /** {@return the size of the blocks that are encrypted each for itself} */
    public BlockSize dataUnit() {
        return dataUnit;
    }

    /** Allocates and writes a {@code struct mlx5dv_crypto_attr}. */
    long write(Arena arena) {
        MemorySegment attributes = arena.allocate(mlx5dv_crypto_attr.layout());
        long struct = attributes.address();
        Memory.putInt(struct + mlx5dv_crypto_attr.crypto_standard$offset(), Mlx5.MLX5DV_CRYPTO_STANDARD_AES_XTS());
        Memory.putByte(struct + mlx5dv_crypto_attr.encrypt_on_tx$offset(), (byte) (encryptsOnTransmit ? 1 : 0));
        Memory.putInt(struct + mlx5dv_crypto_attr.signature_crypto_order$offset(), order.value());
        Memory.putInt(struct + mlx5dv_crypto_attr.data_unit_size$offset(), dataUnit.value());
        MemorySegment.copy(MemorySegment.ofArray(tweak), 0, attributes, mlx5dv_crypto_attr.initial_tweak$offset(),
                tweak.length);
        Memory.putLong(struct + mlx5dv_crypto_attr.dek$offset(), VERBS.addressOf(key));
        MemorySegment.copy(MemorySegment.ofArray(tag), 0, attributes, mlx5dv_crypto_attr.keytag$offset(), tag.length);
        return struct;
    }
}
