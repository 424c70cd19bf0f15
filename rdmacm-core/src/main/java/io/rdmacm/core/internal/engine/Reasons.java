// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.engine;

import java.util.Objects;

import io.rdmacm.bindings.Rdma;
import io.rdmacm.core.DisconnectedException;
import io.rdmacm.core.RejectedException;
import io.rdmacm.core.UnreachableException;
import io.rdmacm.verbs.error.RdmaException;
import io.rdmacm.verbs.error.RdmaTimeoutException;
import io.rdmacm.verbs.internal.ffi.Failures;

/** Why connections fail. */
public final class Reasons {
    private Reasons() {
    }

    /** Returns what was thrown as the reason of one connection; memory that cannot be had is ENOMEM. */
    public static RdmaException of(String function, Throwable thrown) {
        if (thrown instanceof RdmaException reason) {
            return reason;
        }
        RdmaException reason = thrown instanceof OutOfMemoryError
                ? Failures.of(function, Rdma.ENOMEM(), thrown.getMessage())
                : new RdmaException(function, Objects.requireNonNullElse(thrown.getMessage(), thrown.toString()));
        reason.initCause(thrown);
        return reason;
    }

    /** Returns whether a handshake has failed by what the peer did, or left undone. */
    static boolean isPeers(Exception reason) {
        return reason instanceof RejectedException || reason instanceof UnreachableException
                || reason instanceof DisconnectedException || reason instanceof RdmaTimeoutException;
    }
}
