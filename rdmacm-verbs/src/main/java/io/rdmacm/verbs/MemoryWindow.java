// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_mw;
import io.rdmacm.bindings.ibv_mw_bind;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.WorkRequestException;
import io.rdmacm.verbs.internal.driver.ContextOps;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Failures;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Bias;
import io.rdmacm.verbs.internal.life.BiasedLock;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.work.MemoryWindowType;

/**
 * A window through which a peer sees a part of a memory region ({@code struct ibv_mw}, ibv_alloc_mw(3)): it is bound
 * and unbound by work requests, which is faster than registering memory. Its key changes with each binding.
 *
 * <p>The region that it was bound to last cannot be closed before the window is closed, bound to another one, or
 * {@link #unbind unbound}: after an invalidation too, which this object does not see.
 *
 * <p>All methods are safe for use by several threads.
 */
public final class MemoryWindow extends NativeObject {
    private static final int KEY_MASK = 0xff;

    private final ProtectionDomain domain;
    private final MemoryWindowType type;
    // guarded by this
    private MemoryRegion region;
    private int remoteKey;

    private MemoryWindow(ProtectionDomain domain, MemoryWindowType type, Lifetime life, long address) {
        super(life, address, ibv_mw.sizeof());
        this.domain = domain;
        this.type = type;
        this.remoteKey = Memory.getInt(address + ibv_mw.rkey$offset());
        String text = type + " at 0x" + Long.toHexString(address);
        life.describe(() -> text);
    }

    static MemoryWindow allocate(ProtectionDomain domain, MemoryWindowType type) throws RdmaException {
        Lifetime life = Lifetime.begin(MemoryWindow.class, domain.life());
        long address = life.create(() -> {
            NativeFunction function = function(ContextOps.ALLOC_MW, domain);
            return Check.pointer(function, function.callLong(domain.address(), type.value()), type.toString());
        });
        return new MemoryWindow(domain, type, life, address);
    }

    /** What a binding was before a new one was tried. */
    record State(MemoryRegion region, int remoteKey) {
    }

    /**
     * The key that follows another one when a window of type 2 is bound anew: its low 8 bits count
     * ({@code ibv_inc_rkey}).
     */
    @CFunction("ibv_inc_rkey")
    public static int incrementKey(int key) {
        return (key & ~KEY_MASK) | (key + 1 & KEY_MASK);
    }

    /** How it is bound. */
    public MemoryWindowType type() {
        life().ensureOpen();
        return type;
    }

    /** The protection domain that it belongs to. */
    public ProtectionDomain protectionDomain() {
        life().ensureOpen();
        return domain;
    }

    /**
     * The key for work requests of a peer ({@code rkey}), of the binding that was posted last; an unsigned number. When
     * that completes with an error, the key before it holds.
     */
    public synchronized int remoteKey() {
        life().ensureOpen();
        return remoteKey;
    }

    /**
     * Binds a window of type 1 ({@code ibv_bind_mw}): posts a signaled work request, which must complete before the
     * peer may use the window.
     *
     * @param pair a connected one of the same protection domain
     * @param workRequestId the id that comes back with the completion
     * @param binding to a region of the same protection domain
     * @throws IllegalArgumentException when the window is of type 2, or a protection domain is another one
     * @throws WorkRequestException ENOMEM when the send queue is full; EINVAL when the device cannot bind so
     */
    @CFunction("ibv_bind_mw")
    public void bind(QueuePair pair, long workRequestId, MemoryWindowBinding binding) throws RdmaException {
        bind(pair, workRequestId, binding, true, false);
    }

    /**
     * As {@link #bind(QueuePair, long, MemoryWindowBinding)}, with the flags of the work request.
     *
     * @param pair a connected one of the same protection domain
     * @param workRequestId the id that comes back with the completion
     * @param binding to a region of the same protection domain
     * @param signaled whether a completion comes when it is done; it always comes for an error
     * @param fence whether it begins only when the reads and atomics before it are done
     */
    @CFunction("ibv_bind_mw")
    public void bind(QueuePair pair, long workRequestId, MemoryWindowBinding binding, boolean signaled, boolean fence)
            throws RdmaException {
        life().ensureOpen();
        binding.check(domain);
        post(pair, workRequestId, (signaled ? Rdma.IBV_SEND_SIGNALED() : 0) | (fence ? Rdma.IBV_SEND_FENCE() : 0),
                binding);
    }

