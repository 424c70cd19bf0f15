// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.util.List;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.ibv_td;
import io.rdmacm.bindings.ibv_td_init_attr;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.driver.ExtendedOps;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * A promise to use certain objects from one thread at a time only, which lets the driver do without locks
 * ({@code struct ibv_td}, ibv_alloc_td(3)). It applies to the objects created in a {@link ParentDomain} with this
 * thread domain. The parent domain must be closed first.
 *
 * <p>libmlx5 ends the process when the promise is broken. A shared receive queue is used by those who post to it, by
 * those who poll the completions of its receives, and by a close of a queue pair that takes receives from it.
 */
@CFunction("ibv_dealloc_td")
public final class ThreadDomain extends NativeObject {
    private final VerbsContext context;

    private ThreadDomain(VerbsContext context, Lifetime life, long address) {
        super(life, address, ibv_td.sizeof());
        this.context = context;
    }

    static ThreadDomain allocate(VerbsContext context) throws RdmaException {
        return Lifetime.make(ThreadDomain.class, List.of(context.life()), arena -> {
            NativeFunction function = ExtendedOps.ALLOC_TD.require(context.address());
            long attributes = arena.allocate(ibv_td_init_attr.layout()).address();
            return Check.pointer(function, function.callLong(context.address(), attributes));
        }, ExtendedOps.DEALLOC_TD.freer(context.address()),
                (life, address) -> new ThreadDomain(context, life, address));
    }

    /** {@return the context that the domain was allocated from} */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }
}
