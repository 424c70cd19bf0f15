// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.verbs.CompletionQueueInitAttributes;
import io.rdmacm.verbs.ExtendedCompletionQueue;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.NativeFunction;

/**
 * A completion queue of an mlx5 device whose entries the program chooses (mlx5dv_create_cq(3)). It can be used wherever
 * an {@link ExtendedCompletionQueue} can; only one with compressed completions cannot be polled, and polls of it throw
 * {@link IllegalStateException}. Thread-safe as any completion queue.
 */
public final class Mlx5CompletionQueue extends ExtendedCompletionQueue {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction CREATE = NativeFunction.of("mlx5dv_create_cq");

    private final Mlx5CompletionQueueOptions options;

    private Mlx5CompletionQueue(Created created, Mlx5CompletionQueueOptions options) {
        super(created);
        this.options = options;
        if (options.compression().isPresent()) {
            refusePolls();
        }
    }

    /**
     * Creates a completion queue ({@code mlx5dv_create_cq}).
     *
     * @param context an mlx5 device
     * @param attributes the attributes of every extended completion queue
     * @param options how its entries are made
     * @return the new queue
     * @throws NativeLibraryException if libmlx5 is not installed
     * @throws RdmaUnsupportedException if it is not an mlx5 device, or it cannot tell a field
     * @throws RdmaException EINVAL if the device does not allow the capacity, does not compress in that format, or does
     *         not pad; ENOMEM
     */
    @CFunction("mlx5dv_create_cq")
    public static Mlx5CompletionQueue create(VerbsContext context, CompletionQueueInitAttributes attributes,
            Mlx5CompletionQueueOptions options) throws RdmaException {
        String text = attributes + ", " + options;
        return create(Mlx5CompletionQueue.class, context, attributes, (init, arena) -> Check.pointer(CREATE, text,
                CREATE.callLong(VERBS.addressOf(context), init, options.write(arena))),
                created -> new Mlx5CompletionQueue(created, options));
    }

    /** {@return how the entries of this queue are made} */
    public Mlx5CompletionQueueOptions options() {
        life().ensureOpen();
        return options;
    }
}
