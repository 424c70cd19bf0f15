// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.flow;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

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

/** Counters that a device keeps ({@code struct ibv_counters}, ibv_create_counters(3)). */
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
     * @throws RdmaUnsupportedException if the device has no counters
     */
    @CFunction("ibv_create_counters")
    public static Counters create(VerbsContext context) throws RdmaException {
        Lifetime life = Lifetime.begin(Counters.class, VERBS.lifeOf(context));
        try (Arena arena = Arena.ofConfined()) {
            long init = arena.allocate(ibv_counters_init_attr.layout()).address();
            return new Counters(context, life, life.create(() -> {
                NativeFunction create = ExtendedOps.CREATE_COUNTERS.require(VERBS.addressOf(context));
                return Check.pointer(create, create.callLong(VERBS.addressOf(context), init));
            }));
        }
    }

    /** The device that they belong to. */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /**
     * Lets a value count what belongs to the flows that will name these counters, until they do
     * ({@code ibv_attach_counters_point_flow} without a flow).
     *
     * @param description what is counted
     * @param index of the value, from 0 on; what is attached to the same one adds up
     * @throws RdmaUnsupportedException when the device cannot count that
     * @throws RdmaException EBUSY when a flow names them already; EINVAL, ENOMEM
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
     * Lets a value count what belongs to a flow ({@code ibv_attach_counters_point_flow}), which keeps these counters
     * open from here on.
     *
     * @param description what is counted
     * @param index of the value, from 0 on; what is attached to the same one adds up
     * @param flow of the same context
     * @throws RdmaUnsupportedException when the device cannot count that
     * @throws RdmaException EINVAL, ENOMEM
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
        boolean attached = false;
        try {
            attach(description, index, VERBS.addressOf(flow));
            attached = true;
        } finally {
            if (!attached) {
                VERBS.lifeOf(flow).removeParent(life());
            }
        }
    }

    private void attach(CounterDescription description, int index, long flow) throws RdmaException {
        if (index < 0) {
            throw new IllegalArgumentException("the values are counted from 0, not " + index);
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
     * The values now ({@code ibv_read_counters}).
     *
     * @param count how many, from the first on; 1 to 8191, for the kernel gives no more than 64 KiB at once
     * @param cached whether a value that the driver has is good enough
     * @throws RdmaException EINVAL when there are not so many
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

    @Override
    @CFunction("ibv_destroy_counters")
    protected void destroy() throws RdmaException {
        NativeFunction destroy = ExtendedOps.DESTROY_COUNTERS.require(VERBS.addressOf(context));
        Check.returned(destroy, destroy.callInt(address()));
    }
}
