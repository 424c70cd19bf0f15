// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.mlx5.mlx5dv_crypto_login_attr_ex;
import io.rdmacm.bindings.mlx5.mlx5dv_crypto_login_query_attr;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * A login to the encryption of a device ({@code struct mlx5dv_crypto_login_obj}, mlx5dv_crypto_login_create(3)): what
 * {@link DataEncryptionKey}s that are wrapped need to be created and queried, but not to be used. Credentials and the
 * keys that wrap others are stored on the device by the vendor's tools. All methods are thread-safe.
 */
@CFunction("mlx5dv_crypto_login_destroy")
public final class CryptoLogin extends NativeObject {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction CREATE = NativeFunction.of("mlx5dv_crypto_login_create");
    private static final NativeFunction QUERY = NativeFunction.of("mlx5dv_crypto_login_query");
    private static final NativeFunction DESTROY = NativeFunction.of("mlx5dv_crypto_login_destroy");
    private static final int ID_BITS = 24;

    private final VerbsContext context;

    private CryptoLogin(VerbsContext context, Lifetime life, long address) {
        super(life, address, 0);
        this.context = context;
    }

    /** Whether a login can be used ({@code enum mlx5dv_crypto_login_state}), in the order of C. */
    public enum State {
        /** It can be used. */
        VALID,
        /** There is none. */
        NO_LOGIN,
        /** The credential or the wrapping key has been deleted from the device. */
        INVALID,
        /** A state newer than this library. */
        OTHER;

        static State of(int value) {
            return value >= 0 && value < OTHER.ordinal() ? values()[value] : OTHER;
        }
    }

    /**
     * Logs in ({@code mlx5dv_crypto_login_create}).
     *
     * @param context a context from {@link Mlx5Device#open}
     * @param credentialId the number of the credential on the device, 24 bits
     * @param wrappingKeyId the number of the key on the device that the credential is wrapped with, 24 bits
     * @param credential the wrapped credential, {@value CryptoSession#CREDENTIAL_BYTES} bytes
     * @return the login
     * @throws IllegalArgumentException if a number does not fit into 24 bits, or the credential has another size
     * @throws NativeLibraryException if libmlx5 is not installed or too old
     * @throws RdmaUnsupportedException if the device takes no wrapped keys
     * @throws RdmaException EINVAL if the device refuses the credential
     */
    @CFunction("mlx5dv_crypto_login_create")
    public static CryptoLogin create(VerbsContext context, int credentialId, int wrappingKeyId, byte[] credential)
            throws RdmaException {
        requireIds(credentialId, wrappingKeyId, credential);
        return Lifetime.make(CryptoLogin.class, List.of(VERBS.lifeOf(context)), arena -> {
            MemorySegment secret = arena.allocate(credential.length, Long.BYTES);
            secret.copyFrom(MemorySegment.ofArray(credential));
            long struct = arena.allocate(mlx5dv_crypto_login_attr_ex.layout()).address();
            Memory.putInt(struct + mlx5dv_crypto_login_attr_ex.credential_id$offset(), credentialId);
            Memory.putInt(struct + mlx5dv_crypto_login_attr_ex.import_kek_id$offset(), wrappingKeyId);
            Memory.putLong(struct + mlx5dv_crypto_login_attr_ex.credential$offset(), secret.address());
            Memory.putLong(struct + mlx5dv_crypto_login_attr_ex.credential_len$offset(), credential.length);
            try {
                return Check.pointer(CREATE, "credential " + credentialId,
                        CREATE.callLong(VERBS.addressOf(context), struct));
            } finally {
                // it does not stay in memory
                secret.fill((byte) 0);
            }
        }, DESTROY::free, (life, address) -> new CryptoLogin(context, life, address));
    }

    static void requireIds(int credentialId, int wrappingKeyId, byte[] credential) {
        Arguments.requireBits("number of the credential", credentialId, ID_BITS);
        Arguments.requireBits("number of the wrapping key", wrappingKeyId, ID_BITS);
        // C copies as many bytes as it is told into room for so many
        if (credential.length != CryptoSession.CREDENTIAL_BYTES) {
            throw new IllegalArgumentException("a wrapped credential has " + CryptoSession.CREDENTIAL_BYTES
                    + " bytes, not " + credential.length);
        }
    }

    /** {@return the context of this login} */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /**
     * Queries whether this login can be used ({@code mlx5dv_crypto_login_query}).
     *
     * @return VALID or INVALID
     * @throws RdmaException as the device reports it
     */
    @CFunction("mlx5dv_crypto_login_query")
    public State state() throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            long struct = arena.allocate(mlx5dv_crypto_login_query_attr.layout()).address();
            Check.returned(QUERY, QUERY.callInt(address(), struct));
            return State.of(Memory.getInt(struct + mlx5dv_crypto_login_query_attr.state$offset()));
        } finally {
            life().leave();
        }
    }
}
