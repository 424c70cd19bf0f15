// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.mlx5.mlx5dv_crypto_login_attr;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/**
 * The one login that a context itself can have (mlx5dv_crypto_login(3)): the older way; {@link CryptoLogin} is an
 * object, of which there can be several. All methods are thread-safe.
 */
public final class CryptoSession {
    /** How many bytes a wrapped credential has. */
    public static final int CREDENTIAL_BYTES = 48;

    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction LOGIN = NativeFunction.of("mlx5dv_crypto_login");
    private static final NativeFunction QUERY_STATE = NativeFunction.of("mlx5dv_crypto_login_query_state");
    private static final NativeFunction LOGOUT = NativeFunction.of("mlx5dv_crypto_logout");

    private CryptoSession() {
    }

    /**
     * Logs in ({@code mlx5dv_crypto_login}).
     *
     * @param context a context from {@link Mlx5Device#open}
     * @param credentialId the number of the credential on the device, 24 bits
     * @param wrappingKeyId the number of the key on the device that the credential is wrapped with, 24 bits
     * @param credential the wrapped credential, {@value #CREDENTIAL_BYTES} bytes
     * @throws IllegalArgumentException if a number does not fit into 24 bits, or the credential has another size
     * @throws NativeLibraryException if libmlx5 is not installed or too old
     * @throws RdmaUnsupportedException if the device takes no wrapped keys
     * @throws RdmaException EEXIST if the context is logged in; EINVAL if the device refuses the credential
     */
    @CFunction("mlx5dv_crypto_login")
    public static void login(VerbsContext context, int credentialId, int wrappingKeyId, byte[] credential)
            throws RdmaException {
        CryptoLogin.requireIds(credentialId, wrappingKeyId, credential);
        VERBS.lifeOf(context).enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(mlx5dv_crypto_login_attr.layout());
            long struct = attributes.address();
            Memory.putInt(struct + mlx5dv_crypto_login_attr.credential_id$offset(), credentialId);
            Memory.putInt(struct + mlx5dv_crypto_login_attr.import_kek_id$offset(), wrappingKeyId);
            attributes.asSlice(mlx5dv_crypto_login_attr.credential$offset(), CREDENTIAL_BYTES)
                    .copyFrom(MemorySegment.ofArray(credential));
            int error = LOGIN.callInt(VERBS.addressOf(context), struct);
            attributes.fill((byte) 0);
            Check.returned(LOGIN, error);
        } finally {
            VERBS.lifeOf(context).leave();
        }
    }

    /**
     * Queries whether a context is logged in ({@code mlx5dv_crypto_login_query_state}).
     *
     * @param context a context from {@link Mlx5Device#open}
     * @return the state
     * @throws NativeLibraryException if libmlx5 is not installed or too old
     * @throws RdmaException as the device reports it
     */
    @CFunction("mlx5dv_crypto_login_query_state")
    public static CryptoLogin.State state(VerbsContext context) throws RdmaException {
        VERBS.lifeOf(context).enter();
        try (Arena arena = Arena.ofConfined()) {
            long state = arena.allocate(Integer.BYTES, Integer.BYTES).address();
            Check.returned(QUERY_STATE, QUERY_STATE.callInt(VERBS.addressOf(context), state));
            return CryptoLogin.State.of(Memory.getInt(state));
        } finally {
            VERBS.lifeOf(context).leave();
        }
    }

    /**
     * Logs out ({@code mlx5dv_crypto_logout}).
     *
     * @param context a context that is logged in
     * @throws NativeLibraryException if libmlx5 is not installed or too old
     * @throws RdmaException ENOENT if it is not
     */
    @CFunction("mlx5dv_crypto_logout")
    public static void logout(VerbsContext context) throws RdmaException {
        VERBS.lifeOf(context).enter();
        try {
            Check.returned(LOGOUT, LOGOUT.callInt(VERBS.addressOf(context)));
        } finally {
            VERBS.lifeOf(context).leave();
        }
    }
}
