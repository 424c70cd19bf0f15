// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

import io.rdmacm.bindings.rdma_addr;
import io.rdmacm.bindings.rdma_cm_id;
import io.rdmacm.bindings.rdma_route;
import io.rdmacm.verbs.CFunction;
import io.rdmacm.verbs.Ece;
import io.rdmacm.verbs.NativeObject;
import io.rdmacm.verbs.QueuePair;
import io.rdmacm.verbs.RdmaException;
import io.rdmacm.verbs.SharedReceiveQueue;
import io.rdmacm.verbs.internal.Check;
import io.rdmacm.verbs.internal.Lifetime;
import io.rdmacm.verbs.internal.NativeFunction;

/**
 * What stands behind the calls of an id: its channel, which may change, its state, which follows the events, and the
 * lock under which both are used.
 */
abstract sealed class CmIdCore extends NativeObject permits CmId {
    private static final NativeFunction DESTROY_ID = NativeFunction.of("rdma_destroy_id");

    static final long SOURCE = rdma_cm_id.route$offset() + rdma_route.addr$offset()
            + rdma_addr.src_addr$offset();
    static final long DESTINATION = rdma_cm_id.route$offset() + rdma_route.addr$offset()
            + rdma_addr.dst_addr$offset();

    static final Set<CmIdState> ANY_STATE = EnumSet.allOf(CmIdState.class);
    static final Set<CmIdState> WITH_DEVICE = EnumSet.of(CmIdState.BOUND, CmIdState.ADDRESS_RESOLVED,
            CmIdState.RESOLVING_ROUTE, CmIdState.ROUTE_RESOLVED, CmIdState.REQUESTED);

    final PortSpace portSpace;
    final CmIdQueues queues = new CmIdQueues((CmId) this);
    // Changed with the locks of both channels held.
    volatile EventChannel channel;
    // What the messages call it; kept apart so that the life does not refer to this object.
    final AtomicReference<String> label;
    // Written with the channel's lock held.
    volatile CmIdState state;
    // By the context that librdmacm gives back with their events; guarded by the channel's lock.
    final Map<Long, MulticastMembership> memberships = new HashMap<>();
    // Called with the channel's lock held when the connection has ended; null for none. Guarded by that lock.
    private Runnable endHandler;

    CmIdCore(EventChannel channel, PortSpace portSpace, Lifetime life, long address, CmIdState state) {
        super(life, address, rdma_cm_id.sizeof());
        this.channel = channel;
        this.portSpace = portSpace;
        this.state = state;
        DeviceHold.made(address);
        AtomicReference<String> text = new AtomicReference<>(portSpace + " at 0x" + Long.toHexString(address));
        this.label = text;
        life.describe(text::get);
    }

    /** Destroys the new id of a connect request that never became an object; the peer is rejected thereby. */
    static void destroyUnseen(long address) throws RdmaException {
        Check.minusOne(DESTROY_ID, DESTROY_ID.callInt(address));
    }

    /** The state follows an event that was read. With the channel's lock held. */
    void happened(CmEventType type) {
        state = state.after(type);
        relabel();
        runEndHandler();
    }

    /**
     * Has something done as soon as the event is read that ends the connection, by whatever thread, with the channel's
     * lock held; once.
     */
    void whenEnded(Runnable handler) {
        EventChannel current = lockChannel();
        try {
            endHandler = handler;
            runEndHandler();
        } finally {
            current.lock().unlock();
        }
    }

    private void runEndHandler() {
        if (endHandler != null && (state == CmIdState.DISCONNECTED || state == CmIdState.FAILED)) {
            Runnable handler = endHandler;
            endHandler = null;
            handler.run();
        }
    }

    PortSpace portSpaceUnchecked() {
        return portSpace;
    }

    Lifetime lifetime() {
        return life();
    }

    EventChannel channelUnchecked() {
        return channel;
    }

    /** With the locks of both channels held. */
    void movedTo(EventChannel target) {
        channel = target;
    }

    long nativeAddress() {
        return address();
    }

