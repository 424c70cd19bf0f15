// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

import io.rdmacm.verbs.work.AccessFlag;

/**
 * What a {@link Mkey} is to become ({@code mlx5dv_wr_mkey_configure} and its setters, mlx5dv_wr_mkey_configure(3)).
 * Immutable.
 */
public final class MkeyConfiguration {
    private final Optional<Set<AccessFlag>> access;
    private final Optional<MkeyLayout> layout;
    private final boolean resetsSignature;
    private final Optional<BlockSignature> signature;
    private final Optional<MkeyEncryption> encryption;

    private MkeyConfiguration(Optional<Set<AccessFlag>> access, Optional<MkeyLayout> layout, boolean resetsSignature,
            Optional<BlockSignature> signature, Optional<MkeyEncryption> encryption) {
        this.access = access;
        this.layout = layout;
        this.resetsSignature = resetsSignature;
        this.signature = signature;
        this.encryption = encryption;
    }

    /** {@return a configuration that changes nothing} */
    public static MkeyConfiguration create() {
        return new MkeyConfiguration(Optional.empty(), Optional.empty(), false, Optional.empty(), Optional.empty());
    }

    /**
     * Sets what the key allows ({@code mlx5dv_wr_set_mkey_access_flags}).
     *
     * @param flags any of LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ and REMOTE_ATOMIC
     * @return a copy of this configuration
     * @throws IllegalArgumentException for another flag
     */
    public MkeyConfiguration access(AccessFlag... flags) {
        Set<AccessFlag> wanted = Set.of(flags);
        requireAccess(wanted);
        return new MkeyConfiguration(Optional.of(wanted), layout, resetsSignature, signature, encryption);
    }

    /** Checks that a key can allow something. */
    static void requireAccess(Set<AccessFlag> flags) {
        Set<AccessFlag> possible = Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ,
                AccessFlag.REMOTE_ATOMIC);
        if (!possible.containsAll(flags)) {
            throw new IllegalArgumentException("a key can allow " + possible + ", not " + flags);
        }
    }

    /**
     * Sets the memory that the key refers to ({@code mlx5dv_wr_set_mkey_layout_list},
     * {@code mlx5dv_wr_set_mkey_layout_interleaved}).
     *
     * @param memory the memory
     * @return a copy of this configuration
     */
    public MkeyConfiguration layout(MkeyLayout memory) {
        return new MkeyConfiguration(access, Optional.of(memory), resetsSignature, signature, encryption);
    }

    /**
     * Removes the key's signature ({@code MLX5DV_MKEY_CONF_FLAG_RESET_SIG_ATTR}).
     *
     * @return a copy of this configuration
     */
    public MkeyConfiguration resetSignature() {
        return new MkeyConfiguration(access, layout, true, signature, encryption);
    }

    /**
     * Sets how blocks of the memory are signed ({@code mlx5dv_wr_set_mkey_sig_block}). It takes 64 bytes of the
     * request, so the queue pair needs that much more inline data.
     *
     * @param blocks how they are signed
     * @return a copy of this configuration, for a key with {@link MkeyFlag#BLOCK_SIGNATURE}
     */
    public MkeyConfiguration signature(BlockSignature blocks) {
        return new MkeyConfiguration(access, layout, resetsSignature, Optional.of(blocks), encryption);
    }

    /**
     * Sets how the memory is encrypted ({@code mlx5dv_wr_set_mkey_crypto}). It takes 64 bytes of the request, so the
     * queue pair needs that much more inline data.
     *
     * @param data how it is encrypted; its key cannot be closed before the {@link Mkey}
     * @return a copy of this configuration, for a key with {@link MkeyFlag#CRYPTO}
     */
    public MkeyConfiguration encryption(MkeyEncryption data) {
        return new MkeyConfiguration(access, layout, resetsSignature, signature, Optional.of(data));
    }

    Optional<Set<AccessFlag>> access() {
        return access;
    }

    Optional<MkeyLayout> layout() {
        return layout;
    }

    boolean resetsSignature() {
        return resetsSignature;
    }

    Optional<BlockSignature> signature() {
        return signature;
    }

    Optional<MkeyEncryption> encryption() {
        return encryption;
    }

    /** Returns how many setters C is going to be called for. */
    int setters() {
        return (int) Stream.of(access, layout, signature, encryption).filter(Optional::isPresent).count();
    }
}
