// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core;

import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.internal.ffi.Errno;
import io.rdmacm.verbs.internal.ffi.Failures;

/** The address or the route could not be resolved, or the peer did not answer. */
public class UnreachableException extends RdmaException {
    private static final long serialVersionUID = 1L;

    /** The status of the event. */
    private final int status;

    UnreachableException(String waitedFor, CmEventType event, int status) {
        super("rdma_get_cm_event", waitedFor + ": the peer cannot be reached: " + event + ", status "
                + CmFailures.describe(status));
        this.status = status;
    }

    UnreachableException(String function, int errno, String detail) {
        super(function, errno, Errno.name(errno), Failures.message(function, errno, detail));
        this.status = -errno;
    }

    /** {@return the status of the event: a negative errno, or a code of the device} */
    public int status() {
        return status;
    }
}
