// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_wq;
import io.rdmacm.bindings.ibv_wq_attr;
import io.rdmacm.bindings.ibv_wq_init_attr;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.WorkRequestException;
import io.rdmacm.verbs.internal.driver.DriverCall;
import io.rdmacm.verbs.internal.driver.ExtendedOps;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.queue.WorkQueueFlag;
import io.rdmacm.verbs.queue.WorkQueueState;

/**
 * A work queue for receives ({@code struct ibv_wq}, ibv_create_wq(3)). Several of them, in an {@link IndirectionTable},
 * share the packets that one queue pair receives. A new work queue is in the state RESET.
 *
 * <p>Posting makes one native call, copies nothing and allocates nothing. All methods may be called by any thread, and
 * {@link #close()} at any time. The queue is optimised for a single thread that posts to it. When several threads post,
 * each post takes a lock.
 */
public final class WorkQueue extends NativeObject {
    private static final int POST_ARGUMENTS = 3;
    private final ProtectionDomain domain;
    private final CompletionQueue queue;
    private final int number;
    private final ReceiveQueue receives;

    private WorkQueue(ProtectionDomain domain, CompletionQueue queue, Lifetime life, long address,
            int maxScatterGather) {
        super(life, address, ibv_wq.sizeof());
        this.domain = domain;
        this.queue = queue;
        this.number = Memory.getInt(address + ibv_wq.wq_num$offset());
        DriverCall post = DriverCall.of(Memory.getLong(address + ibv_wq.post_recv$offset()),
                domain.context().postsInUserSpace(), POST_ARGUMENTS);
        this.receives = new ReceiveQueue("WorkQueue", "work queue", "ibv_post_wq_recv", post, address, maxScatterGather,
                life);
        String text = "0x" + Integer.toHexString(number);
        life.describe(() -> text);
    }

    static WorkQueue create(ProtectionDomain domain, CompletionQueue queue, int maxRequests, int maxScatterGather,
            WorkQueueFlag... flags) throws RdmaException {
        Objects.requireNonNull(queue, "queue");
        VerbsContext context = domain.context();
        domain.requireSameContext("completion queue", queue.context());
        if (maxRequests < 1 || maxScatterGather < 1) {
            throw new IllegalArgumentException("a work queue needs at least one request with one scatter/gather entry,"
                    + " not " + maxRequests + " with " + maxScatterGather);
        }
        int create = mask(flags);
        try (Arena outer = Arena.ofConfined()) {
            long init = outer.allocate(ibv_wq_init_attr.layout()).address();
            Memory.putInt(init + ibv_wq_init_attr.wq_type$offset(), Rdma.IBV_WQT_RQ());
            Memory.putInt(init + ibv_wq_init_attr.max_wr$offset(), maxRequests);
            Memory.putInt(init + ibv_wq_init_attr.max_sge$offset(), maxScatterGather);
            Memory.putLong(init + ibv_wq_init_attr.pd$offset(), domain.address());
            Memory.putLong(init + ibv_wq_init_attr.cq$offset(), queue.address());
            if (flags.length > 0) {
                Memory.putInt(init + ibv_wq_init_attr.comp_mask$offset(), Rdma.IBV_WQ_INIT_ATTR_FLAGS());
                Memory.putInt(init + ibv_wq_init_attr.create_flags$offset(), create);
            }
            return Lifetime.make(WorkQueue.class, List.of(domain.life(), queue.life()), arena -> {
                NativeFunction function = ExtendedOps.CREATE_WQ.require(context.address());
                return prepare(Check.pointer(function, function.callLong(context.address(), init)));
            }, ExtendedOps.DESTROY_WQ.freer(context.address()), (life, address) -> Lifetime.publish(
                    new WorkQueue(domain, queue, life, address,
                            Memory.getInt(init + ibv_wq_init_attr.max_sge$offset())),
                    context.events()::add, context.events()::remove));
        }
    }

    /** Initialises the new object as the inline function does: a mutex and a condition of glibc start as zeros. */
    private static long prepare(long address) {
        Memory.putLong(address + ibv_wq.wq_context$offset(), 0);
        Memory.putInt(address + ibv_wq.events_completed$offset(), 0);
        clear(address + ibv_wq.mutex$offset(), ibv_wq.mutex$layout().byteSize());
        clear(address + ibv_wq.cond$offset(), ibv_wq.cond$layout().byteSize());
        return address;
    }

    private static void clear(long address, long bytes) {
        for (long i = 0; i < bytes; i++) {
            Memory.putByte(address + i, (byte) 0);
        }
    }

    private static int mask(WorkQueueFlag... flags) {
        return Flags.mask(Arrays.asList(flags), WorkQueueFlag::bit);
    }

    /** {@return the number by which completions identify this queue} */
    public int number() {
        life().ensureOpen();
        return number;
    }

