// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.jfr;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;

/** A client connected to a server, or failed to. */
@Name("io.rdmacm.Connect")
@Label("Connect")
@Registered
@Description("A client connected to a server, or failed to;"
        + " from the resolution of the address to the end of the handshake")
final class ConnectEvent extends HandshakeEvent {
    // asks the recorder without creating an event
    private static final ConnectEvent PROBE = new ConnectEvent();

    static Object start() {
        if (!PROBE.isEnabled()) {
            return null;
        }
        ConnectEvent event = new ConnectEvent();
        event.begin();
        return event;
    }
}
