// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

/**
 * Why a connection was rejected: the reasons of the InfiniBand communication manager, which are the status of a
 * REJECTED event ({@code enum ib_cm_rej_reason}).
 */
public enum RejectReason {
    /** The peer has run out of queue pairs. */
    NO_QP(1),
    /** The peer lacks resources. */
    NO_RESOURCES(3),
    /** The peer timed out waiting for the next message. */
    TIMEOUT(4),
    /** The peer does not support the request. */
    UNSUPPORTED(5),
    /** The communication id is not valid. */
    INVALID_COMM_ID(6),
    /** The communication instance is not valid. */
    INVALID_COMM_INSTANCE(7),
    /** Nothing listens on the port. */
    INVALID_SERVICE_ID(8),
    /** The peer expects another transport. */
    INVALID_TRANSPORT_TYPE(9),
    /** The peer considers the queue pair to be connected already, usually from an earlier connection. */
    STALE_CONN(10),
    /** The GID is not valid at the peer. */
    INVALID_GID(12),
    /** The MTU is not valid at the peer. */
    INVALID_MTU(26),
    /** The peer has fewer responder resources than requested. */
    INSUFFICIENT_RESP_RESOURCES(27),
    /** The program on the other side rejected the connection. */
    CONSUMER_DEFINED(28),
    /** The RNR retry count is not valid at the peer. */
    INVALID_RNR_RETRY(29),
    /** The communication id is already in use. */
    DUPLICATE_LOCAL_COMM_ID(30),
    /** The peer does not accept the options for enhanced connection establishment. */
    VENDOR_OPTION_NOT_SUPPORTED(35),
    /** Any other reason, whose number is the status of the event. */
    OTHER(-1);

    private final int value;

    RejectReason(int value) {
        this.value = value;
    }

    /** {@return the number of the reason; -1 for {@link #OTHER}} */
    public int value() {
        return value;
    }

    /**
     * Returns the reason with the given number.
     *
     * @param value the status of a REJECTED event
     * @return the reason; {@link #OTHER} when this library does not know the number
     */
    public static RejectReason of(int value) {
        for (RejectReason reason : values()) {
            if (reason.value == value) {
                return reason;
            }
        }
        return OTHER;
    }
}
