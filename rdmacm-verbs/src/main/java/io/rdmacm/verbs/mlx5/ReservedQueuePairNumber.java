// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.util.List;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * A number that no queue pair of a device gets (mlx5dv_reserved_qpn_alloc(3)): what a connection is established with
 * whose queue pair the connection manager does not know. All methods are thread-safe.
 */
@CFunction("mlx5dv_reserved_qpn_dealloc")
public final class ReservedQueuePairNumber extends NativeObject {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction ALLOC = NativeFunction.of("mlx5dv_reserved_qpn_alloc");
    private static final NativeFunction DEALLOC = NativeFunction.of("mlx5dv_reserved_qpn_dealloc");

    private final VerbsContext context;
    private final int number;

    private ReservedQueuePairNumber(VerbsContext context, Lifetime life, int number) {
        super(life, 0, 0);
        this.context = context;
        this.number = number;
        life.describe(() -> "0x" + Integer.toHexString(number));
    }

    /**
     * Reserves a number ({@code mlx5dv_reserved_qpn_alloc}).
     *
     * @param context a context from {@link Mlx5Device#open}
     * @return the number
     * @throws NativeLibraryException if libmlx5 is not installed
     * @throws RdmaUnsupportedException if the device reserves none
     * @throws RdmaException as the device reports it
     */
    @CFunction("mlx5dv_reserved_qpn_alloc")
    public static ReservedQueuePairNumber reserve(VerbsContext context) throws RdmaException {
        long device = VERBS.addressOf(context);
        return Lifetime.make(ReservedQueuePairNumber.class, List.of(VERBS.lifeOf(context)), arena -> {
            long answer = arena.allocate(Integer.BYTES, Integer.BYTES).address();
            Check.returned(ALLOC, ALLOC.callInt(device, answer));
            return Memory.getInt(answer);
        }, number -> Check.returned(DEALLOC, DEALLOC.callInt(device, number)),
                (life, number) -> new ReservedQueuePairNumber(context, life, (int) number));
    }

    /** {@return the number, 24 bits} */
    public int number() {
        life().ensureOpen();
        return number;
    }
}