    String label() {
        return label.get();
    }

    QueuePair openQueuePair() {
        return queues.openQueuePair();
    }

    /** Null when there is none, or C has destroyed it. */
    SharedReceiveQueue sharedReceiveQueue() {
        return queues.sharedReceiveQueue();
    }

    /** The membership that a multicast event is of; null for other events. With the channel's lock held. */
    MulticastMembership membershipOf(RawEvent event) {
        return event.isMulticast() ? memberships.get(event.multicastContext()) : null;
    }

    /** With the channel's lock held. */
    void left(MulticastMembership membership) {
        memberships.remove(membership.context());
    }

    /** Runs what gives the route instead of resolving it. */
    void setPaths(Step step) throws RdmaException {
        run("infinibandPaths", EnumSet.of(CmIdState.ADDRESS_RESOLVED), () -> {
            step.run();
            state = CmIdState.RESOLVING_ROUTE;
        });
    }

    void setLocalEce(Ece ece) throws RdmaException {
        run("localEce", ANY_STATE, () -> queues.setLocalEce(ece));
    }

    /** Locks the channel that the id is on: another thread may be moving it. */
    EventChannel lockChannel() {
        while (true) {
            EventChannel current = channel;
            current.lock().lock();
            if (current == channel) {
                return current;
            }
            current.lock().unlock();
        }
    }

    @Override
    protected void wakeWaiters() {
        channel.wake();
    }

    @Override
    @CFunction("rdma_destroy_id")
    protected void destroy() throws RdmaException {
        EventChannel current = lockChannel();
        try {
            DeviceHold.beforeDestroy(this);
            boolean destroyed = false;
            try {
                // Events that were read for this id and not asked for: C would wait for them.
                current.unregister(this, address());
                Check.minusOne(DESTROY_ID, DESTROY_ID.callInt(address()));
                destroyed = true;
            } finally {
                if (!destroyed) {
                    DeviceHold.made(address());
                }
            }
        } finally {
            current.lock().unlock();
        }
    }

    /** One native call. */
    @FunctionalInterface
    interface Step {
        /** Makes it. */
        void run() throws RdmaException;
    }

    /** Runs one call of the order of calls, with nobody else changing the id and no event being read. */
    void run(String call, Set<CmIdState> legal, Step step) throws RdmaException {
        life().enter();
        try {
            EventChannel current = lockChannel();
            try {
                if (!legal.contains(state)) {
                    throw new IllegalStateException(call + " is not possible now: " + this + " is " + state
                            + ", next comes: " + state.nextStep());
                }
                step.run();
            } finally {
                current.lock().unlock();
            }
        } finally {
            life().leave();
        }
    }

    int port(NativeFunction function) throws RdmaException {
        life().enter();
        try {
            return Short.toUnsignedInt(SocketAddresses.swap((short) function.callInt(address())));
        } finally {
            life().leave();
        }
    }

    InetSocketAddress socketAddress(long offset, String which) {
        life().enter();
        try {
            InetSocketAddress address = SocketAddresses.read(address() + offset);
            if (address == null) {
                throw new IllegalStateException(this + " has no " + which + " address, next comes: "
                        + state.nextStep());
            }
            return address;
        } finally {
            life().leave();
        }
    }

    void relabel() {
        InetSocketAddress peer = SocketAddresses.read(address() + DESTINATION);
        if (peer != null) {
            label.set(portSpace + " at 0x" + Long.toHexString(address()) + ", peer " + peer.getHostString() + ":"
                    + peer.getPort());
        }
    }

    /** A time-out as C takes it. */
    static int milliseconds(Duration timeout) {
        // the longest Duration has no number of milliseconds
        if (timeout.compareTo(Duration.ofMillis(1)) < 0
                || timeout.compareTo(Duration.ofMillis(Integer.MAX_VALUE)) > 0) {
            throw new IllegalArgumentException("timeout must be from 1 ms to " + Integer.MAX_VALUE + " ms, not "
                    + timeout);
        }
        return (int) timeout.toMillis();
    }
}
