// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.jfr;

import java.net.InetSocketAddress;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;

/** A completion that reports an error. */
@Name("io.rdmacm.FailedCompletion")
@Label("Failed Completion")
@Registered
@Description("A work request of a connection failed; requests that were flushed because of it are not reported")
final class FailedCompletionEvent extends ConnectionEvent {
    // asks the recorder without creating an event
    private static final FailedCompletionEvent PROBE = new FailedCompletionEvent();

    @Label("Status")
    @Description("The status of the completion, such as REM_ACCESS_ERR")
    private String status;
    @Label("Vendor Error")
    @Description("What the device says beyond the status")
    private int vendorError;
    @Label("Work Request Id")
    private long workRequestId;
    @Label("Queue Pair Number")
    private int queuePairNumber;

    static boolean isOn() {
        return PROBE.isEnabled();
    }

    static void record(InetSocketAddress local, InetSocketAddress peer, Enum<?> status, int vendorError,
            long workRequestId, int queuePairNumber) {
        FailedCompletionEvent event = new FailedCompletionEvent();
        event.localAddress = text(local);
        event.peerAddress = text(peer);
        event.status = status.name();
        event.vendorError = vendorError;
        event.workRequestId = workRequestId;
        event.queuePairNumber = queuePairNumber;
        event.commit();
    }
}
