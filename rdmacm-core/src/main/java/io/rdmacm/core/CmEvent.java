// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.Optional;
import java.util.Set;

import io.rdmacm.bindings.rdma_cm_event;
import io.rdmacm.verbs.CFunction;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.QueuePairType;
import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.internal.Check;
import io.rdmacm.verbs.internal.Lifetime;
import io.rdmacm.verbs.internal.NativeFunction;

/**
 * Something that happened to an id ({@code struct rdma_cm_event}, rdma_get_cm_event(3)). {@link #close()} acknowledges
 * it, which is due before the id that it is about can be closed.
 *
 * <p>The new id of a connect request belongs to whoever asks for it with {@link #id()}. When nobody has at the close of
 * the event, the request is rejected and the new id destroyed.
 */
public final class CmEvent extends NativeObject {
    private static final NativeFunction ACK_CM_EVENT = NativeFunction.of("rdma_ack_cm_event");
    // For the others C leaves the union as it happens to be.
    private static final Set<CmEventType> WITH_PARAMETERS = Set.of(CmEventType.CONNECT_REQUEST,
            CmEventType.CONNECT_RESPONSE, CmEventType.ESTABLISHED, CmEventType.REJECTED, CmEventType.DISCONNECTED);
    private static final Set<CmEventType> WITH_DATAGRAM_PARAMETERS = Set.of(CmEventType.CONNECT_REQUEST,
            CmEventType.ESTABLISHED);

    private final EventChannel channel;
    private final CmEventType type;
    private final int status;
    private final CmId id;
    // null but for a connect request
    private final CmId listener;
    private final ConnectionParameters connection;
    private final DatagramParameters datagram;
    private final MulticastMembership membership;
    private final RawEvent raw;
    private volatile boolean claimed;

    CmEvent(EventChannel channel, Lifetime life, RawEvent raw, CmId id) {
        super(life, raw.address(), rdma_cm_event.sizeof());
        this.channel = channel;
        this.type = raw.type();
        this.status = raw.status();
        this.id = id;
        this.listener = type == CmEventType.CONNECT_REQUEST ? raw.owner() : null;
        this.raw = raw;
        boolean datagrams = id.portSpaceUnchecked().queuePairType() == QueuePairType.UD;
        this.connection = !datagrams && WITH_PARAMETERS.contains(type)
                ? ConnectionParameters.read(raw.parameters())
                : null;
        boolean joined = type == CmEventType.MULTICAST_JOIN;
        this.datagram = joined || datagrams && WITH_DATAGRAM_PARAMETERS.contains(type)
                ? DatagramParameters.read(raw.parameters(), !joined, type != CmEventType.CONNECT_REQUEST)
                : null;
        this.membership = raw.owner().memberships().of(raw);
        String text = type + " of " + id;
        life.describe(() -> text);
    }

    /** What happened. */
    public CmEventType type() {
        life().ensureOpen();
        return type;
    }

    /**
     * The status: 0 for success; for REJECTED the reason (see {@link RejectReason}); else mostly a negative error
     * number.
     */
    public int status() {
        life().ensureOpen();
        return status;
    }

    /**
     * The id that it happened to. For CONNECT_REQUEST the new id of the connection, which is to be accepted or rejected
     * and later closed by whoever calls this.
     */
    public CmId id() {
        // either before a close, which leaves the id alone then, or not at all
        life().enter();
        try {
            claimed = true;
            return id;
        } finally {
            life().leave();
        }
    }

    /** The listening id of a CONNECT_REQUEST; empty for other events. */
    public Optional<CmId> listener() {
        life().ensureOpen();
        return Optional.ofNullable(listener);
    }

    /**
     * The parameters of a connection, as the peer gave them ({@code param.conn}).
     *
     * @throws IllegalStateException when the event has none: for datagrams, and for events other than CONNECT_REQUEST,
     *         CONNECT_RESPONSE, ESTABLISHED, REJECTED and DISCONNECTED
     */
    public ConnectionParameters connectionParameters() {
        life().ensureOpen();
        if (connection == null) {
            throw new IllegalStateException(this + " has no connection parameters");
        }
        return connection;
    }

    /**
     * How to send datagrams to the peer or group ({@code param.ud}).
     *
     * @throws IllegalStateException when the event has none: of datagram ids CONNECT_REQUEST and ESTABLISHED have them,
     *         and MULTICAST_JOIN has
     */
    public DatagramParameters datagramParameters() {
        life().ensureOpen();
        if (datagram == null) {
            throw new IllegalStateException(this + " has no datagram parameters");
        }
        return datagram;
    }

    /** The membership that a MULTICAST_JOIN or MULTICAST_ERROR is of; empty for other events. */
    public Optional<MulticastMembership> membership() {
        life().ensureOpen();
        return Optional.ofNullable(membership);
    }

    /**
     * What the peer sent along; a copy. It may be longer than what the peer gave, filled with zeros.
     *
     * @throws IllegalStateException when the event has neither connection nor datagram parameters
     */
    public byte[] privateData() {
        life().ensureOpen();
        return datagram != null ? datagram.privateData() : connectionParameters().privateData();
    }

    /** Acknowledges ({@code rdma_ack_cm_event}); a connect request that nobody claimed is rejected. */
    @Override
    public void close() throws RdmaException {
        super.close();
    }

    /**
     * The exception of an event that came instead of the one that was hoped for: the one that
     * {@link EventChannel#await} would throw. For event loops.
     *
     * @param waitedFor what was waited for; the message begins with it
     */
    public RdmaException failure(String waitedFor) {
        life().ensureOpen();
        return CmFailures.of(type, status, connection == null ? new byte[0] : connection.privateData(), waitedFor);
    }

    @Override
    @CFunction("rdma_ack_cm_event")
    protected void destroy() throws RdmaException {
        if (type == CmEventType.CONNECT_REQUEST && !claimed) {
            channel.refuse(id);
        }
        acknowledge(raw);
    }

    /** Gives the event back to C, unless that was done when it was copied. */
    static void acknowledge(RawEvent event) throws RdmaException {
        if (!event.isDetached()) {
            acknowledge(event.address());
        }
    }

    static void acknowledge(long event) throws RdmaException {
        Check.minusOne(ACK_CM_EVENT, ACK_CM_EVENT.callInt(event));
    }
}
