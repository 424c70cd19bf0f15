// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.verbs.error.RdmaException;

/** The peer rejected the connection, or nothing listens on the port. */
public class RejectedException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /** The number of the reason, as it was received. */
    private final int status;
    /** The reason. */
    private final RejectReason reason;
    /** The private data of the peer. */
    private final byte[] privateData;

    RejectedException(String waitedFor, int status, byte[] privateData) {
        this("rdma_get_cm_event", waitedFor, status, RejectReason.of(status), privateData);
    }

    /**
     * Creates an exception for a function to which the TCP of iWARP says that nobody listens. In an event, the same
     * number may also mean that the program there has refused.
     */
    RejectedException(String function, String detail) {
        this(function, function + " (" + detail + ")", -Rdma.ECONNREFUSED(), RejectReason.INVALID_SERVICE_ID,
                new byte[0]);
    }

    private RejectedException(String function, String waitedFor, int status, RejectReason reason,
            byte[] privateData) {
        super(function, waitedFor + ": rejected by the peer, reason " + describe(status, reason)
                + (isEmpty(privateData) ? "" : ", with private data"));
        this.status = status;
        this.reason = reason;
        this.privateData = privateData;
    }

    /** {@return the reason} */
    public RejectReason reason() {
        return reason;
    }

    /** {@return the number of the reason, as it was received: a negative error number from iWARP} */
    public int status() {
        return status;
    }

    /** {@return a copy of the private data that the peer sent, which may be padded with zeros at the end} */
    public byte[] privateData() {
        return privateData.clone();
    }

    /** Takes private data that is all zeros for padding: the kernel pads even if the peer sent none. */
    private static boolean isEmpty(byte[] data) {
        for (byte b : data) {
            if (b != 0) {
                return false;
            }
        }
        return true;
    }

    private static String describe(int status, RejectReason reason) {
        String number = status < 0 ? CmFailures.describe(status) : status + " (" + reason + ")";
        return number + (reason == RejectReason.INVALID_SERVICE_ID ? ": nobody listens on this port" : "");
    }
}
