// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_srq;
import io.rdmacm.bindings.ibv_srq_attr;
import io.rdmacm.bindings.ibv_srq_init_attr;
import io.rdmacm.bindings.ibv_srq_init_attr_ex;
import io.rdmacm.bindings.ibv_tm_cap;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.error.WorkRequestException;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.codec.SharedReceiveQueueStructs;
import io.rdmacm.verbs.internal.driver.ContextOps;
import io.rdmacm.verbs.internal.driver.ExtendedOps;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.queue.SharedReceiveQueueAttributes;
import io.rdmacm.verbs.queue.SharedReceiveQueueType;

/**
 * A shared receive queue ({@code struct ibv_srq}, ibv_create_srq(3)): several queue pairs take their receive work
 * requests from it.
 *
 * <p>Posting makes one native call, copies nothing and allocates nothing. All methods may be called by any thread, and
 * {@link #close()} at any time. The queue is optimised for a single thread that posts to it. When several threads post,
 * each post takes a lock.
 */
public final class SharedReceiveQueue extends NativeObject {
    private static final NativeFunction CREATE_SRQ = NativeFunction.of("ibv_create_srq");
    private static final NativeFunction MODIFY_SRQ = NativeFunction.of("ibv_modify_srq");
    private static final NativeFunction QUERY_SRQ = NativeFunction.of("ibv_query_srq");
    private static final NativeFunction DESTROY_SRQ = NativeFunction.of("ibv_destroy_srq");

    private final ProtectionDomain domain;
    private final SharedReceiveQueueInitAttributes init;
    private final ReceiveQueue receives;

    private SharedReceiveQueue(ProtectionDomain domain, SharedReceiveQueueInitAttributes init, Lifetime life,
            long address, int maxScatterGather) {
        super(life, address, ibv_srq.sizeof());
        this.domain = domain;
        this.init = init;
        this.receives = new ReceiveQueue("SharedReceiveQueue", "shared receive queue",
                ContextOps.POST_SRQ_RECV.name(),
                ContextOps.POST_SRQ_RECV.call(address, domain.context().postsInUserSpace()), address, maxScatterGather,
                life);
        // without the attributes: their reference to a completion queue would hide leaks from the detector
        String text = init.type() + " at 0x" + Long.toHexString(address);
        life.describe(() -> text);
    }

    /** Creates a queue by other functions than those of libibverbs, see {@link VerbsAccess}. */
    static SharedReceiveQueue create(ProtectionDomain domain, SharedReceiveQueueInitAttributes init,
            VerbsAccess.Creator creator, Lifetime.Freer freer, Lifetime... owners) throws RdmaException {
        List<Lifetime> parents = new ArrayList<>(List.of(owners));
        parents.add(domain.life());
        init.xrcDomain().ifPresent(xrc -> {
            domain.requireSameContext("XRC domain", xrc.context());
            parents.add(xrc.life());
        });
        init.completionQueue().ifPresent(queue -> {
            domain.requireSameContext("completion queue", queue.context());
            parents.add(queue.life());
        });
        AsyncEvents events = domain.context().events();
        try (Arena outer = Arena.ofConfined()) {
            long struct = write(domain, init, outer);
            return Lifetime.make(SharedReceiveQueue.class, parents, arena -> {
                try {
                    return creator.create(struct, arena);
                } catch (RdmaException e) {
                    throw DeviceLimits.explain(e, domain.context(), init.attributes());
                }
            }, freer, (life, address) -> {
                // the actual sizes: the struct starts with the members of the plain ibv_srq_init_attr
                SharedReceiveQueueAttributes actual = SharedReceiveQueueStructs.read(
                        struct + ibv_srq_init_attr.attr$offset());
                return Lifetime.publish(new SharedReceiveQueue(domain, init, life, address, actual.maxScatterGather()),
                        events::add, events::remove);
            });
        }
    }

    static SharedReceiveQueue create(ProtectionDomain domain, SharedReceiveQueueInitAttributes init)
            throws RdmaException {
        boolean complete = init.type() == SharedReceiveQueueType.BASIC || init.completionQueue().isPresent();
        if (!complete || init.type() == SharedReceiveQueueType.XRC && init.xrcDomain().isEmpty()) {
            throw new IllegalArgumentException("a shared receive queue of type " + init.type()
                    + " needs a completion queue" + (complete ? " and an XRC domain" : ""));
        }
        return create(domain, init, (struct, arena) -> createNative(domain, init, struct), DESTROY_SRQ::free);
    }

