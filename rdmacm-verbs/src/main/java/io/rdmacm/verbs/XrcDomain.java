// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.Rdma;
import io.rdmacm.bindings.ibv_xrcd;
import io.rdmacm.bindings.ibv_xrcd_init_attr;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaUnsupportedException;
import io.rdmacm.verbs.internal.driver.ExtendedOps;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.Flags;
import io.rdmacm.verbs.internal.ffi.Memory;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.ffi.OpenFile;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.queue.XrcDomainFlag;

/**
 * An XRC (extended reliable connected) domain ({@code struct ibv_xrcd}, ibv_open_xrcd(3)). The receiving queue pairs
 * and the shared receive queues of XRC belong to it; several processes can share one. All methods are thread-safe.
 */
@CFunction("ibv_close_xrcd")
public final class XrcDomain extends NativeObject {
    private static final int NO_FILE = -1;

    private final VerbsContext context;

    private XrcDomain(VerbsContext context, Lifetime life, long address) {
        super(life, address, ibv_xrcd.sizeof());
        this.context = context;
    }

    /** Opens a domain that is private to this process. */
    static XrcDomain open(VerbsContext context) throws RdmaException {
        return open(context, NO_FILE, Set.of(XrcDomainFlag.CREAT));
    }

    /** Opens the domain of a file. The kernel keeps its own reference to the file. */
    static XrcDomain open(VerbsContext context, Path file, Set<XrcDomainFlag> flags) throws RdmaException {
        try (OpenFile opened = OpenFile.of(file)) {
            return open(context, opened.fd(), flags);
        }
    }

    private static XrcDomain open(VerbsContext context, int fd, Set<XrcDomainFlag> flags) throws RdmaException {
        return Lifetime.make(XrcDomain.class, List.of(context.life()), arena -> {
            long init = arena.allocate(ibv_xrcd_init_attr.layout()).address();
            Memory.putInt(init + ibv_xrcd_init_attr.comp_mask$offset(),
                    Rdma.IBV_XRCD_INIT_ATTR_FD() | Rdma.IBV_XRCD_INIT_ATTR_OFLAGS());
            Memory.putInt(init + ibv_xrcd_init_attr.fd$offset(), fd);
            Memory.putInt(init + ibv_xrcd_init_attr.oflags$offset(), Flags.mask(flags, XrcDomainFlag::bit));
            NativeFunction open = ExtendedOps.OPEN_XRCD.require(context.address());
            return Check.pointer(open, open.callLong(context.address(), init));
        }, ExtendedOps.CLOSE_XRCD.freer(context.address()), (life, address) -> new XrcDomain(context, life, address));
    }

    /** {@return the context that the domain was opened in} */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /**
     * Creates a queue pair of type {@code XRC_RECV}, in the RESET state ({@code ibv_create_qp_ex},
     * ibv_create_qp_ex(3)).
     *
     * @param attributes attributes of that type
     * @return the new queue pair
     * @throws IllegalArgumentException if the attributes are of another type
     * @throws RdmaUnsupportedException if the device does not support XRC
     * @throws RdmaException ENOMEM if the device has no more queue pairs
     */
    @CFunction("ibv_create_qp_ex")
    public QueuePair createQueuePair(QueuePairInitAttributes attributes) throws RdmaException {
        life().ensureOpen();
        return QueuePairFactory.create(this, attributes);
    }

    /**
     * Opens a queue pair of type {@code XRC_RECV} that was created in the same domain, possibly by another process
     * ({@code ibv_open_qp}, ibv_open_qp(3)). It is destroyed when everyone who created or opened it has closed it.
     *
     * @param number the number of the queue pair
     * @return the queue pair
     * @throws RdmaException EINVAL if the domain has no queue pair with this number
     * @throws RdmaUnsupportedException if the device does not support XRC
     */
    @CFunction("ibv_open_qp")
    public QueuePair openQueuePair(int number) throws RdmaException {
        life().ensureOpen();
        return QueuePairFactory.open(this, number);
    }
}
