// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.util.Arrays;

import io.rdmacm.bindings.mlx5.Mlx5;

/**
 * What a {@link DataEncryptionKey} is made of ({@code struct mlx5dv_dek_init_attr}, mlx5dv_dek_create(3)): two keys of
 * AES-XTS, if wanted a tag of 8 bytes that whoever uses the key has to know, and a text about it. Immutable; its text
 * form does not contain the key. Thread-safe.
 */
public final class KeyMaterial {
    /** How many bytes a tag has. */
    public static final int TAG_BYTES = 8;
    /** How many bytes the text about a key has at most. */
    public static final int NOTE_BYTES = 8;

    private static final int WRAPPING_BYTES = 8;

    private final Size size;
    private final boolean hasTag;
    private final boolean isWrapped;
    private final byte[] key;
    private final byte[] note;

    private KeyMaterial(Size size, boolean hasTag, boolean isWrapped, byte[] key, byte[] note) {
        this.size = size;
        this.hasTag = hasTag;
        this.isWrapped = isWrapped;
        this.key = key;
        this.note = note;
    }

    /** The size of each of the two keys of AES-XTS ({@code enum mlx5dv_crypto_key_size}). */
    public enum Size {
        /** 128 bits. */
        BITS_128(Mlx5.MLX5DV_CRYPTO_KEY_SIZE_128(), 16),
        /** 256 bits. */
        BITS_256(Mlx5.MLX5DV_CRYPTO_KEY_SIZE_256(), 32);

        private final int value;
        private final int bytes;

        Size(int value, int bytes) {
            this.value = value;
            this.bytes = bytes;
        }

        /** {@return the C constant} */
        public int value() {
            return value;
        }

        /** {@return the size of one of the two keys in bytes} */
        public int bytes() {
            return bytes;
        }
    }

    /**
     * Returns a key in plain text.
     *
     * @param size the size of each of the two keys
     * @param key both keys, then the tag if there is one
     * @return the key, without a note
     * @throws IllegalArgumentException if the key has neither the size without a tag nor that with one
     */
    public static KeyMaterial plain(Size size, byte[] key) {
        return of(size, key, 0, false);
    }

    /**
     * Returns a key that is wrapped as NIST SP 800-38F says, with the wrapping key of a login.
     *
     * @param size the size of each of the two keys
     * @param key what AES key wrap makes of both keys and the tag if there is one: 8 bytes more
     * @return the key, without a note
     * @throws IllegalArgumentException if the key has neither the size without a tag nor that with one
     */
    public static KeyMaterial wrapped(Size size, byte[] key) {
        return of(size, key, WRAPPING_BYTES, true);
    }

    private static KeyMaterial of(Size size, byte[] key, int more, boolean isWrapped) {
        int least = 2 * size.bytes() + more;
        if (key.length != least && key.length != least + TAG_BYTES) {
            throw new IllegalArgumentException("such a key has " + least + " bytes, or with a tag "
                    + (least + TAG_BYTES) + ", not " + key.length);
        }
        return new KeyMaterial(size, key.length > least, isWrapped, key.clone(), new byte[0]);
    }

    /**
     * Sets a text about the key, which is not secret ({@code opaque}).
     *
     * @param bytes the text, at most {@value #NOTE_BYTES} bytes
     * @return a copy of this key
     * @throws IllegalArgumentException if it is longer
     */
    public KeyMaterial note(byte[] bytes) {
        if (bytes.length > NOTE_BYTES) {
            throw new IllegalArgumentException("a note has at most " + NOTE_BYTES + " bytes, not " + bytes.length);
        }
        return new KeyMaterial(size, hasTag, isWrapped, key, bytes.clone());
    }

    /** {@return the size of each of the two keys} */
    public Size size() {
        return size;
    }

    /** {@return whether there is a tag} */
    public boolean hasTag() {
        return hasTag;
    }

    /** {@return whether the key is wrapped} */
    public boolean isWrapped() {
        return isWrapped;
    }

    /** {@return the text about the key} */
    public byte[] note() {
        return note.clone();
    }

    byte[] key() {
        return key;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof KeyMaterial that && size == that.size && isWrapped == that.isWrapped
                && Arrays.equals(key, that.key) && Arrays.equals(note, that.note);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(key);
    }

    @Override
    public String toString() {
        return "KeyMaterial[" + size + (isWrapped ? ", wrapped" : "") + (hasTag ? ", with a tag" : "") + "]";
    }
}
