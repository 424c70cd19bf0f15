// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.counter;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.List;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.ibv_comp_cntr;
import io.rdmacm.bindings.ibv_comp_cntr_init_attr;
import io.rdmacm.bindings.ibv_qp_attach_comp_cntr_attr;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.VerbsContext;
import io.rdmacm.verbs.error.NativeLibraryException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;

/**
 * A completion counter ({@code struct ibv_comp_cntr}, ibv_create_comp_cntr(3); since rdma-core 65): the device adds up
 * what queue pairs have completed, instead of writing a completion for each work request, or beside that. Each counter
 * has two values, both unsigned: of what succeeded, and of what failed.
 *
 * <p>{@link #attach} says what is counted. There is no detaching: a counter cannot be closed before the queue pairs
 * that it is attached to. All methods are thread-safe. A new value may take a moment until it can be read, and a value
 * that is set while the device adds to it may be lost.
 */
@CFunction("ibv_destroy_comp_cntr")
public final class CompletionCounter extends NativeObject {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final NativeFunction CREATE = NativeFunction.of("ibv_create_comp_cntr");
    private static final NativeFunction DESTROY = NativeFunction.of("ibv_destroy_comp_cntr");
    private static final NativeFunction READ = NativeFunction.of("ibv_read_comp_cntr");
    private static final NativeFunction READ_ERR = NativeFunction.of("ibv_read_err_comp_cntr");
    private static final NativeFunction SET = NativeFunction.of("ibv_set_comp_cntr");
    private static final NativeFunction SET_ERR = NativeFunction.of("ibv_set_err_comp_cntr");
    private static final NativeFunction INC = NativeFunction.of("ibv_inc_comp_cntr");
    private static final NativeFunction INC_ERR = NativeFunction.of("ibv_inc_err_comp_cntr");
    private static final NativeFunction ATTACH = NativeFunction.of("ibv_qp_attach_comp_cntr");

    private final VerbsContext context;
    private final CompletionCounterType type;

    private CompletionCounter(VerbsContext context, CompletionCounterType type, Lifetime life, long address) {
        super(life, address, ibv_comp_cntr.sizeof());
        this.context = context;
        this.type = type;
        String text = type + " at 0x" + Long.toHexString(address);
        life.describe(() -> text);
    }

    /**
     * Creates a completion counter, with both values at 0 ({@code ibv_create_comp_cntr}).
     *
     * @param context the device that counts
     * @param type what to count
     * @return the new counter
     * @throws NativeLibraryException if the installed library is older than rdma-core 65
     * @throws RdmaUnsupportedException if the device has no completion counters, or none of this type
     * @throws RdmaException ENOMEM if the device has no more of them
     */
    @CFunction("ibv_create_comp_cntr")
    public static CompletionCounter create(VerbsContext context, CompletionCounterType type) throws RdmaException {
        int value = type.value();
        return Lifetime.make(CompletionCounter.class, List.of(VERBS.lifeOf(context)), arena -> {
            long init = arena.allocate(ibv_comp_cntr_init_attr.layout()).address();
            Memory.putInt(init + ibv_comp_cntr_init_attr.type$offset(), value);
            return Check.pointer(CREATE, type.toString(), CREATE.callLong(VERBS.addressOf(context), init));
        }, DESTROY::free, (life, address) -> new CompletionCounter(context, type, life, address));
    }

    /** {@return the context of the device that counts} */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /** {@return what is counted} */
    public CompletionCounterType type() {
        life().ensureOpen();
        return type;
    }

