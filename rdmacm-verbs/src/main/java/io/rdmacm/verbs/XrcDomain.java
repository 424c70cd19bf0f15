// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.verbs;

import java.lang.foreign.Arena;
import java.nio.file.Path;
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
 * A domain of extended reliable connections ({@code struct ibv_xrcd}, ibv_open_xrcd(3)): what the receiving queue pairs
 * and the shared receive queues of several processes have in common. All methods are safe for use by several threads.
 */
public final class XrcDomain extends NativeObject {
    private static final int NO_FILE = -1;

    private final VerbsContext context;

    private XrcDomain(VerbsContext context, Lifetime life, long address) {
        super(life, address, ibv_xrcd.sizeof());
        this.context = context;
    }

    /** A domain that only this process can reach. */
    static XrcDomain open(VerbsContext context) throws RdmaException {
        return open(context, NO_FILE, Set.of(XrcDomainFlag.CREAT));
    }

    /** The domain of a file: the kernel keeps the file by itself. */
    static XrcDomain open(VerbsContext context, Path file, Set<XrcDomainFlag> flags) throws RdmaException {
        try (OpenFile opened = OpenFile.of(file)) {
            return open(context, opened.fd(), flags);
        }
    }

    private static XrcDomain open(VerbsContext context, int fd, Set<XrcDomainFlag> flags) throws RdmaException {
        Lifetime life = Lifetime.begin(XrcDomain.class, context.life());
        try (Arena arena = Arena.ofConfined()) {
            long init = arena.allocate(ibv_xrcd_init_attr.layout()).address();
            Memory.putInt(init + ibv_xrcd_init_attr.comp_mask$offset(),
                    Rdma.IBV_XRCD_INIT_ATTR_FD() | Rdma.IBV_XRCD_INIT_ATTR_OFLAGS());
            Memory.putInt(init + ibv_xrcd_init_attr.fd$offset(), fd);
            Memory.putInt(init + ibv_xrcd_init_attr.oflags$offset(), Flags.mask(flags, XrcDomainFlag::bit));
            long address = life.create(() -> {
                NativeFunction open = ExtendedOps.OPEN_XRCD.require(context.address());
                return Check.pointer(open, open.callLong(context.address(), init));
            });
            return new XrcDomain(context, life, address);
        }
    }

    /** The device that it belongs to. */
    public VerbsContext context() {
        life().ensureOpen();
        return context;
    }

    /**
     * A new queue pair of type {@code XRC_RECV}, in the state RESET ({@code ibv_create_qp_ex}).
     *
     * @param attributes of that type
     * @throws RdmaUnsupportedException when the device has no such connections
     */
    @CFunction("ibv_create_qp_ex")
    public QueuePair createQueuePair(QueuePairInitAttributes attributes) throws RdmaException {
        life().ensureOpen();
        return QueuePairFactory.create(this, attributes);
    }

    /**
     * The queue pair of type {@code XRC_RECV} that another process made in the same domain ({@code ibv_open_qp}): it
     * goes when all that have it open have closed it.
     *
     * @param number of the queue pair
     * @throws RdmaException EINVAL when the domain has none of that number
     * @throws RdmaUnsupportedException when the device has no such connections
     */
    @CFunction("ibv_open_qp")
    public QueuePair openQueuePair(int number) throws RdmaException {
        life().ensureOpen();
        return QueuePairFactory.open(this, number);
    }

    @Override
    @CFunction("ibv_close_xrcd")
    protected void destroy() throws RdmaException {
        NativeFunction close = ExtendedOps.CLOSE_XRCD.require(context.address());
        Check.returned(close, close.callInt(address()));
    }
}
