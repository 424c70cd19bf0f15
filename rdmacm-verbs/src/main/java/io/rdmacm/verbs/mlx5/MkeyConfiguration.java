// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.Arena;
import java.util.Set;

import io.rdmacm.bindings.mlx5.Mlx5;
import io.rdmacm.bindings.mlx5.mlx5dv_mkey_conf_attr;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.work.AccessFlag;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link Mkey} is to become ({@code mlx5dv_wr_mkey_configure} and its setters, mlx5dv_wr_mkey_configure(3)).
 * Immutable.
 */
public final class MkeyConfiguration {
    private static final Set<AccessFlag> POSSIBLE = Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE,
            AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC);
    private static final AccessFlag[] ALL = AccessFlag.values();
    private static final int UNCHANGED = -1;

    // the bits, or UNCHANGED
    private final int access;
    private final @Nullable MkeyLayout layout;
    private final boolean resetsSignature;
    private final @Nullable BlockSignature signature;
    private final @Nullable MkeyEncryption encryption;
    // as C reads them, written once for all requests: the memory lives as long as its arena can be reached
    private final Arena arena = Arena.ofAuto();
    private final long attributes;
    private final long signatureStruct;
    private final long encryptionStruct;

    private MkeyConfiguration(int access, @Nullable MkeyLayout layout, boolean resetsSignature,
            @Nullable BlockSignature signature, @Nullable MkeyEncryption encryption) {
        this.access = access;
        this.layout = layout;
        this.resetsSignature = resetsSignature;
        this.signature = signature;
        this.encryption = encryption;
        attributes = arena.allocate(mlx5dv_mkey_conf_attr.layout()).address();
        Memory.putInt(attributes + mlx5dv_mkey_conf_attr.conf_flags$offset(),
                resetsSignature ? Mlx5.MLX5DV_MKEY_CONF_FLAG_RESET_SIG_ATTR() : 0);
        signatureStruct = signature == null ? 0 : SignatureStructs.write(signature, arena);
        encryptionStruct = encryption == null ? 0 : encryption.write(arena);
    }

    /** {@return a configuration that changes nothing} */
    public static MkeyConfiguration create() {
        return new MkeyConfiguration(UNCHANGED, null, false, null, null);
    }

    /**
     * Sets what the key allows ({@code mlx5dv_wr_set_mkey_access_flags}).
     *
     * @param flags any of LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ and REMOTE_ATOMIC
     * @return a copy of this configuration
     * @throws IllegalArgumentException for another flag
     */
    public MkeyConfiguration access(AccessFlag... flags) {
        return new MkeyConfiguration(bits(Set.of(flags)), layout, resetsSignature, signature, encryption);
    }

    /** Returns the bits of what a key can allow. */
    static int bits(Set<AccessFlag> flags) {
        int bits = 0;
        // not with an iterator, which may be allocated
        for (AccessFlag flag : ALL) {
            if (flags.contains(flag)) {
                if (!POSSIBLE.contains(flag)) {
                    throw new IllegalArgumentException("a key can allow " + POSSIBLE + ", not " + flags);
                }
                bits |= flag.bit();
            }
        }
        return bits;
    }

    /**
     * Sets the memory that the key refers to ({@code mlx5dv_wr_set_mkey_layout_list},
     * {@code mlx5dv_wr_set_mkey_layout_interleaved}).
     *
     * @param memory the memory
     * @return a copy of this configuration
     */
    public MkeyConfiguration layout(MkeyLayout memory) {
        return new MkeyConfiguration(access, memory, resetsSignature, signature, encryption);
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
        return new MkeyConfiguration(access, layout, resetsSignature, blocks, encryption);
    }

    /**
     * Sets how the memory is encrypted ({@code mlx5dv_wr_set_mkey_crypto}). It takes 64 bytes of the request, so the
     * queue pair needs that much more inline data.
     *
     * @param data how it is encrypted; its key cannot be closed before the {@link Mkey}
     * @return a copy of this configuration, for a key with {@link MkeyFlag#CRYPTO}
     */
    public MkeyConfiguration encryption(MkeyEncryption data) {
        return new MkeyConfiguration(access, layout, resetsSignature, signature, data);
    }

    /** Checks that a key can become this, and keeps what it needs. */
    void requireUsable(Mkey key) {
        if (layout != null) {
            layout.requireUsable(key);
        }
        if (signature != null) {
            key.require(MkeyFlag.BLOCK_SIGNATURE);
        }
        if (encryption != null) {
            key.keep(encryption.key());
        }
    }

    /** Returns how many setters C is going to be called for. */
    int setters() {
        return (access == UNCHANGED ? 0 : 1) + (layout == null ? 0 : 1) + (signature == null ? 0 : 1)
                + (encryption == null ? 0 : 1);
    }

    /** Configures a key. */
    void set(Mlx5BatchOps ops, long mkey) {
        ops.configure(mkey, setters(), attributes);
        if (access != UNCHANGED) {
            ops.setAccess(access);
        }
        if (layout != null) {
            layout.set(ops);
        }
        if (signature != null) {
            ops.setSignature(signatureStruct);
        }
        if (encryption != null) {
            ops.setEncryption(encryptionStruct);
        }
    }
}
