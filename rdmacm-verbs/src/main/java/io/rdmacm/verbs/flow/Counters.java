// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_counter_attach_attr;
import io.rdmacm.bindings.ibv_counters;
import io.rdmacm.bindings.ibv_counters_init_attr;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.driver.ExtendedOps;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * Counters of a device ({@code struct ibv_counters}, ibv_create_counters(3)): an array of values that flows add to. The
 * values start at 0 and never decrease.
 */
@CFunction("ibv_destroy_counters")
public final class Counters extends NativeObject {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final int MOST = 0xffff / Long.BYTES;

    private final VerbsContext context;

    private Counters(VerbsContext context, Lifetime life, long address) {
        super(life, address, ibv_counters.sizeof());
        this.context = context;
    }

    /**
     * Creates counters ({@code ibv_create_counters}).
     *
     * @param context the device that counts
     * @return the new counters
     * @throws RdmaUnsupportedException if the device has no counters (EOPNOTSUPP)
     * @throws RdmaException if there is not enough memory (ENOMEM)
     * @throws IllegalStateException if the context is closed
     */
    @CFunction("ibv_create_counters")
    public static Counters create(VerbsContext context) throws RdmaException {
        return Lifetime.make(Counters.class, List.of(VERBS.lifeOf(context)), arena -> {
            long init = arena.allocate(ibv_counters_init_attr.layout()).address();
            NativeFunction create = ExtendedOps.CREATE_COUNTERS.require(VERBS.addressOf(context));
            return Check.pointer(create, create.callLong(VERBS.addressOf(context), init));
        }, ExtendedOps.DESTROY_COUNTERS.freer(VERBS.addressOf(context)),
                (life, address) -> new Counters(context, life, address));
    }

    /** {@return the context of the device that counts} */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /**
     * Defines what a value counts, for the flows that are created with these counters
     * ({@code ibv_attach_counters_point_flow} without a flow). Only possible while no flow uses them.
     *
     * @param description what to count
     * @param index the index of the value, starting at 0; several definitions for the same index add up
     * @throws IllegalArgumentException if the index is negative
     * @throws RdmaUnsupportedException if the device cannot count that (EOPNOTSUPP)
     * @throws RdmaException if a flow uses the counters already (EBUSY), the index is too large (EINVAL), or there is
     *         not enough memory (ENOMEM)
     */
    @CFunction("ibv_attach_counters_point_flow")
    public void attachPointFlow(CounterDescription description, int index) throws RdmaException {
        life().enter();
        try {
            attach(description, index, 0);
        } finally {
            life().leave();
        }
    }

    /**
     * Makes a value count the packets of an existing flow ({@code ibv_attach_counters_point_flow}). From then on these
     * counters cannot be closed before the flow.
     *
     * @param description what to count
     * @param index the index of the value, starting at 0; several definitions for the same index add up
     * @param flow a flow of the same context
     * @throws IllegalArgumentException if the index is negative, or the flow belongs to another context
     * @throws RdmaUnsupportedException if the device cannot count that, or not for an existing flow (EOPNOTSUPP)
     * @throws RdmaException if the index is too large (EINVAL), or there is not enough memory (ENOMEM)
     */
    @CFunction("ibv_attach_counters_point_flow")
    public void attachPointFlow(CounterDescription description, int index, Flow flow) throws RdmaException {
        life().enter();
        try {
            if (flow.context() != context) {
                throw new IllegalArgumentException("the flow belongs to another context than the counters: " + flow);
            }
            VERBS.lifeOf(flow).enter();
            try {
                attachTo(flow, description, index);
            } finally {
                VERBS.lifeOf(flow).leave();
            }
        } finally {
            life().leave();
        }
    }

    private void attachTo(Flow flow, CounterDescription description, int index) throws RdmaException {
        VERBS.lifeOf(flow).addParent(life());
        try {
            attach(description, index, VERBS.addressOf(flow));
        } catch (Throwable t) {
            VERBS.lifeOf(flow).removeParent(life());
            throw t;
        }
    }

    private void attach(CounterDescription description, int index, long flow) throws RdmaException {
        if (index < 0) {
            throw new IllegalArgumentException("the index of a counter cannot be negative: " + index);
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment struct = ibv_counter_attach_attr.allocate(arena);
            ibv_counter_attach_attr.counter_desc(struct, description.value());
            ibv_counter_attach_attr.index(struct, index);
            NativeFunction attach = ExtendedOps.ATTACH_COUNTERS_POINT_FLOW.require(VERBS.addressOf(context));
            Check.returned(attach, attach.callInt(address(), struct.address(), flow));
        }
    }

    /**
     * Reads the current values ({@code ibv_read_counters}).
     *
     * @param count the number of values to read, starting with the first; 1 to 8191, since the kernel returns less than
     *        64 KiB at once
     * @param cached whether values cached by the driver are good enough; otherwise the device is read
     * @return a new array of the values
     * @throws IllegalArgumentException if the number is not from 1 to 8191
     * @throws RdmaException if there are fewer values (EINVAL)
     */
    @CFunction("ibv_read_counters")
    public long[] read(int count, boolean cached) throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            if (count < 1 || count > MOST) {
                throw new IllegalArgumentException("1 to " + MOST + " counters can be read, not " + count);
            }
            MemorySegment values = arena.allocate(ValueLayout.JAVA_LONG, count);
            NativeFunction read = ExtendedOps.READ_COUNTERS.require(VERBS.addressOf(context));
            Check.returned(read, read.callInt(address(), values.address(), count,
                    cached ? Rdma.IBV_READ_COUNTERS_ATTR_PREFER_CACHED() : 0));
            return values.toArray(ValueLayout.JAVA_LONG);
        } finally {
            life().leave();
        }
    }
}
