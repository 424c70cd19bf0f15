// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_cq_ex;
import io.rdmacm.bindings.ibv_cq_init_attr_ex;
import io.rdmacm.verbs.error.RdmaClosedException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.driver.DriverCall;
import io.rdmacm.verbs.internal.driver.ExtendedOps;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.internal.wait.Deadline;
import io.rdmacm.verbs.queue.CompletionQueueFlag;
import io.rdmacm.verbs.work.CompletionField;

/**
 * A completion queue whose completions are read in place, field by field ({@code struct ibv_cq_ex},
 * ibv_create_cq_ex(3)). It can be used wherever a {@link CompletionQueue} can, and polled like one.
 *
 * <pre>{@code
 * try (CompletionCursor completion = queue.startPoll()) {
 *     while (completion.next()) {
 *         use(completion.workRequestId(), completion.byteLength());
 *     }
 * }
 * }</pre>
 *
 * <p>Only one such poll can be in progress at a time: until its cursor is closed, every other poll is refused. Closing
 * the queue ends it. Closing a queue pair that reports to this queue may wait for it, and is refused in the thread that
 * polls.
 *
 * <p>This class cannot be extended outside this library.
 */
public non-sealed class ExtendedCompletionQueue extends CompletionQueue {
    private final Set<CompletionField> fields;
    private final CompletionCursor cursor;
    // whether the driver does no locking of its own
    private final boolean unlocked;

    /**
     * Creates an object of this library for a queue that has just been created.
     *
     * @param created the queue
     * @hidden
     */
    @SuppressWarnings({"exports", "this-escape"})
    protected ExtendedCompletionQueue(Created created) {
        super(created.context(), created.attributes().channel().orElse(null), created.life(), created.address(),
                ibv_cq_ex.sizeof());
        this.fields = created.attributes().fields();
        this.unlocked = flags(created.context(), created.attributes()).contains(CompletionQueueFlag.SINGLE_THREADED);
        this.cursor = new CompletionCursor(this, created.address(), Flags.mask(fields, CompletionField::bit));
    }

    /**
     * A queue that C has created.
     *
     * @param context the context of its device
     * @param attributes what it was created with
     * @param life its lifetime
     * @param address the address of its {@code struct ibv_cq_ex}
     * @hidden
     */
    @SuppressWarnings("exports")
    protected record Created(VerbsContext context, CompletionQueueInitAttributes attributes, Lifetime life,
            long address) {
    }

    /**
     * Constructs the Java object of a queue.
     *
     * @param <T> its class
     * @hidden
     */
    @FunctionalInterface
    protected interface Constructor<T> {
        /**
         * Calls the constructor.
         *
         * @param created the queue
         * @return its object
         * @throws RdmaException as C reports it
         */
        T construct(Created created) throws RdmaException;
    }

    static ExtendedCompletionQueue create(VerbsContext context, CompletionQueueInitAttributes attributes)
            throws RdmaException {
        return create(ExtendedCompletionQueue.class, context, attributes, (init, arena) -> {
            NativeFunction create = ExtendedOps.CREATE_CQ_EX.require(context.address());
            return Check.pointer(create, attributes.toString(), create.callLong(context.address(), init));
        }, ExtendedCompletionQueue::new);
    }

    /**
     * Creates a queue by a given function.
     *
     * @param <T> the class of the object
     * @param type the class of the object
     * @param context the context of the device
     * @param attributes what to create it with
     * @param creator receives a {@code struct ibv_cq_init_attr_ex}, and returns a {@code struct ibv_cq_ex}
     * @param constructor constructs the object
     * @return the queue
     * @throws RdmaException as C reports it
     * @hidden
     */
    @SuppressWarnings("exports")
    protected static <T extends ExtendedCompletionQueue> T create(Class<T> type, VerbsContext context,
            CompletionQueueInitAttributes attributes, VerbsAccess.QueueCreator creator, Constructor<T> constructor)
            throws RdmaException {
        CompletionChannel channel = attributes.channel().orElse(null);
        List<Lifetime> parents = new ArrayList<>(parents(context, channel, attributes.completionVector()));
        attributes.parentDomain().ifPresent(domain -> {
            if (domain.context() != context) {
                throw new IllegalArgumentException("the parent domain belongs to another context: "
                        + domain.context());
            }
            parents.add(domain.life());
        });
        return Lifetime.make(type, parents, arena -> {
            long init = arena.allocate(ibv_cq_init_attr_ex.layout()).address();
            write(context, attributes, init);
            try {
                return creator.create(init, arena);
            } catch (RdmaException e) {
                throw DeviceLimits.explain(e, context, attributes.capacity());
            }
        }, DESTROY_CQ::free, (life, address) -> {
            T queue = constructor.construct(new Created(context, attributes, life, address));
            queue.publish();
            return queue;
        });
    }

    /**
     * Returns the options of a queue. Without a lock in C, a post does not wait for the cursor, and a poll takes less
     * time; this library admits one thread at a time anyway.
     */
    private static Set<CompletionQueueFlag> flags(VerbsContext context, CompletionQueueInitAttributes attributes) {
        Set<CompletionQueueFlag> flags = EnumSet.noneOf(CompletionQueueFlag.class);
        flags.addAll(attributes.flags());
        if (context.quirks().postsWaitForPolls()) {
            flags.add(CompletionQueueFlag.SINGLE_THREADED);
        }
        return flags;
    }

    private static void write(VerbsContext context, CompletionQueueInitAttributes attributes, long init) {
        int given = Rdma.IBV_CQ_INIT_ATTR_MASK_FLAGS();
        Memory.putInt(init + ibv_cq_init_attr_ex.cqe$offset(), attributes.capacity());
        Memory.putLong(init + ibv_cq_init_attr_ex.channel$offset(),
                attributes.channel().map(CompletionChannel::address).orElse(0L));
        Memory.putInt(init + ibv_cq_init_attr_ex.comp_vector$offset(), attributes.completionVector());
        Memory.putLong(init + ibv_cq_init_attr_ex.wc_flags$offset(),
                Flags.mask(attributes.fields(), CompletionField::bit));
        int flags = Flags.mask(flags(context, attributes), CompletionQueueFlag::bit);
        Memory.putInt(init + ibv_cq_init_attr_ex.flags$offset(), flags);
        int mask = flags == 0 ? 0 : given;
        if (attributes.parentDomain().isPresent()) {
            mask |= Rdma.IBV_CQ_INIT_ATTR_MASK_PD();
            Memory.putLong(init + ibv_cq_init_attr_ex.parent_domain$offset(),
                    attributes.parentDomain().get().address());
        }
        Memory.putInt(init + ibv_cq_init_attr_ex.comp_mask$offset(), mask);
    }

    /** {@return the fields that the cursor can read} */
    public Set<CompletionField> fields() {
        life().ensureOpen();
        return fields;
    }

    /** {@return this queue as a plain one ({@code ibv_cq_ex_to_cq}), which is the same object} */
    @CFunction("ibv_cq_ex_to_cq")
    public CompletionQueue toCompletionQueue() {
        life().ensureOpen();
        return this;
    }

    /**
     * Starts to read completions in place, without waiting ({@code ibv_start_poll}, ibv_create_cq_ex(3)).
     *
     * @return the cursor, before the first completion, if there is one; closing it returns the completions that were
     *        read to the device
     * @throws IllegalStateException if a cursor of this queue is open
     * @throws RdmaException with the errno of the driver, if the queue has overrun or the device has failed
     */
    @CFunction("ibv_start_poll")
    public CompletionCursor startPoll() throws RdmaException {
        cursor.start();
        return cursor;
    }

    /**
     * Starts to read completions in place, and waits for one if there are none: polls, arms, polls again and waits on
     * the channel ({@code ibv_start_poll}, ibv_create_cq_ex(3)).
     *
     * @param timeout the maximum time to wait
     * @return the cursor, before the first completion; closing it returns the completions that were read to the device
     * @throws IllegalStateException if this queue has no channel, or a cursor of it is open
     * @throws RdmaTimeoutException if no completion arrived in time
     * @throws RdmaClosedException if another thread closed this queue
     * @throws RdmaException with the errno of the driver, if the queue has overrun or the device has failed
     * @throws InterruptedException if this thread was interrupted; no completion is lost
     */
    @CFunction("ibv_start_poll")
    public CompletionCursor awaitPoll(Duration timeout) throws RdmaException, InterruptedException {
        await(ExtendedCompletionQueue::tryStart, this, cursor, timeout);
        return cursor;
    }

    /**
     * Calls a function of the driver that reads the current completion of the open cursor.
     *
     * @param function reads memory only
     * @param queue its first argument
     * @param to its second argument
     * @return what the function returns
     * @throws IllegalStateException if there is no current completion
     * @hidden
     */
    @SuppressWarnings("exports")
    protected final long readCurrent(DriverCall function, long queue, long to) {
        return cursor.read(function, queue, to);
    }

    /**
     * Refuses every poll of this queue, because the driver cannot read its completions. Called by the constructor.
     *
     * @hidden
     */
    protected final void refusePolls() {
        cursor.refuse();
    }

    /** Starts a poll. Leaves the cursor open if there is a completion. */
    private int tryStart(CompletionCursor on) throws RdmaException {
        if (on.start()) {
            return 1;
        }
        on.close();
        return 0;
    }

    @Override
    void requireNoCursor() {
        cursor.requireClosed();
    }

    @Override
    void requireNoCursorOfThisThread() {
        cursor.requireNotOpenedBy(Thread.currentThread());
    }

    @Override
    boolean tryEnterBetweenPolls(Deadline deadline) {
        return !unlocked || cursor.tryEnterBetweenPolls(deadline);
    }

    @Override
    void leaveBetweenPolls() {
        if (unlocked) {
            lock().leave(null);
        }
    }

    @Override
    void endPoll() {
        cursor.end();
    }
}
