// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.Arena;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.mlx5.mlx5dv_mkey;
import io.rdmacm.bindings.mlx5.mlx5dv_mkey_err;
import io.rdmacm.bindings.mlx5.mlx5dv_mkey_init_attr;
import io.rdmacm.bindings.mlx5.mlx5dv_sig_err;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * A memory key without memory of its own ({@code struct mlx5dv_mkey}, mlx5dv_create_mkey(3)): a request of a
 * {@link Mlx5Batch} lets it refer to parts of memory regions (user-mode memory registration). Addresses under it are
 * offsets in the total of these parts, from 0. All methods are thread-safe.
 *
 * <p>If blocks have signatures, {@link #check()} tells of one that was wrong.
 *
 * <p>The device does not know when a region is closed that a key refers to: requests then fail.
 */
@CFunction("mlx5dv_destroy_mkey")
public final class Mkey extends NativeObject {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction CREATE_MKEY = NativeFunction.of("mlx5dv_create_mkey");
    private static final NativeFunction DESTROY_MKEY = NativeFunction.of("mlx5dv_destroy_mkey");
    private static final NativeFunction MKEY_CHECK = NativeFunction.of("_mlx5dv_mkey_check");

    private final ProtectionDomain domain;
    private final int maxEntries;
    private final Set<MkeyFlag> flags;
    // guarded by itself
    private final Set<DataEncryptionKey> encryptionKeys = new HashSet<>();

    private Mkey(ProtectionDomain domain, int maxEntries, List<MkeyFlag> flags, Lifetime life, long address) {
        super(life, address, mlx5dv_mkey.sizeof());
        this.domain = domain;
        this.maxEntries = maxEntries;
        this.flags = Set.copyOf(flags);
        String text = "0x" + Integer.toHexString(Memory.getInt(address + mlx5dv_mkey.lkey$offset()));
        life.describe(() -> text);
    }

    /**
     * Creates a key ({@code mlx5dv_create_mkey}).
     *
     * @param domain the protection domain that it will belong to; its context must be one from {@link Mlx5Device#open}
     * @param maxEntries how many parts of memory it can refer to, 16 bits; interleaved memory needs one more
     * @param flags what it can be used for, at least one; usually {@link MkeyFlag#INDIRECT}
     * @return the new key
     * @throws IllegalArgumentException if the number is out of range, or there is no flag
     * @throws NativeLibraryException if libmlx5 is not installed
     * @throws RdmaUnsupportedException if the device does not support one of the flags
     * @throws RdmaException if the device or the kernel refuses
     */
    @CFunction("mlx5dv_create_mkey")
    public static Mkey create(ProtectionDomain domain, int maxEntries, MkeyFlag... flags) throws RdmaException {
        Arguments.requireBits("number of entries", maxEntries, Short.SIZE);
        if (maxEntries == 0 || flags.length == 0) {
            throw new IllegalArgumentException("a key needs at least one entry and one flag");
        }
        List<MkeyFlag> wanted = List.of(flags);
        return Lifetime.make(Mkey.class, List.of(VERBS.lifeOf(domain)), arena -> {
            long init = arena.allocate(mlx5dv_mkey_init_attr.layout()).address();
            Memory.putLong(init + mlx5dv_mkey_init_attr.pd$offset(), VERBS.addressOf(domain));
            Memory.putInt(init + mlx5dv_mkey_init_attr.create_flags$offset(),
                    Flags.mask(wanted, MkeyFlag::bit));
            Memory.putShort(init + mlx5dv_mkey_init_attr.max_entries$offset(), (short) maxEntries);
            return Check.pointer(CREATE_MKEY, maxEntries + " entries, " + wanted, CREATE_MKEY.callLong(init));
        }, DESTROY_MKEY::free, (life, address) -> new Mkey(domain, maxEntries, wanted, life, address));
    }

    /** {@return the protection domain of this key} */
    public ProtectionDomain protectionDomain() {
        life().ensureOpen();
        return domain;
    }

    /** {@return how many parts of memory this key can refer to} */
    public int maxEntries() {
        life().ensureOpen();
        return maxEntries;
    }

    /** {@return the key for this side ({@code lkey}), see {@link Mlx5Batch#data}} */
    public int localKey() {
        return intMember(mlx5dv_mkey.lkey$offset());
    }

    /** {@return the key for peers ({@code rkey})} */
    public int remoteKey() {
        return intMember(mlx5dv_mkey.rkey$offset());
    }

    /**
     * Returns whether a signature was found to be wrong since the last call ({@code mlx5dv_mkey_check},
     * mlx5dv_mkey_check(3)). To be called after the completion of a request that used the key.
     *
     * @return what was wrong; empty if nothing was
     * @throws RdmaException EINVAL if the key was created without {@link MkeyFlag#BLOCK_SIGNATURE}
     */
    @CFunction("mlx5dv_mkey_check")
    public Optional<MkeyError> check() throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            long struct = arena.allocate(mlx5dv_mkey_err.layout()).address();
            Check.returned(MKEY_CHECK, MKEY_CHECK.callInt(address(), struct, mlx5dv_mkey_err.sizeof()));
            int kind = Memory.getInt(struct + mlx5dv_mkey_err.err_type$offset());
            if (kind == 0) {
                return Optional.empty();
            }
            long error = struct + mlx5dv_mkey_err.err$offset();
            return Optional.of(new MkeyError(MkeyError.Kind.of(kind),
                    Memory.getLong(error + mlx5dv_sig_err.actual_value$offset()),
                    Memory.getLong(error + mlx5dv_sig_err.expected_value$offset()),
                    Memory.getLong(error + mlx5dv_sig_err.offset$offset())));
        } finally {
            life().leave();
        }
    }

    /** Checks that this key was created for something. */
    void require(MkeyFlag flag) {
        if (!flags.contains(flag)) {
            throw new IllegalArgumentException(this + " was created without " + flag);
        }
    }

    /**
     * Keeps an encryption key from being closed before this key. libmlx5 remembers its address, and reads it with each
     * later configuration.
     */
    void keep(DataEncryptionKey key) {
        require(MkeyFlag.CRYPTO);
        if (!Objects.equals(key.protectionDomain(), domain)) {
            throw new IllegalArgumentException(key + " belongs to another protection domain than " + this);
        }
        life().enter();
        try {
            synchronized (encryptionKeys) {
                if (!encryptionKeys.contains(key)) {
                    life().addParent(VERBS.lifeOf(key));
                    encryptionKeys.add(key);
                }
            }
        } finally {
            life().leave();
        }
    }
}
