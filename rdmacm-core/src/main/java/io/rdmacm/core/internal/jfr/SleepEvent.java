// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.jfr;

import java.net.InetSocketAddress;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;
import jdk.jfr.Threshold;

/** A wait that slept. */
@Name("io.rdmacm.Sleep")
@Label("Sleep")
@Registered
// as the JDK does for threads that park: there can be one for each message
@Threshold("20 ms")
@Description("A thread that waited for a connection slept, because polling had found nothing")
final class SleepEvent extends ConnectionEvent {
    // asks the recorder without creating an event
    private static final SleepEvent PROBE = new SleepEvent();

    @Label("Leader")
    @Description("Whether the thread slept on the completion channel; otherwise it waited for the thread that did")
    private boolean leader;

    static Object start() {
        if (!PROBE.isEnabled()) {
            return null;
        }
        SleepEvent event = new SleepEvent();
        event.begin();
        return event;
    }

    static void finish(Object started, InetSocketAddress local, InetSocketAddress peer, boolean leader) {
        SleepEvent event = (SleepEvent) started;
        event.end();
        if (event.shouldCommit()) {
            event.localAddress = text(local);
            event.peerAddress = text(peer);
            event.leader = leader;
            event.commit();
        }
    }
}
