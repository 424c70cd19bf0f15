// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.util.Optional;
import java.util.Set;

import io.rdmacm.bindings.CFunction;
import io.rdmacm.bindings.rdma_cm_event;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Check;
import io.rdmacm.verbs.internal.ffi.NativeFunction;
import io.rdmacm.verbs.internal.life.Lifetime;
import io.rdmacm.verbs.queue.QueuePairType;
import org.jspecify.annotations.Nullable;

/**
 * An event of an id ({@code struct rdma_cm_event}, rdma_get_cm_event(3)). {@link #close()} acknowledges it
 * ({@code rdma_ack_cm_event}); close all events of an id before the id. What an event has returned stays valid after
 * the event is closed.
 *
 * <p>A connect request comes with a new id. A program that calls {@link #id()} owns that id and must close it. If the
 * event is closed without such a call, the request is rejected and the new id is destroyed.
 */
public final class CmEvent extends NativeObject {
    private static final NativeFunction ACK_CM_EVENT = NativeFunction.of("rdma_ack_cm_event");
    private static final Set<CmEventType> WITH_DATAGRAM_PARAMETERS = Set.of(CmEventType.CONNECT_REQUEST,
            CmEventType.ESTABLISHED);

    private final EventChannel channel;
    private final CmEventType type;
    private final int status;
    private final CmId id;
    // null unless this is a connect request
    private final @Nullable CmId listener;
    private final @Nullable ConnectionParameters connection;
    private final @Nullable DatagramParameters datagram;
    // 0 unless this is a USER event
    private final long argument;
    private final @Nullable MulticastMembership membership;
    private final RawEvent raw;
    private volatile boolean claimed;

    @SuppressWarnings("NullAway") // an event is made for an owner
    CmEvent(EventChannel channel, Lifetime life, RawEvent raw, CmId id) {
        super(life, raw.address(), rdma_cm_event.sizeof());
        this.channel = channel;
        this.type = raw.type();
        this.status = raw.status();
        this.id = id;
        this.listener = type == CmEventType.CONNECT_REQUEST ? raw.owner() : null;
        this.raw = raw;
        boolean datagrams = id.portSpaceUnchecked().queuePairType() == QueuePairType.UD;
        this.connection = !datagrams && type.hasParameters()
                ? ConnectionParameters.read(raw.parameters())
                : null;
        boolean joined = type == CmEventType.MULTICAST_JOIN;
        this.datagram = joined || datagrams && WITH_DATAGRAM_PARAMETERS.contains(type)
                ? DatagramParameters.read(raw.parameters(), !joined, type != CmEventType.CONNECT_REQUEST)
                : null;
        this.argument = type == CmEventType.USER ? raw.argument() : 0;
        this.membership = raw.owner().memberships().of(raw);
        String text = type + " of " + id;
        life.describe(() -> text);
    }

    /** {@return the type of the event} */
    public CmEventType type() {
        life().ensureOpen();
        return type;
    }

    /**
     * Returns the status of the event.
     *
     * @return 0 for success; for REJECTED the number of the {@link RejectReason}; for USER what the program wrote;
     *         otherwise usually a negative errno
     */
    public int status() {
        life().ensureOpen();
        return status;
    }

    /**
     * Returns the id that the event is about.
     *
     * @return the id; for CONNECT_REQUEST the new id of the connection, which the caller must accept or reject, and
     *         close
     */
    public CmId id() {
        // enter(), so that a concurrent close either sees the claim or has already made this call fail
        life().enter();
        try {
            claimed = true;
            return id;
        } finally {
            life().leave();
        }
    }

    /** {@return the listening id of a CONNECT_REQUEST; empty for other events} */
    public Optional<CmId> listener() {
        life().ensureOpen();
        return Optional.ofNullable(listener);
    }

    /**
     * Returns the connection parameters that the peer sent ({@code param.conn}).
     *
     * @return the parameters with the peer's private data
     * @throws IllegalStateException when the event has none: only CONNECT_REQUEST, CONNECT_RESPONSE, ESTABLISHED,
     *         REJECTED and DISCONNECTED have them, and only those of ids for connections
     */
    public ConnectionParameters connectionParameters() {
        life().ensureOpen();
        if (connection == null) {
            throw new IllegalStateException(this + " has no connection parameters");
        }
        return connection;
    }

    /**
     * Returns what is needed to send datagrams to the peer or group ({@code param.ud}).
     *
     * @return the parameters with the peer's private data
     * @throws IllegalStateException when the event has none: only MULTICAST_JOIN has them, and CONNECT_REQUEST and
     *         ESTABLISHED of datagram ids
     */
    public DatagramParameters datagramParameters() {
        life().ensureOpen();
        if (datagram == null) {
            throw new IllegalStateException(this + " has no datagram parameters");
        }
        return datagram;
    }

    /**
     * Returns the argument that the program wrote with {@link CmId#writeEvent} ({@code param.arg}).
     *
     * @return the argument
     * @throws IllegalStateException when this is not a USER event
     */
    public long argument() {
        life().ensureOpen();
        if (type != CmEventType.USER) {
            throw new IllegalStateException(this + " has no argument");
        }
        return argument;
    }

    /** {@return the membership that a MULTICAST_JOIN or MULTICAST_ERROR is about; empty for other events} */
    public Optional<MulticastMembership> membership() {
        life().ensureOpen();
        return Optional.ofNullable(membership);
    }

    /**
     * Returns the private data that the peer sent.
     *
     * @return a copy, which may be padded with zeros at the end; empty when there is none
     * @throws IllegalStateException when the event has neither connection nor datagram parameters
     */
    public byte[] privateData() {
        life().ensureOpen();
        return datagram != null ? datagram.privateData() : connectionParameters().privateData();
    }

    /**
     * Acknowledges the event ({@code rdma_ack_cm_event}). Rejects a connect request if {@link #id()} was not called.
     * Has no effect when called again.
     *
     * @throws RdmaException when the id of a rejected request could not be destroyed
     */
    @Override
    public void close() throws RdmaException {
        super.close();
    }

    /**
     * Returns the exception that {@link EventChannel#await} throws for this event when it arrives in place of the
     * expected one. For event loops, which take events of any type.
     *
     * @param waitedFor what the program was waiting for; the message starts with it
     * @return a {@link RejectedException}, {@link UnreachableException}, {@link DisconnectedException} or
     *         {@link DeviceRemovedException} where one of them fits; otherwise an exception with the type and the
     *         status of this event
     */
    public RdmaException failure(String waitedFor) {
        life().ensureOpen();
        if (type == CmEventType.DISCONNECTED) {
            return id.disconnected(waitedFor);
        }
        return CmFailures.of(type, status, connection == null ? new byte[0] : connection.privateData(), waitedFor);
    }

    /** @hidden */
    @Override
    @CFunction("rdma_ack_cm_event")
    protected void destroy() throws RdmaException {
        if (type == CmEventType.CONNECT_REQUEST && !claimed && id.isOpen()) {
            channel.refuse(id);
        }
        acknowledge(raw);
    }

    /** Acknowledges an event, unless this was already done when the event was copied. */
    static void acknowledge(RawEvent event) throws RdmaException {
        if (!event.isDetached()) {
            acknowledge(event.address());
        }
    }

    static void acknowledge(long event) throws RdmaException {
        Check.minusOne(ACK_CM_EVENT, ACK_CM_EVENT.callInt(event));
    }
}
