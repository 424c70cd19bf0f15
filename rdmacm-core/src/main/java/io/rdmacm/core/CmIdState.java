// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

/** Where an id is between its creation and the end of its connection; {@link CmId} tells which calls are legal. */
public enum CmIdState {
    /** Made, and nothing asked of it yet. */
    IDLE("bindAddress or resolveAddress"),
    /** Bound to an address of this machine. */
    BOUND("listen or resolveAddress"),
    /** Waiting for ADDR_RESOLVED or ADDR_ERROR. */
    RESOLVING_ADDRESS("waiting for ADDR_RESOLVED"),
    /** Bound to a device. */
    ADDRESS_RESOLVED("resolveRoute"),
    /** Waiting for ROUTE_RESOLVED or ROUTE_ERROR. */
    RESOLVING_ROUTE("waiting for ROUTE_RESOLVED"),
    /** Ready to connect. */
    ROUTE_RESOLVED("createQueuePair and connect"),
    /** Connect requests come to it. */
    LISTENING("waiting for CONNECT_REQUEST"),
    /** Came with a connect request. */
    REQUESTED("createQueuePair and accept, or reject"),
    /** Waiting for the peer's answer to a connect. */
    CONNECTING("waiting for ESTABLISHED"),
    /** The peer accepted, and the program is to answer: only without a queue pair of the id's own. */
    RESPONDED("establish"),
    /** Waiting for the peer to take note of an accept. */
    ACCEPTED("waiting for ESTABLISHED"),
    /** Connected. */
    CONNECTED("disconnect"),
    /** Waiting for the peer's answer to a disconnect. */
    DISCONNECTING("waiting for DISCONNECTED"),
    /** The connection was ended. */
    DISCONNECTED("close"),
    /** The connection did not come about, or the device is gone. */
    FAILED("close");

    private final String nextStep;

    CmIdState(String nextStep) {
        this.nextStep = nextStep;
    }

    /** What comes next, for messages. */
    String nextStep() {
        return nextStep;
    }

    /** The state that follows an event. */
    CmIdState after(CmEventType event) {
        return switch (event) {
            case ADDR_RESOLVED -> ADDRESS_RESOLVED;
            case ADDR_ERROR -> BOUND;
            case ROUTE_RESOLVED -> ROUTE_RESOLVED;
            case ROUTE_ERROR -> ADDRESS_RESOLVED;
            case CONNECT_RESPONSE -> RESPONDED;
            case ESTABLISHED -> this == DISCONNECTING ? this : CONNECTED;
            case REJECTED, UNREACHABLE, CONNECT_ERROR, DEVICE_REMOVAL -> FAILED;
            case DISCONNECTED -> DISCONNECTED;
            default -> this;
        };
    }
}
