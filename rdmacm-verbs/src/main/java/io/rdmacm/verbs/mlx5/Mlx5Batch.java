// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs.mlx5;

import java.lang.ref.Reference;
import java.util.Objects;
import java.util.Set;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.AddressHandle;
import io.rdmacm.verbs.MemoryRegion;
import io.rdmacm.verbs.SendBatch;
import io.rdmacm.verbs.internal.access.VerbsAccess;
import io.rdmacm.verbs.internal.ffi.Arguments;
import io.rdmacm.verbs.internal.life.Bias;
import io.rdmacm.verbs.work.AccessFlag;

/**
 * A batch of send work requests that also has the operations of mlx5 (mlx5dv_wr_post(3)). Ids and flags hold for both.
 *
 * <p>The methods that register, configure, copy or post a raw entry start a request and end it: it takes neither data
 * nor a destination. They throw {@link IllegalStateException} if the batch is closed, the queue pair was created
 * without the operation, or the previous request lacks its destination. What libmlx5 objects to, it reports only by
 * {@link #complete()}.
 *
 * <p>A batch may be used by one thread at a time.
 */
public final class Mlx5Batch extends SendBatch {
    private static final VerbsAccess VERBS = VerbsAccess.get();
    private static final int NUMBER_BITS = 24;
    private static final int INLINE = Rdma.IBV_SEND_INLINE();

    private final Mlx5QueuePair pair;
    private final Mlx5BatchOps ops;

    Mlx5Batch(Mlx5QueuePair pair, long verbs, long extended) {
        super(pair, verbs);
        this.pair = pair;
        this.ops = new Mlx5BatchOps(extended);
    }

    /**
     * Gives the request that was started last its destination; required for each request of an initiator
     * ({@code mlx5dv_wr_set_dc_addr}).
     *
     * @param handle the address of the target's port, of the protection domain of the queue pair
     * @param number the number of the target, 24 bits
     * @param key the key that the target was created with
     * @return this batch
     * @throws IllegalArgumentException if the number does not fit into 24 bits, or the handle belongs to another
     *         protection domain
     * @throws IllegalStateException if the queue pair is no initiator, the handle is closed, or the request needs no
     *         destination or has it already
     */
    @CFunction("mlx5dv_wr_set_dc_addr")
    public Mlx5Batch dct(AddressHandle handle, int number, long key) {
        Arguments.requireBits("number of the target", number, NUMBER_BITS);
        Bias bias = enterQueue();
        try {
            driverTarget(handle);
            ops.setDcAddr(VERBS.addressOf(handle), number, key);
        } finally {
            leaveQueue(bias);
        }
        return this;
    }

    /**
     * Like {@link #dct(AddressHandle, int, long)}, in a stream ({@code mlx5dv_wr_set_dc_addr_stream}).
     *
     * @param handle the address of the target's port, of the protection domain of the queue pair
     * @param number the number of the target, 24 bits
     * @param key the key that the target was created with
     * @param stream the number of the stream, from 1
     * @return this batch
     * @throws IllegalArgumentException as for {@link #dct(AddressHandle, int, long)}, or if there is no such stream
     * @throws IllegalStateException as for {@link #dct(AddressHandle, int, long)}
     */
    @CFunction("mlx5dv_wr_set_dc_addr_stream")
    public Mlx5Batch dct(AddressHandle handle, int number, long key, int stream) {
        Arguments.requireBits("number of the target", number, NUMBER_BITS);
        pair.requireStream(stream);
        Bias bias = enterQueue();
        try {
            driverTarget(handle);
            ops.setDcAddrStream(VERBS.addressOf(handle), number, key, stream);
        } finally {
            leaveQueue(bias);
        }
        return this;
    }

    /**
     * Gives the request that was started last memory under a key as its data ({@code ibv_wr_set_sge}).
     *
     * @param key the key
     * @param offset the offset in the memory that the key refers to, in bytes
     * @param length the length in bytes, less than 2 GiB
     * @return this batch
     * @throws IllegalArgumentException if a number is negative, or the key belongs to another protection domain
     * @throws IllegalStateException if the request takes no data, or has it already
     */
    @CFunction("ibv_wr_set_sge")
    public Mlx5Batch data(Mkey key, long offset, long length) {
        requireDomain(key);
        if (offset < 0 || length < 0) {
            throw new IllegalArgumentException("neither the offset nor the length can be negative: " + offset + ", "
                    + length);
        }
        driverData(key.localKey(), offset, length);
        return this;
    }

    /**
     * Makes a key refer to interleaved memory ({@code mlx5dv_wr_mr_interleaved}).
     *
     * @param key the key, of the protection domain of the queue pair
     * @param layout the memory
     * @param access what the key allows: any of LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ and REMOTE_ATOMIC
     * @return this batch
     * @throws IllegalArgumentException if the key has too few entries, or belongs to another protection domain, or
     *         cannot allow something
     * @throws IllegalStateException see above, or if the key or a region is closed
     */
    @CFunction("mlx5dv_wr_mr_interleaved")
    public Mlx5Batch register(Mkey key, InterleavedLayout layout, Set<AccessFlag> access) {
        return register(Mlx5SendOperation.MR_INTERLEAVED, key, layout, access);
    }

