// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import io.rdmacm.verbs.RdmaException;

/** The peer did not want the connection, or nobody listens there. */
public class RejectedException extends RdmaException {
    private static final long serialVersionUID = 1L;

    private final int status;
    private final RejectReason reason;
    private final byte[] privateData;

    RejectedException(String waitedFor, int status, byte[] privateData) {
        super("rdma_get_cm_event", waitedFor + ": rejected by the peer, reason " + describe(status)
                + (isEmpty(privateData) ? "" : ", with private data"));
        this.status = status;
        this.reason = RejectReason.of(status);
        this.privateData = privateData;
    }

    /** The reason. */
    public RejectReason reason() {
        return reason;
    }

    /** The reason as a number, as it came. */
    public int status() {
        return status;
    }

    /** What the peer sent with it; a copy. It may be longer than what the peer gave, filled with zeros. */
    public byte[] privateData() {
        return privateData.clone();
    }

    /** The kernel fills up what the peer gave with zeros, also when that was nothing. */
    private static boolean isEmpty(byte[] data) {
        for (byte b : data) {
            if (b != 0) {
                return false;
            }
        }
        return true;
    }

    private static String describe(int status) {
        RejectReason reason = RejectReason.of(status);
        String hint = reason == RejectReason.INVALID_SERVICE_ID ? ", nobody listens on this port" : "";
        return status + " (" + reason + hint + ")";
    }
}
