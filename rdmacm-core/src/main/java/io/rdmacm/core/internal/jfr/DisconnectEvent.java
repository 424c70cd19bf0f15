// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.jfr;

import java.net.InetSocketAddress;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;

/** The end of an established connection. */
@Name("io.rdmacm.Disconnect")
@Label("Disconnect")
@Registered
@Description("This side of a connection disconnected, of its own accord or to answer the peer")
final class DisconnectEvent extends ConnectionEvent {
    // asks the recorder without creating an event
    private static final DisconnectEvent PROBE = new DisconnectEvent();

    @Label("By Peer")
    @Description("Whether the peer disconnected first")
    private boolean byPeer;
    @Label("Reason")
    @Description("Why the connection ends: the exception that its operations throw from now on")
    private String reason;

    static boolean isOn() {
        return PROBE.isEnabled();
    }

    static void record(InetSocketAddress local, InetSocketAddress peer, boolean byPeer, String reason) {
        DisconnectEvent event = new DisconnectEvent();
        event.localAddress = text(local);
        event.peerAddress = text(peer);
        event.byPeer = byPeer;
        event.reason = reason;
        event.commit();
    }
}
