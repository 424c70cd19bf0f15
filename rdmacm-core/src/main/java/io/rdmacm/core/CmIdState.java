// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

/**
 * The state of a {@link CmId}, from its creation to the end of its connection. {@link CmId} lists the calls that are
 * legal in each state, and where calls and events lead.
 */
public enum CmIdState {
    /** Newly created. */
    IDLE,
    /** Bound to an address of this machine. */
    BOUND,
    /** Waiting for ADDR_RESOLVED or ADDR_ERROR. */
    RESOLVING_ADDRESS,
    /** The peer's address is resolved, and the id is bound to a device. */
    ADDRESS_RESOLVED,
    /** Waiting for ROUTE_RESOLVED or ROUTE_ERROR. */
    RESOLVING_ROUTE,
    /** Ready to connect. */
    ROUTE_RESOLVED,
    /** Listening for connect requests. */
    LISTENING,
    /** Created by a connect request, and neither accepted nor rejected yet. */
    REQUESTED,
    /** Waiting for the peer's answer to connect. */
    CONNECTING,
    /** The peer accepted, and establish must be called. Only when the queue pair was not created by the id. */
    RESPONDED,
    /** Waiting for the peer to confirm accept. */
    ACCEPTED,
    /** Connected. */
    CONNECTED,
    /** Waiting for the peer's answer to disconnect. */
    DISCONNECTING,
    /** The connection has ended. */
    DISCONNECTED,
    /** The connection was not established, or the device was removed. */
    FAILED;

    /** {@return whether there is no connection any more, and will be none: DISCONNECTED or FAILED} */
    public boolean isOver() {
        return this == DISCONNECTED || this == FAILED;
    }
}