    /**
     * As the inline function {@code ibv_create_srq_ex}: a basic queue does not need a driver that supports the other
     * types.
     */
    private static long createNative(ProtectionDomain domain, SharedReceiveQueueInitAttributes init, long struct)
            throws RdmaException {
        String detail = init.attributes().toString();
        if (init.type() == SharedReceiveQueueType.BASIC) {
            return Check.pointer(CREATE_SRQ, detail, CREATE_SRQ.callLong(domain.address(), struct));
        }
        long context = domain.context().address();
        NativeFunction create = ExtendedOps.CREATE_SRQ_EX.require(context);
        return Check.pointer(create, detail, create.callLong(context, struct));
    }

    /** Allocates and writes a {@code struct ibv_srq_init_attr_ex}. */
    private static long write(ProtectionDomain domain, SharedReceiveQueueInitAttributes init, Arena arena) {
        long address = arena.allocate(ibv_srq_init_attr_ex.layout()).address();
        SharedReceiveQueueStructs.write(init.attributes(), address + ibv_srq_init_attr_ex.attr$offset());
        Memory.putInt(address + ibv_srq_init_attr_ex.srq_type$offset(), init.type().value());
        Memory.putLong(address + ibv_srq_init_attr_ex.pd$offset(), domain.address());
        int mask = Rdma.IBV_SRQ_INIT_ATTR_TYPE() | Rdma.IBV_SRQ_INIT_ATTR_PD();
        if (init.xrcDomain().isPresent()) {
            Memory.putLong(address + ibv_srq_init_attr_ex.xrcd$offset(), init.xrcDomain().get().address());
            mask |= Rdma.IBV_SRQ_INIT_ATTR_XRCD();
        }
        if (init.completionQueue().isPresent()) {
            Memory.putLong(address + ibv_srq_init_attr_ex.cq$offset(), init.completionQueue().get().address());
            mask |= Rdma.IBV_SRQ_INIT_ATTR_CQ();
        }
        if (init.type() == SharedReceiveQueueType.TM) {
            long capacity = address + ibv_srq_init_attr_ex.tm_cap$offset();
            Memory.putInt(capacity + ibv_tm_cap.max_num_tags$offset(), init.maxTags());
            Memory.putInt(capacity + ibv_tm_cap.max_ops$offset(), init.maxOperations());
            mask |= Rdma.IBV_SRQ_INIT_ATTR_TM();
        }
        Memory.putInt(address + ibv_srq_init_attr_ex.comp_mask$offset(), mask);
        return address;
    }

    /** {@return the context of the device that this queue belongs to} */
    public VerbsContext context() {
        life().ensureOpen();
        return domain.context();
    }

    /** {@return the protection domain in which this queue was created} */
    public ProtectionDomain protectionDomain() {
        life().ensureOpen();
        return domain;
    }

    /** {@return the type of this queue} */
    public SharedReceiveQueueType type() {
        life().ensureOpen();
        return init.type();
    }

    /**
     * {@return the completion queue of this queue; empty for type {@code BASIC}, whose completions are reported by the
     * queue pairs}
     */
    public Optional<CompletionQueue> completionQueue() {
        life().ensureOpen();
        return init.completionQueue();
    }

