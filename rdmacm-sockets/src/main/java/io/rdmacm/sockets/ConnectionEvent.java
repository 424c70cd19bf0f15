// SPDX-License-Identifier: Apache-2.0
package io.rdmacm.sockets;

import java.net.SocketAddress;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** A connection or a server, and which way it went. */
@Name("io.rdmacm.Socket")
@Label("Socket")
@Category("RDMA")
@Description("A connection or a server of a program: over RDMA or TCP, and why")
@StackTrace(false)
final class ConnectionEvent extends Event {
    @Label("Kind")
    String kind = "";
    @Label("Over RDMA")
    boolean rdma;
    @Label("Local Address")
    String local = "";
    @Label("Remote Address")
    String remote = "";
    @Label("Reason")
    String reason = "";

    /** Records one, if anybody wants to know. */
    static void record(String kind, boolean rdma, @Nullable SocketAddress local, @Nullable SocketAddress remote,
            String reason) {
        ConnectionEvent event = new ConnectionEvent();
        if (event.shouldCommit()) {
            event.kind = kind;
            event.rdma = rdma;
            event.local = String.valueOf(local);
            event.remote = String.valueOf(remote);
            event.reason = reason;
            event.commit();
        }
    }
}