    /**
     * Takes a window of type 1 away from the peer again ({@code ibv_bind_mw} with the length 0): posts a signaled work
     * request.
     *
     * @param pair a connected one of the same protection domain
     * @param workRequestId the id that comes back with the completion
     * @throws IllegalStateException when it is not bound
     */
    @CFunction("ibv_bind_mw")
    public void unbind(QueuePair pair, long workRequestId) throws RdmaException {
        life().ensureOpen();
        post(pair, workRequestId, Rdma.IBV_SEND_SIGNALED(), null);
    }

    private void post(QueuePair pair, long id, int flags, MemoryWindowBinding binding) throws RdmaException {
        if (type != MemoryWindowType.TYPE_1) {
            throw new IllegalArgumentException("a memory window of type 2 is bound by a work request:"
                    + " SendRequest.bindMemoryWindow");
        }
        checkDomain(pair.protectionDomain());
        NativeFunction function = function(ContextOps.BIND_MW, domain);
        BiasedLock lock = pair.sends();
        Bias bias = lock.enter();
        int error;
        // With the lock held none of the three can be destroyed: a close of them waits for posts.
        try (Arena arena = Arena.ofConfined()) {
            life().ensureOpen();
            pair.sends().requireNoBatch();
            long bind = arena.allocate(ibv_mw_bind.layout()).address();
            Memory.putLong(bind + ibv_mw_bind.wr_id$offset(), id);
            Memory.putInt(bind + ibv_mw_bind.send_flags$offset(), flags);
            error = post(function, pair, bind, binding);
        } finally {
            lock.leave(bias);
        }
        if (error != 0) {
            throw SendQueue.refused(function.name(), error, 0, pair.life());
        }
    }

    private synchronized int post(NativeFunction function, QueuePair pair, long bind, MemoryWindowBinding binding)
            throws RdmaException {
        long info = bind + ibv_mw_bind.bind_info$offset();
        if (binding != null) {
            State before = begin(binding.region(), remoteKey);
            binding.write(info);
            int error = function.callInt(pair.address(), address(), bind);
            end(before, binding.region(), error == 0);
            readKey();
            return error;
        }
        if (region == null) {
            throw new IllegalStateException(this + " is not bound");
        }
        MemoryWindowBinding.writeNothing(info, region);
        int error = function.callInt(pair.address(), address(), bind);
        if (error == 0) {
            life().removeParent(region.life());
            region = null;
            readKey();
        }
        return error;
    }

    private void readKey() {
        remoteKey = Memory.getInt(address() + ibv_mw.rkey$offset());
    }

    /** Refuses a queue pair of another domain. */
    void checkDomain(ProtectionDomain sender) {
        life().ensureOpen();
        if (!domain.sharesPosts(sender)) {
            throw new IllegalArgumentException("the memory window belongs to another protection domain than the queue"
                    + " pair: " + domain + ", " + sender);
        }
    }

    /**
     * Before a binding is posted: the region cannot close from here on. {@link #end} must follow.
     *
     * @throws IllegalStateException when the region is closed
     */
    synchronized State begin(MemoryRegion target, int key) {
        life().addParent(target.life());
        State before = new State(region, remoteKey);
        region = target;
        remoteKey = key;
        return before;
    }

    /** After it was posted, or not. */
    synchronized void end(State before, MemoryRegion target, boolean posted) {
        if (!posted) {
            life().removeParent(target.life());
            region = before.region;
            remoteKey = before.remoteKey;
        } else if (before.region != null) {
            life().removeParent(before.region.life());
        }
    }

    @Override
    @CFunction("ibv_dealloc_mw")
    protected void destroy() throws RdmaException {
        // A post reads the struct: it must be out before that goes. Later ones see that it is closed.
        domain.awaitPosts();
        NativeFunction function = function(ContextOps.DEALLOC_MW, domain);
        Check.returned(function, function.callInt(address()));
    }

    private static NativeFunction function(ContextOps op, ProtectionDomain domain) throws RdmaException {
        long pointer = op.of(domain.context().address());
        if (pointer == 0) {
            throw Failures.of(op.name(), Rdma.EOPNOTSUPP());
        }
        return NativeFunction.at(op.name(), pointer);
    }
}
