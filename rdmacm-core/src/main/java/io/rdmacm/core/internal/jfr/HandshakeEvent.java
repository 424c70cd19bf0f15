// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.jfr;

import java.net.InetSocketAddress;

import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Registered;

/** A handshake, of either side. */
@Registered(false)
abstract class HandshakeEvent extends ConnectionEvent {
    @Label("Failure")
    @Description("Why the handshake has failed; null if the connection was established")
    protected String failure;
    // a handshake that was given up may still be completed by the peer
    private transient boolean ended;

    static void finish(Object started, InetSocketAddress local, String peer, Throwable failure) {
        HandshakeEvent event = (HandshakeEvent) started;
        synchronized (event) {
            if (event.ended) {
                return;
            }
            event.ended = true;
        }
        event.end();
        if (event.shouldCommit()) {
            event.localAddress = text(local);
            event.peerAddress = plain(peer);
            event.failure = failure == null ? null : failure.toString();
            event.commit();
        }
    }
}
