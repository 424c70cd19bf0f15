// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.core.internal.jfr;

import java.net.InetSocketAddress;

import jdk.jfr.Category;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Registered;
import jdk.jfr.StackTrace;

/** What all events about a connection have in common. */
@Category("RDMA")
@StackTrace(false)
@Registered(false)
abstract class ConnectionEvent extends Event {
    @Label("Local Address")
    protected String localAddress;
    @Label("Peer Address")
    protected String peerAddress;

    static String text(InetSocketAddress address) {
        return address == null ? null : plain(address.toString());
    }

    /** Removes the host name, which precedes the slash. */
    static String plain(String address) {
        return address.substring(address.indexOf('/') + 1);
    }
}