    /** {@return the protection domain in which this queue was created} */
    public ProtectionDomain protectionDomain() {
        life().ensureOpen();
        return domain;
    }

    /** {@return the completion queue for finished receives} */
    public CompletionQueue completionQueue() {
        life().ensureOpen();
        return queue;
    }

    /**
     * {@return the state that {@link #modify} set last, RESET at first ({@code ibv_wq.state}); the device is not asked}
     */
    public WorkQueueState state() {
        return WorkQueueState.of(intMember(ibv_wq.state$offset()));
    }

    /**
     * Changes the state of this queue ({@code ibv_modify_wq}, ibv_modify_wq(3)).
     *
     * @param wanted the new state
     * @throws RdmaException EINVAL if there is no transition to it from the current state
     */
    @CFunction("ibv_modify_wq")
    public void modify(WorkQueueState wanted) throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            long struct = arena.allocate(ibv_wq_attr.layout()).address();
            Memory.putInt(struct + ibv_wq_attr.attr_mask$offset(), Rdma.IBV_WQ_ATTR_STATE());
            Memory.putInt(struct + ibv_wq_attr.wq_state$offset(), wanted.value());
            modify(struct);
        } finally {
            life().leave();
        }
    }

    /**
     * Switches flags on and off ({@code ibv_modify_wq}, ibv_modify_wq(3)). All other flags stay as they are.
     *
     * @param on the flags to switch on
     * @param off the flags to switch off
     * @throws IllegalArgumentException if a flag is in both sets
     * @throws RdmaException EINVAL or EOPNOTSUPP if the device cannot switch a flag
     */
    @CFunction("ibv_modify_wq")
    public void modifyFlags(Set<WorkQueueFlag> on, Set<WorkQueueFlag> off) throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            Set<WorkQueueFlag> all = new LinkedHashSet<>(on);
            all.addAll(off);
            if (all.size() < on.size() + off.size()) {
                throw new IllegalArgumentException("a flag cannot be switched both on and off: " + on + ", " + off);
            }
            long struct = arena.allocate(ibv_wq_attr.layout()).address();
            Memory.putInt(struct + ibv_wq_attr.attr_mask$offset(), Rdma.IBV_WQ_ATTR_FLAGS());
            Memory.putInt(struct + ibv_wq_attr.flags$offset(), Flags.mask(on, WorkQueueFlag::bit));
            Memory.putInt(struct + ibv_wq_attr.flags_mask$offset(), Flags.mask(List.copyOf(all), WorkQueueFlag::bit));
            modify(struct);
        } finally {
            life().leave();
        }
    }

    private void modify(long struct) throws RdmaException {
        NativeFunction modify = ExtendedOps.MODIFY_WQ.require(domain.context().address());
        // Resetting removes the completions from the completion queue.
        requireNotInTheWay();
        CompletionQueue.removeCompletions(() -> Check.returned(modify, modify.callInt(address(), struct)), queue);
    }

    /**
     * Posts one receive work request ({@code ibv_post_wq_recv}).
     *
     * @param request the request; it can be changed and posted again as soon as this method returns
     * @throws IllegalArgumentException if the request has more scatter/gather entries than this queue allows
     * @throws WorkRequestException ENOMEM if the queue is full; EINVAL if the request is invalid or the state does not
     *        allow it
     * @throws RdmaException always a {@code WorkRequestException}
     */
    @CFunction("ibv_post_wq_recv")
    public void postReceive(ReceiveRequest request) throws RdmaException {
        receives.post(request);
    }

    /**
     * Posts consecutive requests of a block with one native call ({@code ibv_post_wq_recv}).
     *
     * @param block the block; its requests can be changed and posted again as soon as this method returns
     * @param first the index of the first request to post
     * @param count the number of requests to post, at least 1
     * @throws IndexOutOfBoundsException if the block does not contain the requests
     * @throws IllegalArgumentException if a request has more scatter/gather entries than this queue allows; nothing has
     *        been posted then
     * @throws WorkRequestException for the first request that was refused, with the errors of
     *        {@link #postReceive(ReceiveRequest)}; the requests before it have been posted
     * @throws RdmaException always a {@code WorkRequestException}
     */
    @CFunction("ibv_post_wq_recv")
    public void postReceive(ReceiveRequests block, int first, int count) throws RdmaException {
        receives.post(block, first, count);
    }

    @Override
    protected void requireNotInTheWay() {
        // The close removes the completions from the completion queue, and waits until nobody polls it.
        queue.requireNoCursorOfThisThread();
    }

    @Override
    @CFunction("ibv_destroy_wq")
    protected void destroy() throws RdmaException {
        receives.closeAndDestroy(() -> CompletionQueue.removeCompletions(
                () -> domain.context().events().destroy(this, super::destroy), queue));
    }
}
