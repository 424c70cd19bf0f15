// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_counters;
import io.rdmacm.bindings.ibv_counters_init_attr;
import io.rdmacm.verbs.internal.Check;
import io.rdmacm.verbs.internal.ExtendedOps;
import io.rdmacm.verbs.internal.Lifetime;
import io.rdmacm.verbs.internal.NativeFunction;

/** Counters that a device keeps ({@code struct ibv_counters}, ibv_create_counters(3)). */
public final class Counters extends NativeObject {
    private final VerbsContext context;

    private Counters(VerbsContext context, Lifetime life, long address) {
        super(life, address, ibv_counters.sizeof());
        this.context = context;
    }

    static Counters create(VerbsContext context) throws RdmaException {
        Lifetime life = Lifetime.begin("Counters", context.life());
        try (Arena arena = Arena.ofConfined()) {
            long init = arena.allocate(ibv_counters_init_attr.layout()).address();
            return new Counters(context, life, life.create(() -> {
                NativeFunction create = ExtendedOps.CREATE_COUNTERS.require(context.address());
                return Check.pointer(create, create.callLong(context.address(), init));
            }));
        }
    }

    /**
     * The values now ({@code ibv_read_counters}).
     *
     * @param count how many, from the first on; at least 1
     * @param cached whether a value that the driver has is good enough
     * @throws RdmaException EINVAL when there are not so many
     */
    @CFunction("ibv_read_counters")
    public long[] read(int count, boolean cached) throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            if (count < 1) {
                throw new IllegalArgumentException("at least one counter must be read, not " + count);
            }
            MemorySegment values = arena.allocate(ValueLayout.JAVA_LONG, count);
            NativeFunction read = ExtendedOps.READ_COUNTERS.require(context.address());
            Check.returned(read, read.callInt(address(), values.address(), count,
                    cached ? Rdma.IBV_READ_COUNTERS_ATTR_PREFER_CACHED() : 0));
            return values.toArray(ValueLayout.JAVA_LONG);
        } finally {
            life().leave();
        }
    }

    @Override
    @CFunction("ibv_destroy_counters")
    protected void destroy() throws RdmaException {
        NativeFunction destroy = ExtendedOps.DESTROY_COUNTERS.require(context.address());
        Check.returned(destroy, destroy.callInt(address()));
    }
}