    /**
     * Makes a key refer to a list of memory ranges ({@code mlx5dv_wr_mr_list}).
     *
     * @param key the key, of the protection domain of the queue pair
     * @param layout the memory
     * @param access what the key allows: any of LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ and REMOTE_ATOMIC
     * @return this batch
     * @throws IllegalArgumentException as for {@link #register(Mkey, InterleavedLayout, Set)}
     * @throws IllegalStateException as for {@link #register(Mkey, InterleavedLayout, Set)}
     */
    @CFunction("mlx5dv_wr_mr_list")
    public Mlx5Batch register(Mkey key, ListLayout layout, Set<AccessFlag> access) {
        return register(Mlx5SendOperation.MR_LIST, key, layout, access);
    }

    private Mlx5Batch register(Mlx5SendOperation operation, Mkey key, MkeyLayout layout, Set<AccessFlag> access) {
        require(operation);
        requireDomain(key);
        layout.requireUsable(key);
        int bits = MkeyConfiguration.bits(access);
        VERBS.lifeOf(key).enter();
        try {
            Bias bias = enterQueue();
            try {
                driverRequest(INLINE);
                layout.register(ops, VERBS.addressOf(key), bits);
            } finally {
                leaveQueue(bias);
            }
        } finally {
            VERBS.lifeOf(key).leave();
            Reference.reachabilityFence(layout);
        }
        return this;
    }

    /**
     * Configures a key: what it allows, what it refers to, and how that is signed and encrypted
     * ({@code mlx5dv_wr_mkey_configure} and the setters). Signatures take up to two further entries of the queue.
     *
     * @param key the key, of the protection domain of the queue pair
     * @param configuration what the key is to become
     * @return this batch
     * @throws IllegalArgumentException if the key has too few entries, belongs to another protection domain than the
     *         queue pair or the encryption's, or was created without the flag for signatures or encryption
     * @throws IllegalStateException see above, or if the key or a region is closed
     */
    @CFunction({"mlx5dv_wr_mkey_configure", "mlx5dv_wr_set_mkey_access_flags", "mlx5dv_wr_set_mkey_layout_list",
            "mlx5dv_wr_set_mkey_layout_interleaved", "mlx5dv_wr_set_mkey_sig_block", "mlx5dv_wr_set_mkey_crypto"})
    public Mlx5Batch configure(Mkey key, MkeyConfiguration configuration) {
        require(Mlx5SendOperation.MKEY_CONFIGURE);
        requireDomain(key);
        configuration.requireUsable(key);
        VERBS.lifeOf(key).enter();
        try {
            Bias bias = enterQueue();
            try {
                driverRequest(INLINE);
                configuration.set(ops, VERBS.addressOf(key));
            } finally {
                leaveQueue(bias);
            }
        } finally {
            VERBS.lifeOf(key).leave();
            Reference.reachabilityFence(configuration);
        }
        return this;
    }

    /**
     * Posts an entry that the program has formed ({@code mlx5dv_wr_raw_wqe}). libmlx5 sets its index and signature, and
     * nothing else: the flags of the batch do not apply. A queue that is full makes {@link #complete()} fail.
     *
     * @param entry the entry
     * @return this batch
     * @throws IllegalArgumentException if the entry is larger than the requests that the queue was created for
     * @throws IllegalStateException see above
     */
    @CFunction("mlx5dv_wr_raw_wqe")
    public Mlx5Batch raw(Wqe entry) {
        require(Mlx5SendOperation.RAW_WQE);
        if (entry.bytes() > pair.maxWqeBytes()) {
            throw new IllegalArgumentException("the entry has " + entry.bytes() + " bytes, requests of this queue at"
                    + " most " + pair.maxWqeBytes() + ": create it for more scatter/gather entries or inline data");
        }
        Bias bias = enterQueue();
        try {
            driverRequest(0);
            ops.raw(entry.address());
        } finally {
            leaveQueue(bias);
            Reference.reachabilityFence(entry);
        }
        return this;
    }

    /**
     * Copies memory within this machine ({@code mlx5dv_wr_memcpy}).
     *
     * @param to the region to copy to
     * @param toOffset the offset in it, in bytes
     * @param from the region to copy from
     * @param fromOffset the offset in it, in bytes
     * @param length the length in bytes, from 1 to {@link Mlx5DeviceAttributes#maxCopyLength()}
     * @return this batch
     * @throws IllegalArgumentException if the length is less than 1, or a region belongs to another protection domain
     * @throws IndexOutOfBoundsException if a range is not within its region
     * @throws IllegalStateException see above, or if a region is closed
     */
    @CFunction("mlx5dv_wr_memcpy")
    public Mlx5Batch copy(MemoryRegion to, long toOffset, MemoryRegion from, long fromOffset, long length) {
        require(Mlx5SendOperation.MEMCPY);
        if (length < 1) {
            throw new IllegalArgumentException("at least 1 byte is copied, not " + length);
        }
        requireDomain(to);
        requireDomain(from);
        long target = MkeyLayout.addressOf(to, toOffset, length);
        long source = MkeyLayout.addressOf(from, fromOffset, length);
        Bias bias = enterQueue();
        try {
            driverRequest(0);
            ops.copy(to.localKey(), target, from.localKey(), source, length);
        } finally {
            leaveQueue(bias);
        }
        return this;
    }

    private void require(Mlx5SendOperation operation) {
        if (!pair.attributes().operations().contains(operation)) {
            throw new IllegalStateException("the queue pair was created without " + operation);
        }
    }

    private void requireDomain(Mkey key) {
        requireDomain(key, key.protectionDomain());
    }

    private void requireDomain(MemoryRegion region) {
        requireDomain(region, region.protectionDomain());
    }

    private void requireDomain(Object what, Object domain) {
        if (!Objects.equals(domain, pair.protectionDomain())) {
            throw new IllegalArgumentException(what + " belongs to another protection domain than the queue pair");
        }
    }
}
