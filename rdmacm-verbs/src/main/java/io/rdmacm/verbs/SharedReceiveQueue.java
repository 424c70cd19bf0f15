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
 * A queue of receives that several queue pairs share ({@code struct ibv_srq}, ibv_create_srq(3)).
 *
 * <p>Posting makes one native call, copies nothing and allocates nothing. All methods may be called from any thread,
 * and {@link #close()} at any time. The queue is made for one thread that posts to it: when several do, each post takes
 * a lock.
 */
public final class SharedReceiveQueue extends NativeObject {
    private static final NativeFunction CREATE_SRQ = NativeFunction.of("ibv_create_srq");
    private static final NativeFunction MODIFY_SRQ = NativeFunction.of("ibv_modify_srq");
    private static final NativeFunction QUERY_SRQ = NativeFunction.of("ibv_query_srq");
    private static final NativeFunction DESTROY_SRQ = NativeFunction.of("ibv_destroy_srq");

    private final ProtectionDomain domain;
    private final SharedReceiveQueueInitAttributes init;
    private final Lifetime.Destroyer destroyer;
    private final ReceiveQueue receives;

    private SharedReceiveQueue(ProtectionDomain domain, SharedReceiveQueueInitAttributes init, Lifetime life,
            long address, int maxScatterGather, Lifetime.Destroyer destroyer) {
        super(life, address, ibv_srq.sizeof());
        this.domain = domain;
        this.init = init;
        this.destroyer = destroyer;
        this.receives = new ReceiveQueue("SharedReceiveQueue", "shared receive queue",
                ContextOps.POST_SRQ_RECV.name(),
                ContextOps.POST_SRQ_RECV.call(address, domain.context().postsInUserSpace()), address, maxScatterGather,
                life);
        // without the attributes, which lead to a completion queue that could not be found lost
        String text = init.type() + " at 0x" + Long.toHexString(address);
        life.describe(() -> text);
    }

    /** A queue that is made and destroyed in a way of its own, see {@link VerbsAccess}. */
    static SharedReceiveQueue create(ProtectionDomain domain, SharedReceiveQueueInitAttributes init,
            VerbsAccess.QueueCreator creator, Lifetime.Destroyer destroyer, Lifetime... owners)
            throws RdmaException {
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
        Lifetime life = Lifetime.begin(SharedReceiveQueue.class, parents);
        try (Arena arena = Arena.ofConfined()) {
            long struct = write(domain, init, arena);
            long address = life.create(() -> {
                try {
                    return creator.create(struct);
                } catch (RdmaException e) {
                    throw DeviceLimits.explain(e, domain.context(), init.attributes());
                }
            });
            // what the device gave: the struct begins as the plain ibv_srq_init_attr does
            SharedReceiveQueueAttributes given = SharedReceiveQueueStructs.read(
                    struct + ibv_srq_init_attr.attr$offset());
            SharedReceiveQueue queue = new SharedReceiveQueue(domain, init, life, address, given.maxScatterGather(),
                    destroyer);
            domain.context().events().add(queue);
            return queue;
        }
    }

    static SharedReceiveQueue create(ProtectionDomain domain, SharedReceiveQueueInitAttributes init)
            throws RdmaException {
        boolean complete = init.type() == SharedReceiveQueueType.BASIC || init.completionQueue().isPresent();
        if (!complete || init.type() == SharedReceiveQueueType.XRC && init.xrcDomain().isEmpty()) {
            throw new IllegalArgumentException("a shared receive queue of type " + init.type()
                    + " needs a completion queue" + (complete ? " and an XRC domain" : ""));
        }
        long[] address = new long[1];
        return create(domain, init, struct -> {
            address[0] = createNative(domain, init, struct);
            return address[0];
        }, () -> Check.returned(DESTROY_SRQ, DESTROY_SRQ.callInt(address[0])));
    }

    /** As the inline function ibv_create_srq_ex does: a basic one needs no driver that knows the others. */
    private static long createNative(ProtectionDomain domain, SharedReceiveQueueInitAttributes init, long struct)
            throws RdmaException {
        String detail = init.attributes().toString();
        if (init.type() == SharedReceiveQueueType.BASIC) {
            return Check.pointer(CREATE_SRQ, CREATE_SRQ.callLong(domain.address(), struct), detail);
        }
        long context = domain.context().address();
        NativeFunction create = ExtendedOps.CREATE_SRQ_EX.require(context);
        return Check.pointer(create, create.callLong(context, struct), detail);
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

    /** The device that it belongs to. */
    public VerbsContext context() {
        life().ensureOpen();
        return domain.context();
    }

    /** The protection domain that it belongs to. */
    public ProtectionDomain protectionDomain() {
        life().ensureOpen();
        return domain;
    }

    /** What kind it is. */
    public SharedReceiveQueueType type() {
        life().ensureOpen();
        return init.type();
    }

    /** Where its finished work is reported, when it is of a type that has a completion queue of its own. */
    public Optional<CompletionQueue> completionQueue() {
        life().ensureOpen();
        return init.completionQueue();
    }

    /**
     * Its sizes and its limit now ({@code ibv_query_srq}).
     *
     * @throws RdmaException when the device failed
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
     * Asks for the async event SRQ_LIMIT_REACHED, once, when fewer receives than this are left
     * ({@code ibv_modify_srq}).
     *
     * @param receives 0 for no event any more
     * @throws IllegalArgumentException when it is negative
     * @throws RdmaException EINVAL when it is more than the queue holds
     */
    @CFunction("ibv_modify_srq")
    public void setLimit(int receives) throws RdmaException {
        modify(new SharedReceiveQueueAttributes(0, 0, receives), Rdma.IBV_SRQ_LIMIT());
    }

    /**
     * Changes how many receives it can hold ({@code ibv_modify_srq}). Not all devices can.
     *
     * @param maxRequests at least the number that is outstanding; the device may give more
     * @throws IllegalArgumentException when it is less than 1
     * @throws RdmaException EINVAL when the device has none so large, or more are outstanding; ENOMEM
     * @throws RdmaUnsupportedException when the device cannot resize
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
     * The number by which peers on extended reliable connections name it ({@code ibv_get_srq_num}).
     *
     * @throws RdmaException EINVAL when it is not of type {@code XRC}
     * @throws RdmaUnsupportedException when the device has no extended reliable connections
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
     * Posts one receive work request ({@code ibv_post_srq_recv}).
     *
     * @param request may be changed when this returns
     * @throws IllegalArgumentException when it has more scatter/gather entries than the queue takes
     * @throws WorkRequestException ENOMEM when the queue is full; EINVAL when the request is wrong
     */
    @CFunction("ibv_post_srq_recv")
    public void postReceive(ReceiveRequest request) throws RdmaException {
        receives.post(request);
    }

    /**
     * Posts a part of a block with one native call ({@code ibv_post_srq_recv}).
     *
     * @param block whose requests may be changed when this returns
     * @param first the index of the first request
     * @param count how many, at least 1
     * @throws IllegalArgumentException when one has more scatter/gather entries than the queue takes; then nothing was
     *         posted
     * @throws WorkRequestException for the first request that was refused: those before it were posted
     */
    @CFunction("ibv_post_srq_recv")
    public void postReceive(ReceiveRequests block, int first, int count) throws RdmaException {
        receives.post(block, first, count);
    }

    /**
     * Changes the list of tagged buffers, with one native call ({@code ibv_post_srq_ops}). The handles of tags that
     * were added can be read when this returns.
     *
     * @param block whose operations may be changed when this returns
     * @param first the index of the first operation
     * @param count how many, at least 1
     * @throws WorkRequestException for the first operation that was refused: those before it were posted
     * @throws RdmaUnsupportedException when the device has no tag matching
     */
    @CFunction("ibv_post_srq_ops")
    public void postOperations(TagOperations block, int first, int count) throws RdmaException {
        life().enter();
        try (Arena arena = Arena.ofConfined()) {
            SendQueue.requireRange(first, count, block.capacity());
            NativeFunction post = ExtendedOps.POST_SRQ_OPS.require(domain.context().address());
            long refused = arena.allocate(Long.BYTES, Long.BYTES).address();
            block.chain(first, count);
            // a library without tag matching leaves it as it is
            Memory.putLong(refused, block.get(first).address());
            int error = post.callInt(address(), block.get(first).address(), refused);
            if (error == Rdma.EOPNOTSUPP() || error == Rdma.ENOSYS()) {
                throw Failures.of(post.name(), error);
            }
            if (error != 0) {
                throw SendQueue.refused(post.name(), error, block.indexOf(Memory.getLong(refused)), life());
            }
        } finally {
            life().leave();
            Reference.reachabilityFence(block);
        }
    }

    @Override
    @CFunction({"ibv_destroy_srq", "rdma_destroy_srq"})
    protected void destroy() throws RdmaException {
        receives.closeAndDestroy(() -> domain.context().events().destroy(this, destroyer));
    }
}
