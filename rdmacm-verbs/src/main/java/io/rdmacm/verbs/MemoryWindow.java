// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.util.List;

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
import io.rdmacm.verbs.work.RemoteMemory;
import org.jspecify.annotations.Nullable;

/**
 * A memory window: gives a peer access to a part of a memory region ({@code struct ibv_mw}, ibv_alloc_mw(3)). Windows
 * are bound and unbound by work requests, which is faster than registering memory. The remote key changes with each
 * binding.
 *
 * <p>The region that the window was last bound to cannot be closed until the window is closed, bound to another region,
 * or {@linkplain #unbind unbound}. This holds even after the window has been invalidated, which this object does not
 * notice.
 *
 * <p>All methods are thread-safe.
 */
public final class MemoryWindow extends NativeObject {
    private static final int KEY_MASK = 0xff;

    private final ProtectionDomain domain;
    private final MemoryWindowType type;
    // guarded by this
    private @Nullable MemoryWindowBinding binding;
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
        long device = domain.context().address();
        return Lifetime.make(MemoryWindow.class, List.of(domain.life()), arena -> {
            NativeFunction function = function(ContextOps.ALLOC_MW, device);
            return Check.pointer(function, type.toString(), function.callLong(domain.address(), type.value()));
        }, address -> function(ContextOps.DEALLOC_MW, device).free(address),
                (life, address) -> new MemoryWindow(domain, type, life, address));
    }

    /** The binding before a new one was attempted. */
    record State(@Nullable MemoryWindowBinding binding, int remoteKey) {
    }

    /**
     * Returns the key to bind a window of type 2 with next: the given key with its low 8 bits incremented
     * ({@code ibv_inc_rkey}, ibv_inc_rkey(3)).
     *
     * @param key the current remote key of the window
     * @return the next key
     */
    @CFunction("ibv_inc_rkey")
    public static int incrementKey(int key) {
        return (key & ~KEY_MASK) | (key + 1 & KEY_MASK);
    }

    /** {@return how the window is bound} */
    public MemoryWindowType type() {
        life().ensureOpen();
        return type;
    }

    /** {@return the protection domain that the window belongs to} */
    public ProtectionDomain protectionDomain() {
        life().ensureOpen();
        return domain;
    }

    /**
     * {@return the key for work requests of a peer ({@code rkey}), an unsigned number} It is that of the binding that
     * was posted last. If that work request completes with an error, the previous key remains valid.
     */
    public synchronized int remoteKey() {
        life().ensureOpen();
        return remoteKey;
    }

    /**
     * {@return what a peer needs to access the window: address, remote key and length of the binding that was posted
     * last, to be sent to the peer}
     *
     * @throws IllegalStateException if the window is not bound
     */
    public synchronized RemoteMemory remoteMemory() {
        life().ensureOpen();
        MemoryWindowBinding bound = requireBound();
        return new RemoteMemory(bound.remoteAddress(), remoteKey, bound.length());
    }

    private MemoryWindowBinding requireBound() {
        if (binding == null) {
            throw new IllegalStateException(this + " is not bound");
        }
        return binding;
    }

    /**
     * Binds a window of type 1 ({@code ibv_bind_mw}, ibv_bind_mw(3)): posts a signaled work request. The remote key may
     * be passed to the peer once that has completed, or before that in a send on the same queue pair.
     *
     * @param pair a connected queue pair (RC, UC or XRC_SEND) of the same protection domain
     * @param workRequestId the id that its completion reports
     * @param binding the part of a region of the same protection domain
     * @throws IllegalArgumentException if the window is of type 2, or the queue pair or the region is of another
     *         protection domain
     * @throws IndexOutOfBoundsException if the region was reregistered and the binding no longer fits into it
     * @throws WorkRequestException ENOMEM if the send queue is full; EINVAL if the device cannot make this binding
     * @throws RdmaException if the driver cannot bind windows of type 1
     */
    @CFunction("ibv_bind_mw")
    public void bind(QueuePair pair, long workRequestId, MemoryWindowBinding binding) throws RdmaException {
        bind(pair, workRequestId, binding, true, false);
    }

    /**
     * Binds a window of type 1 as {@link #bind(QueuePair, long, MemoryWindowBinding)} does, with the given flags of the
     * work request.
     *
     * @param pair a connected queue pair (RC, UC or XRC_SEND) of the same protection domain
     * @param workRequestId the id that its completion reports
     * @param binding the part of a region of the same protection domain
     * @param signaled whether success raises a completion; an error always does
     * @param fence whether to wait for the RDMA reads and atomics posted before it
     * @throws IllegalArgumentException if the window is of type 2, or the queue pair or the region is of another
     *         protection domain
     * @throws IndexOutOfBoundsException if the region was reregistered and the binding no longer fits into it
     * @throws WorkRequestException ENOMEM if the send queue is full; EINVAL if the device cannot make this binding
     * @throws RdmaException if the driver cannot bind windows of type 1
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
     * Unbinds a window of type 1, which ends the peer's access ({@code ibv_bind_mw} with length 0, ibv_alloc_mw(3)):
     * posts a signaled work request.
     *
     * @param pair a connected queue pair (RC, UC or XRC_SEND) of the same protection domain
     * @param workRequestId the id that its completion reports
     * @throws IllegalArgumentException if the window is of type 2, or the queue pair is of another protection domain
     * @throws IllegalStateException if the window is not bound
     * @throws WorkRequestException ENOMEM if the send queue is full
     * @throws RdmaException if the driver cannot bind windows of type 1
     */
    @CFunction("ibv_bind_mw")
    public void unbind(QueuePair pair, long workRequestId) throws RdmaException {
        life().ensureOpen();
        post(pair, workRequestId, Rdma.IBV_SEND_SIGNALED(), null);
    }

    private void post(QueuePair pair, long id, int flags, @Nullable MemoryWindowBinding binding) throws RdmaException {
        if (type != MemoryWindowType.TYPE_1) {
            throw new IllegalArgumentException("a memory window of type 2 is bound by a work request, see"
                    + " SendRequest.bindMemoryWindow");
        }
        checkDomain(pair.protectionDomain());
        NativeFunction function;
        BiasedLock lock = pair.sends();
        Bias bias = lock.enter();
        int error;
        // While the lock is held, neither queue pair, window nor region can be destroyed: their close waits for posts.
        try (Arena arena = Arena.ofConfined()) {
            life().ensureOpen();
            pair.sends().requireNoBatch();
            function = function(ContextOps.BIND_MW, domain.context().address());
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

    private synchronized int post(NativeFunction function, QueuePair pair, long bind,
            @Nullable MemoryWindowBinding next)
            throws RdmaException {
        long info = bind + ibv_mw_bind.bind_info$offset();
        if (next != null) {
            // first, because it throws if the region has been reregistered and the binding no longer fits
            next.write(info);
            State before = begin(next, remoteKey);
            int error = function.callInt(pair.address(), address(), bind);
            end(before, next, error == 0);
            readKey();
            return error;
        }
        MemoryRegion region = requireBound().region();
        MemoryWindowBinding.writeNothing(info, region);
        int error = function.callInt(pair.address(), address(), bind);
        if (error == 0) {
            life().removeParent(region.life());
            binding = null;
            readKey();
        }
        return error;
    }

    private void readKey() {
        remoteKey = Memory.getInt(address() + ibv_mw.rkey$offset());
    }

    /** Rejects a queue pair of another domain. */
    void checkDomain(ProtectionDomain sender) {
        life().ensureOpen();
        if (!domain.sharesPosts(sender)) {
            throw new IllegalArgumentException("the memory window belongs to another protection domain than the queue"
                    + " pair: " + domain + ", " + sender);
        }
    }

    /**
     * Records a binding that is about to be posted; from here on the region cannot be closed. {@link #end} must follow.
     *
     * @throws IllegalStateException if the region is closed
     */
    synchronized State begin(MemoryWindowBinding target, int key) {
        life().addParent(target.region().life());
        State before = new State(binding, remoteKey);
        binding = target;
        remoteKey = key;
        return before;
    }

    /** Keeps the new binding if it was posted, and goes back to the one before otherwise. */
    synchronized void end(State before, MemoryWindowBinding target, boolean posted) {
        if (!posted) {
            life().removeParent(target.region().life());
            binding = before.binding;
            remoteKey = before.remoteKey;
        } else if (before.binding != null) {
            life().removeParent(before.binding.region().life());
        }
    }

    /** @hidden */
    @Override
    @CFunction("ibv_dealloc_mw")
    protected void destroy() throws RdmaException {
        // A post reads the struct, so posts in progress must return before it is freed. Later posts see that the window
        // is closed.
        domain.posts().await();
        super.destroy();
    }

    private static NativeFunction function(ContextOps op, long device) throws RdmaException {
        long pointer = op.of(device);
        if (pointer == 0) {
            throw Failures.of(op.name(), Rdma.EOPNOTSUPP());
        }
        return NativeFunction.at(op.name(), pointer);
    }
}
