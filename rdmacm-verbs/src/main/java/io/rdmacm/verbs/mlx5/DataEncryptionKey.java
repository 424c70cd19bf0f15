// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.mlx5.Mlx5;
import io.rdmacm.bindings.mlx5.mlx5dv_dek_attr;
import io.rdmacm.bindings.mlx5.mlx5dv_dek_init_attr;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.ProtectionDomain;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * A key on the device that encrypts and decrypts data ({@code struct mlx5dv_dek}, mlx5dv_dek_create(3)): what an
 * {@link MkeyEncryption} names. A {@link Mkey} that was ever configured with it must be closed first. All methods are
 * thread-safe.
 */
@CFunction("mlx5dv_dek_destroy")
public final class DataEncryptionKey extends NativeObject {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction CREATE = NativeFunction.of("mlx5dv_dek_create");
    private static final NativeFunction QUERY = NativeFunction.of("mlx5dv_dek_query");
    private static final NativeFunction DESTROY = NativeFunction.of("mlx5dv_dek_destroy");

    private final ProtectionDomain domain;

    private DataEncryptionKey(ProtectionDomain domain, Lifetime life, long address) {
        super(life, address, 0);
        this.domain = domain;
    }

    /**
     * What a query tells ({@code struct mlx5dv_dek_attr}).
     *
     * @param isReady whether the key can be used
     * @param note the text about the key, {@value KeyMaterial#NOTE_BYTES} bytes, filled up with zeros
     */
    public record Status(boolean isReady, byte[] note) {
        /** Copies the text. */
        public Status {
            note = note.clone();
        }

        /** {@return a copy of the text about the key} */
        @Override
        public byte[] note() {
            return note.clone();
        }
    }

    /**
     * Creates a key ({@code mlx5dv_dek_create}): one in plain text, or one that is wrapped with the wrapping key of the
     * context's {@link CryptoSession}.
     *
     * @param domain the protection domain that it will belong to; its context must be one from {@link Mlx5Device#open}
     * @param material what it is made of
     * @return the new key
     * @throws NativeLibraryException if libmlx5 is not installed or too old
     * @throws RdmaUnsupportedException if the device does not encrypt
     * @throws RdmaException EINVAL if the device takes keys only in the other form, or the context is not logged in
     */
    @CFunction("mlx5dv_dek_create")
    public static DataEncryptionKey create(ProtectionDomain domain, KeyMaterial material) throws RdmaException {
        return create(domain, material, Optional.empty());
    }

    /**
     * Creates a key that is wrapped with the wrapping key of a login ({@code mlx5dv_dek_create}).
     *
     * @param domain the protection domain that it will belong to
     * @param material what it is made of, wrapped
     * @param login the login, of the context of the domain; it may be closed before the key
     * @return the new key
     * @throws IllegalArgumentException if the key is not wrapped, or the login belongs to another context
     * @throws NativeLibraryException if libmlx5 is not installed or too old
     * @throws RdmaUnsupportedException if the device does not encrypt
     * @throws RdmaException EINVAL if the device takes keys only in plain text, or refuses the key
     */
    @CFunction("mlx5dv_dek_create")
    public static DataEncryptionKey create(ProtectionDomain domain, KeyMaterial material, CryptoLogin login)
            throws RdmaException {
        if (!material.isWrapped()) {
            throw new IllegalArgumentException("a key in plain text needs no login");
        }
        if (!Objects.equals(login.context(), domain.context())) {
            throw new IllegalArgumentException(login + " belongs to another context than the protection domain");
        }
        VERBS.lifeOf(login).enter();
        try {
            return create(domain, material, Optional.of(login));
        } finally {
            VERBS.lifeOf(login).leave();
        }
    }

    private static DataEncryptionKey create(ProtectionDomain domain, KeyMaterial material,
            Optional<CryptoLogin> login) throws RdmaException {
        Objects.requireNonNull(material, "material");
        return Lifetime.make(DataEncryptionKey.class, List.of(VERBS.lifeOf(domain)), arena -> {
            MemorySegment attributes = write(domain, material, arena);
            long struct = attributes.address();
            if (login.isPresent() || !material.isWrapped()) {
                // without this bit it is the login of the context
                Memory.putLong(struct + mlx5dv_dek_init_attr.comp_mask$offset(),
                        Mlx5.MLX5DV_DEK_INIT_ATTR_CRYPTO_LOGIN());
                login.ifPresent(one -> Memory.putLong(struct + mlx5dv_dek_init_attr.crypto_login$offset(),
                        VERBS.addressOf(one)));
            }
            try {
                return Check.pointer(CREATE, material.toString(),
                        CREATE.callLong(VERBS.addressOf(domain.context()), struct));
            } finally {
                // the key does not stay in memory
                attributes.fill((byte) 0);
            }
        }, DESTROY::free, (life, address) -> new DataEncryptionKey(domain, life, address));
    }

    private static MemorySegment write(ProtectionDomain domain, KeyMaterial material, Arena arena) {
        MemorySegment attributes = arena.allocate(mlx5dv_dek_init_attr.layout());
        long struct = attributes.address();
        Memory.putInt(struct + mlx5dv_dek_init_attr.key_size$offset(), material.size().value());
        Memory.putByte(struct + mlx5dv_dek_init_attr.has_keytag$offset(), (byte) (material.hasTag() ? 1 : 0));
        Memory.putInt(struct + mlx5dv_dek_init_attr.key_purpose$offset(), Mlx5.MLX5DV_CRYPTO_KEY_PURPOSE_AES_XTS());
        Memory.putLong(struct + mlx5dv_dek_init_attr.pd$offset(), VERBS.addressOf(domain));
        copy(material.note(), attributes, mlx5dv_dek_init_attr.opaque$offset());
        copy(material.key(), attributes, mlx5dv_dek_init_attr.key$offset());
        return attributes;
    }

    private static void copy(byte[] bytes, MemorySegment to, long offset) {
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, to, offset, bytes.length);
    }

    /** {@return the protection domain of this key} */
    public ProtectionDomain protectionDomain() {
        life().ensureOpen();
        return domain;
    }

    /**
     * Queries this key ({@code mlx5dv_dek_query}). One that is wrapped needs a valid login for it.
     *
     * @return its state and the text about it
     * @throws RdmaException as the device reports it
     */
    @CFunction("mlx5dv_dek_query")
    public Status query() throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            long struct = arena.allocate(mlx5dv_dek_attr.layout()).address();
            Check.returned(QUERY, QUERY.callInt(address(), struct));
            return new Status(Memory.getInt(struct + mlx5dv_dek_attr.state$offset()) == Mlx5.MLX5DV_DEK_STATE_READY(),
                    Memory.bytes(struct + mlx5dv_dek_attr.opaque$offset(), KeyMaterial.NOTE_BYTES));
        } finally {
            life().leave();
        }
    }
}