    /**
     * Lets this counter count operations of a queue pair ({@code ibv_qp_attach_comp_cntr}, ibv_qp_attach_comp_cntr(3)).
     * Only in the states RESET and INIT of the queue pair. A counter may be attached to several queue pairs, and a
     * queue pair may have several counters for different operations.
     *
     * @param pair a queue pair of the same context; this counter cannot be closed before it
     * @param operations what to count, at least one operation
     * @throws IllegalArgumentException without an operation, or if the queue pair is of another context
     * @throws RdmaUnsupportedException if the device cannot count one of the operations
     * @throws RdmaException EINVAL in another state; EBUSY if one of the operations has a counter already
     */
    @CFunction("ibv_qp_attach_comp_cntr")
    public void attach(QueuePair pair, CompletionCounterOperation... operations) throws RdmaException {
        life().ensureOpen();
        int mask = Flags.mask(List.of(operations), CompletionCounterOperation::bit);
        if (mask == 0) {
            throw new IllegalArgumentException("a completion counter needs at least one operation to count");
        }
        life().enter();
        try {
            if (pair.context() != context) {
                throw new IllegalArgumentException("the queue pair belongs to another context than the counter: "
                        + pair);
            }
            VERBS.lifeOf(pair).enter();
            try {
                attach(pair, mask);
            } finally {
                VERBS.lifeOf(pair).leave();
            }
        } finally {
            life().leave();
        }
    }

    private void attach(QueuePair pair, int mask) throws RdmaException {
        VERBS.lifeOf(pair).addParent(life());
        try (Arena arena = Arena.ofConfined()) {
            long struct = arena.allocate(ibv_qp_attach_comp_cntr_attr.layout()).address();
            Memory.putInt(struct + ibv_qp_attach_comp_cntr_attr.op_mask$offset(), mask);
            Check.returned(ATTACH, ATTACH.callInt(VERBS.addressOf(pair), address(), struct));
        } catch (Throwable t) {
            VERBS.lifeOf(pair).removeParent(life());
            throw t;
        }
    }

    /**
     * Reads how much has succeeded ({@code ibv_read_comp_cntr}).
     *
     * @return the value, an unsigned number
     * @throws RdmaUnsupportedException if the device cannot read it
     * @throws RdmaException if the device fails
     */
    @CFunction("ibv_read_comp_cntr")
    public long read() throws RdmaException {
        return read(READ);
    }

    /**
     * Reads how much has failed ({@code ibv_read_err_comp_cntr}).
     *
     * @return the value, an unsigned number
     * @throws RdmaUnsupportedException if the device cannot read it
     * @throws RdmaException if the device fails
     */
    @CFunction("ibv_read_err_comp_cntr")
    public long readErrors() throws RdmaException {
        return read(READ_ERR);
    }

    /**
     * Sets the value of what has succeeded ({@code ibv_set_comp_cntr}).
     *
     * @param value the new value, an unsigned number
     * @throws RdmaUnsupportedException if the device cannot set it
     * @throws RdmaException EINVAL if the device cannot hold the value
     */
    @CFunction("ibv_set_comp_cntr")
    public void set(long value) throws RdmaException {
        change(SET, value);
    }

    /**
     * Sets the value of what has failed ({@code ibv_set_err_comp_cntr}).
     *
     * @param value the new value, an unsigned number
     * @throws RdmaUnsupportedException if the device cannot set it
     * @throws RdmaException EINVAL if the device cannot hold the value
     */
    @CFunction("ibv_set_err_comp_cntr")
    public void setErrors(long value) throws RdmaException {
        change(SET_ERR, value);
    }

    /**
     * Adds to the value of what has succeeded ({@code ibv_inc_comp_cntr}).
     *
     * @param amount what to add, an unsigned number
     * @throws RdmaUnsupportedException if the device cannot add to it
     * @throws RdmaException if the device fails
     */
    @CFunction("ibv_inc_comp_cntr")
    public void increment(long amount) throws RdmaException {
        change(INC, amount);
    }

    /**
     * Adds to the value of what has failed ({@code ibv_inc_err_comp_cntr}).
     *
     * @param amount what to add, an unsigned number
     * @throws RdmaUnsupportedException if the device cannot add to it
     * @throws RdmaException if the device fails
     */
    @CFunction("ibv_inc_err_comp_cntr")
    public void incrementErrors(long amount) throws RdmaException {
        change(INC_ERR, amount);
    }

    private long read(NativeFunction function) throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            long value = arena.allocate(ValueLayout.JAVA_LONG).address();
            Check.returned(function, function.callInt(address(), value));
            return Memory.getLong(value);
        } finally {
            life().leave();
        }
    }

    private void change(NativeFunction function, long value) throws RdmaException {
        life().enter();
        try {
            Check.returned(function, function.callInt(address(), value));
        } finally {
            life().leave();
        }
    }
}
