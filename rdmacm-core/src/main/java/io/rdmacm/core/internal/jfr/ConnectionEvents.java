// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.jfr;

import java.net.InetSocketAddress;

import io.rdmacm.verbs.internal.jfr.FlightRecording;

/** Records what happens to connections. While nothing is recorded, no event is created and no clock is read. */
public final class ConnectionEvents {
    private ConnectionEvents() {
    }

    /**
     * {@return the event of a handshake that begins now, null if it is not recorded}
     *
     * @param client whether this side connects; otherwise it accepts
     */
    public static Object handshakeBegins(boolean client) {
        if (!FlightRecording.inUse()) {
            return null;
        }
        return client ? ConnectEvent.start() : AcceptEvent.start();
    }

    /**
     * Records the end of a handshake. Only the first call for an event has an effect.
     *
     * @param event from {@link #handshakeBegins}
     * @param local the local address, null if it is not known
     * @param peer the peer
     * @param failure why the handshake has failed, null if it has not
     */
    public static void handshakeEnds(Object event, InetSocketAddress local, String peer, Throwable failure) {
        if (event != null) {
            HandshakeEvent.finish(event, local, peer, failure);
        }
    }

    /** {@return whether disconnects are recorded} */
    public static boolean recordsDisconnects() {
        return FlightRecording.inUse() && DisconnectEvent.isOn();
    }

    /**
     * Records that a connection ends.
     *
     * @param local its local address
     * @param peer its peer
     * @param byPeer whether the peer disconnected first
     * @param reason why it ends
     */
    public static void disconnect(InetSocketAddress local, InetSocketAddress peer, boolean byPeer, String reason) {
        if (recordsDisconnects()) {
            DisconnectEvent.record(local, peer, byPeer, reason);
        }
    }

    /** {@return whether failed completions are recorded} */
    public static boolean recordsFailures() {
        return FlightRecording.inUse() && FailedCompletionEvent.isOn();
    }

    /**
     * Records a completion that reports an error.
     *
     * @param local the local address of the connection
     * @param peer its peer
     * @param status the status
     * @param vendorError what the device says beyond it
     * @param workRequestId the id of the work request
     * @param queuePairNumber the number of the queue pair
     */
    public static void failure(InetSocketAddress local, InetSocketAddress peer, Enum<?> status, int vendorError,
            long workRequestId, int queuePairNumber) {
        if (recordsFailures()) {
            FailedCompletionEvent.record(local, peer, status, vendorError, workRequestId, queuePairNumber);
        }
    }

    /** {@return the event of a sleep that begins now, null if it is not recorded} */
    public static Object sleepBegins() {
        return FlightRecording.inUse() ? SleepEvent.start() : null;
    }

    /**
     * Records the end of a sleep.
     *
     * @param event from {@link #sleepBegins}
     * @param local the local address of the connection that the thread waits for
     * @param peer its peer
     * @param leader whether the thread slept on the completion channel
     */
    public static void sleepEnds(Object event, InetSocketAddress local, InetSocketAddress peer, boolean leader) {
        if (event != null) {
            SleepEvent.finish(event, local, peer, leader);
        }
    }
}
