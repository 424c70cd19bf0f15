// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.jfr;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Registered;

/** A server handled a connect request. */
@Name("io.rdmacm.Accept")
@Label("Accept")
@Registered
@Description("A server handled a connect request;"
        + " from its arrival to the end of the handshake, which includes the time until the program accepted")
final class AcceptEvent extends HandshakeEvent {
    // asks the recorder without creating an event
    private static final AcceptEvent PROBE = new AcceptEvent();

    static Object start() {
        if (!PROBE.isEnabled()) {
            return null;
        }
        AcceptEvent event = new AcceptEvent();
        event.begin();
        return event;
    }
}