    /**
     * Queries the current sizes and the limit ({@code ibv_query_srq}, ibv_query_srq(3)).
     *
     * @return the attributes
     * @throws RdmaException if the device or the driver fails
     */
    @CFunction("ibv_query_srq")
    public SharedReceiveQueueAttributes query() throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            long struct = arena.allocate(ibv_srq_attr.layout()).address();
            Check.returned(QUERY_SRQ, QUERY_SRQ.callInt(address(), struct));
            return SharedReceiveQueueStructs.read(struct);
        } finally {
            life().leave();
        }
    }

    /**
     * Arms the async event SRQ_LIMIT_REACHED: it is raised once, when fewer receives than the limit are left in this
     * queue ({@code ibv_modify_srq}, ibv_modify_srq(3)).
     *
     * @param receives the limit, a number of receives; 0 disarms the event
     * @throws IllegalArgumentException if the limit is negative
     * @throws RdmaException EINVAL if the limit exceeds the size of this queue
     */
    @CFunction("ibv_modify_srq")
    public void setLimit(int receives) throws RdmaException {
        modify(new SharedReceiveQueueAttributes(0, 0, receives), Rdma.IBV_SRQ_LIMIT());
    }

    /**
     * Changes the number of receives that this queue can hold ({@code ibv_modify_srq}, ibv_modify_srq(3)). Devices that
     * support it have the capability SRQ_RESIZE.
     *
     * @param maxRequests the number of receives, at least as many as are outstanding; the device may round up
     * @throws IllegalArgumentException if the number is less than 1
     * @throws RdmaException EINVAL if the number exceeds the device's limit, or more receives are outstanding; ENOMEM
     *        if memory is short
     * @throws RdmaUnsupportedException if the device does not support it
     */
    @CFunction("ibv_modify_srq")
    public void resize(int maxRequests) throws RdmaException {
        if (maxRequests < 1) {
            life().ensureOpen();
            throw new IllegalArgumentException("a shared receive queue needs at least 1 request, not " + maxRequests);
        }
        modify(new SharedReceiveQueueAttributes(maxRequests, 0, 0), Rdma.IBV_SRQ_MAX_WR());
    }

    private void modify(SharedReceiveQueueAttributes wanted, int mask) throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            long struct = arena.allocate(ibv_srq_attr.layout()).address();
            SharedReceiveQueueStructs.write(wanted, struct);
            Check.returned(MODIFY_SRQ, MODIFY_SRQ.callInt(address(), struct, mask));
        } catch (RdmaException e) {
            throw DeviceLimits.explain(e, domain.context(), wanted);
        } finally {
            life().leave();
        }
    }

    /**
     * Returns the number by which peers with queue pairs of type XRC_SEND address this queue ({@code ibv_get_srq_num},
     * ibv_get_srq_num(3)).
     *
     * @return the number
     * @throws RdmaException EINVAL if this queue is not of type {@code XRC}
     * @throws RdmaUnsupportedException if the device does not support XRC
     */
    @CFunction("ibv_get_srq_num")
    public int number() throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            NativeFunction get = ExtendedOps.GET_SRQ_NUM.require(domain.context().address());
            long number = arena.allocate(Integer.BYTES, Integer.BYTES).address();
            Check.returned(get, get.callInt(address(), number));
            return Memory.getInt(number);
        } finally {
            life().leave();
        }
    }

    /**
     * Posts one receive work request ({@code ibv_post_srq_recv}, ibv_post_srq_recv(3)).
     *
     * @param request the request; it can be changed and posted again as soon as this method returns
     * @throws IllegalArgumentException if the request has more scatter/gather entries than this queue allows
     * @throws WorkRequestException ENOMEM if the queue is full; EINVAL if the request is invalid
     * @throws RdmaException always a {@code WorkRequestException}
     */
    @CFunction("ibv_post_srq_recv")
    public void postReceive(ReceiveRequest request) throws RdmaException {
        receives.post(request);
    }

    /**
     * Posts consecutive requests of a block with one native call ({@code ibv_post_srq_recv}, ibv_post_srq_recv(3)).
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
    @CFunction("ibv_post_srq_recv")
    public void postReceive(ReceiveRequests block, int first, int count) throws RdmaException {
        receives.post(block, first, count);
    }

    /**
     * Posts operations on the tag matching list with one native call ({@code ibv_post_srq_ops}, ibv_post_srq_ops(3)).
     * The handles of added tags can be read when this method returns.
     *
     * @param block the block; its operations can be changed and posted again as soon as this method returns
     * @param first the index of the first operation to post
     * @param count the number of operations to post, at least 1
     * @throws IndexOutOfBoundsException if the block does not contain the operations
     * @throws IllegalArgumentException if one deletes a handle that none of this queue can have; nothing has been
     *        posted
     * @throws WorkRequestException for the first operation that was refused, with the errno of the driver; the
     *        operations before it have been posted
     * @throws RdmaUnsupportedException if the device does not support tag matching
     * @throws RdmaException always one of these two
     */
    @CFunction("ibv_post_srq_ops")
    public void postOperations(TagOperations block, int first, int count) throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            SendQueue.requireRange(first, count, block.capacity());
            NativeFunction post = ExtendedOps.POST_SRQ_OPS.require(domain.context().address());
            long refused = arena.allocate(Long.BYTES, Long.BYTES).address();
            block.prepare(first, count, init.maxTags());
            int error = post.callInt(address(), block.get(first).address(), refused);
            if (error == Rdma.EOPNOTSUPP() || error == Rdma.ENOSYS()) {
                throw Failures.of(post.name(), error);
            }
            if (error != 0) {
                throw SendQueue.refused(post.name(), error, block.refused(refused, first, count), life());
            }
        } finally {
            life().leave();
            Reference.reachabilityFence(block);
        }
    }

    /** @hidden */
    @Override
    protected void requireClosable() {
        // C forgets the queue, which a cursor over the completions may be looking at
        init.completionQueue().ifPresent(CompletionQueue::requireNoCursorOfThisThread);
    }

    /** @hidden */
    @Override
    @CFunction({"ibv_destroy_srq", "rdma_destroy_srq"})
    protected void destroy() throws RdmaException {
        Lifetime.Destroyer remover = () -> domain.context().events().destroy(this, super::destroy);
        receives.closeAndDestroy(() -> CompletionQueue.removeCompletions(remover, init.completionQueue().orElse(null)));
    }
}
