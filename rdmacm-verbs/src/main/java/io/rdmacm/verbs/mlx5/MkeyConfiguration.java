// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.util.Optional;
import java.util.Set;

import io.rdmacm.verbs.work.AccessFlag;

/**
 * What a {@link Mkey} is to become ({@code mlx5dv_wr_mkey_configure} and its setters, mlx5dv_wr_mkey_configure(3)).
 * Immutable.
 */
public final class MkeyConfiguration {
    private final Optional<Set<AccessFlag>> access;
    private final Optional<MkeyLayout> layout;
    private final boolean resetsSignature;

    private MkeyConfiguration(Optional<Set<AccessFlag>> access, Optional<MkeyLayout> layout,
            boolean resetsSignature) {
        this.access = access;
        this.layout = layout;
        this.resetsSignature = resetsSignature;
    }

    /** {@return a configuration that changes nothing} */
    public static MkeyConfiguration create() {
        return new MkeyConfiguration(Optional.empty(), Optional.empty(), false);
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
        return new MkeyConfiguration(Optional.of(wanted), layout, resetsSignature);
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
        return new MkeyConfiguration(access, Optional.of(memory), resetsSignature);
    }

    /**
     * Lets the key have no signature any more ({@code MLX5DV_MKEY_CONF_FLAG_RESET_SIG_ATTR}).
     *
     * @return a copy of this configuration
     */
    public MkeyConfiguration resetSignature() {
        return new MkeyConfiguration(access, layout, true);
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

    /** Returns how many setters C is going to be called for. */
    int setters() {
        return (access.isPresent() ? 1 : 0) + (layout.isPresent() ? 1 : 0);
    }
}
