// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

/**
 * Why a connection was rejected: the reasons of the InfiniBand communication manager, which the status of a REJECTED
 * event holds.
 */
public enum RejectReason {
    /** The peer has no queue pair left. */
    NO_QP(1),
    /** The peer lacks resources. */
    NO_RESOURCES(3),
    /** The peer waited too long for the next step. */
    TIMEOUT(4),
    /** The peer does not support the request. */
    UNSUPPORTED(5),
    /** The communication id is not valid. */
    INVALID_COMM_ID(6),
    /** The communication instance is not valid. */
    INVALID_COMM_INSTANCE(7),
    /** Nobody listens on the port. */
    INVALID_SERVICE_ID(8),
    /** The peer listens for another transport. */
    INVALID_TRANSPORT_TYPE(9),
    /** The peer believes that the queue pair is connected already. */
    STALE_CONN(10),
    /** The GID is not valid at the peer. */
    INVALID_GID(12),
    /** The MTU is not valid at the peer. */
    INVALID_MTU(26),
    /** The peer has fewer responder resources than were asked for. */
    INSUFFICIENT_RESP_RESOURCES(27),
    /** The program at the peer rejected. */
    CONSUMER_DEFINED(28),
    /** The RNR retry count is not valid at the peer. */
    INVALID_RNR_RETRY(29),
    /** The communication id is used twice. */
    DUPLICATE_LOCAL_COMM_ID(30),
    /** The peer does not take the options of enhanced connection establishment. */
    VENDOR_OPTION_NOT_SUPPORTED(35),
    /** Another reason; the status of the event tells it. */
    OTHER(-1);

    private final int value;

    RejectReason(int value) {
        this.value = value;
    }

    /** The number of the reason. */
    public int value() {
        return value;
    }

    /** The reason of a number. */
    public static RejectReason of(int value) {
        for (RejectReason reason : values()) {
            if (reason.value == value) {
                return reason;
            }
        }
        return OTHER;
    }
}
